package rabbitmq

import (
	"context"
	"slices"

	"brine/internal/fun"
	"brine/internal/value"
)

// said returns what a program printed as the value of one key, as Salt does.
func said(key, out string, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf(key, out))
}

func plain(out string, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(out)
}

func mapping(m *value.Map, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

func names(list []string, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.Strings(list...))
}

func has(m *value.Map, name string, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m.Has(name))
}

func contains(list []string, name string, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(slices.Contains(list, name))
}

func addUser(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).AddUser(ctx, c.Str("name"), password(c))
	return said("Added", out, err)
}

func addVHost(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).AddVHost(ctx, c.Str("vhost"))
	return said("Added", out, err)
}

func changePassword(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).ChangePassword(ctx, c.Str("name"), c.Str("password"))
	return said("Password Changed", out, err)
}

func checkPassword(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ok, err := ClientOf(c).CheckPassword(ctx, c.Str("name"), c.Str("password"))
	return fun.Result{Value: ok}, err
}

func clearPassword(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).ClearPassword(ctx, c.Str("name"))
	return said("Password Cleared", out, err)
}

// ClusterStatus returns what rabbitmqctl says of the cluster.
func (b *Client) ClusterStatus(ctx context.Context) (string, error) {
	return b.run(ctx, "rabbitmqctl", job{looks: true, options: []string{"cluster_status"}})
}

func clusterStatus(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return plain(ClientOf(c).ClusterStatus(ctx))
}

func deletePolicy(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).DeletePolicy(ctx, c.Str("vhost"), c.Str("name"))
	return said("Deleted", out, err)
}

func deleteUpstream(ctx context.Context, c *fun.Call) (fun.Result, error) {
	err := ClientOf(c).DeleteUpstream(ctx, c.Str("name"))
	return fun.Result{Value: err == nil}, err
}

func deleteUser(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).DeleteUser(ctx, c.Str("name"))
	return said("Deleted", out, err)
}

func deleteVHost(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).DeleteVHost(ctx, c.Str("vhost"))
	return said("Deleted", out, err)
}

func disablePlugin(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).SetPlugin(ctx, c.Str("name"), false)
	return said("Disabled", out, err)
}

func enablePlugin(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).SetPlugin(ctx, c.Str("name"), true)
	return said("Enabled", out, err)
}

// command runs the command of rabbitmqctl that has the function's own name.
func command(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return plain(ClientOf(c).Ctl(ctx, []string{c.Spec.Name}))
}

func joinCluster(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).Join(ctx, c.Str("user")+"@"+c.Str("host"), c.Bool("ram_node"))
	return said("Join", out, err)
}

func listAvailablePlugins(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return names(ClientOf(c).Plugins(ctx, false))
}

func listEnabledPlugins(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return names(ClientOf(c).Plugins(ctx, true))
}

func listPermissions(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return mapping(ClientOf(c).VHostPermissions(ctx, c.Str("vhost")))
}

func listPolicies(ctx context.Context, c *fun.Call) (fun.Result, error) {
	list, err := ClientOf(c).Policies(ctx, c.Str("vhost"))
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(1)
	for i := range list {
		p := &list[i]
		of, ok := out.Get(p.VHost)
		m, _ := of.(*value.Map)
		if !ok {
			m = value.NewMap(4)
			out.Set(p.VHost, m)
		}
		m.Set(p.Name, p.Map())
	}
	return fun.Value(out)
}

func listQueues(ctx context.Context, c *fun.Call) (fun.Result, error) {
	j := job{looks: true, options: []string{"list_queues", "-q"}}
	if c.Declares("vhost") {
		if err := checkName(c.Str("vhost")); err != nil {
			return fun.Result{}, err
		}
		j.options = append(j.options, "-p", c.Str("vhost"))
	}
	columns := []string{"name", "messages"}
	for i, v := range c.Pos {
		if i == 0 {
			columns = nil
		}
		columns = append(columns, value.Str(v))
	}
	if len(c.Pos) > 0 {
		if err := checkName(columns...); err != nil {
			return fun.Result{}, err
		}
		j.words = columns
	}
	out, err := ClientOf(c).run(ctx, "rabbitmqctl", j)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(table(out, columns))
}

func listUpstreams(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return mapping(ClientOf(c).Upstreams(ctx))
}

func listUserPermissions(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return mapping(ClientOf(c).UserPermissions(ctx, c.Str("name")))
}

func listUsers(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return mapping(ClientOf(c).Users(ctx))
}

func listVHosts(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return names(ClientOf(c).VHosts(ctx))
}

func pluginIsEnabled(ctx context.Context, c *fun.Call) (fun.Result, error) {
	list, err := ClientOf(c).Plugins(ctx, true)
	return contains(list, c.Str("name"), err)
}

func policyExists(ctx context.Context, c *fun.Call) (fun.Result, error) {
	list, err := ClientOf(c).Policies(ctx, c.Str("vhost"))
	found := slices.ContainsFunc(list, func(p Policy) bool { return p.Name == c.Str("name") })
	return fun.Result{Value: found}, err
}

func setPermissions(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).SetPermissions(ctx, c.Str("vhost"), c.Str("user"), c.Str("conf"), c.Str("write"), c.Str("read"))
	return said("Permissions Set", out, err)
}

// Definition returns the argument definition as JSON.
func Definition(c *fun.Call) (string, error) {
	switch v := c.Value("definition").(type) {
	case string:
		if _, err := value.ParseJSON(v); err != nil {
			return "", fun.Errorf("The 'definition' argument must be a dictionary or JSON string: %s", err)
		}
		return v, nil
	default:
		return string(value.EncodeJSON(v)), nil
	}
}

func setPolicy(ctx context.Context, c *fun.Call) (fun.Result, error) {
	definition, err := Definition(c)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := ClientOf(c).SetPolicy(ctx, Policy{
		VHost: c.Str("vhost"), Name: c.Str("name"), Pattern: c.Str("pattern"), Definition: definition,
		Priority: c.Str("priority"), ApplyTo: c.Str("apply_to"),
	})
	return said("Set", out, err)
}

func setUpstream(ctx context.Context, c *fun.Call) (fun.Result, error) {
	err := ClientOf(c).SetUpstream(ctx, c.Str("name"), UpstreamOf(c))
	return fun.Result{Value: err == nil}, err
}

func setUserTags(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).SetUserTags(ctx, c.Str("name"), c.Strings("tags"))
	return said("Tag(s) set", out, err)
}

func status(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return plain(ClientOf(c).run(ctx, "rabbitmqctl", job{looks: true, options: []string{"status"}}))
}

func upstreamExists(ctx context.Context, c *fun.Call) (fun.Result, error) {
	m, err := ClientOf(c).Upstreams(ctx)
	return has(m, c.Str("name"), err)
}

func userExists(ctx context.Context, c *fun.Call) (fun.Result, error) {
	m, err := ClientOf(c).Users(ctx)
	return has(m, c.Str("name"), err)
}

func vhostExists(ctx context.Context, c *fun.Call) (fun.Result, error) {
	list, err := ClientOf(c).VHosts(ctx)
	return contains(list, c.Str("name"), err)
}
