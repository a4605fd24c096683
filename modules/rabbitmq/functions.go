package rabbitmq

import (
	"context"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// printed returns what a program printed as the value of one key, as Salt does.
func printed(key, out string, err error) (fun.Result, error) {
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

type addUserArgs struct {
	_        fun.Arguments
	Name     string          `arg:"name,required" doc:"name of the user"`
	Password fun.Opt[string] `arg:"password,secret" doc:"password"`
	Runas    string          `arg:"runas" doc:"account that runs the program"`
}

func addUser(ctx context.Context, c *fun.Call, a *addUserArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).AddUser(ctx, a.Name, password(a))
	return printed("Added", out, err)
}

// addVHostArgs are the arguments of addVHost, deleteVHost and listPermissions.
type addVHostArgs struct {
	_     fun.Arguments
	Vhost string `arg:"vhost,required" doc:"name of the virtual host"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

func addVHost(ctx context.Context, c *fun.Call, a *addVHostArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).AddVHost(ctx, a.Vhost)
	return printed("Added", out, err)
}

// changePasswordArgs are the arguments of changePassword and checkPassword.
type changePasswordArgs struct {
	_        fun.Arguments
	Name     string `arg:"name,required" doc:"name of the user"`
	Password string `arg:"password,required,secret" doc:"password"`
	Runas    string `arg:"runas" doc:"account that runs the program"`
}

func changePassword(ctx context.Context, c *fun.Call, a *changePasswordArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).ChangePassword(ctx, a.Name, a.Password)
	return printed("Password Changed", out, err)
}

func checkPassword(ctx context.Context, c *fun.Call, a *changePasswordArgs) (fun.Result, error) {
	ok, err := ClientOf(c, a.Runas).CheckPassword(ctx, a.Name, a.Password)
	return fun.Result{Value: ok}, err
}

// clearPasswordArgs are the arguments of clearPassword, deleteUser, listUserPermissions, userExists and vhostExists.
type clearPasswordArgs struct {
	_     fun.Arguments
	Name  string `arg:"name,required" doc:"name of the user"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

func clearPassword(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).ClearPassword(ctx, a.Name)
	return printed("Password Cleared", out, err)
}

// ClusterStatus returns what rabbitmqctl says of the cluster.
func (b *Client) ClusterStatus(ctx context.Context) (string, error) {
	return b.run(ctx, "rabbitmqctl", job{looks: true, options: []string{"cluster_status"}})
}

// clusterStatusArgs are the arguments of clusterStatus, command, listAvailablePlugins, listEnabledPlugins, listUpstreams, listUsers, listVHosts and status.
type clusterStatusArgs struct {
	_     fun.Arguments
	Runas string `arg:"runas" doc:"account that runs the program"`
}

func clusterStatus(ctx context.Context, c *fun.Call, a *clusterStatusArgs) (fun.Result, error) {
	return plain(ClientOf(c, a.Runas).ClusterStatus(ctx))
}

// deletePolicyArgs are the arguments of deletePolicy and policyExists.
type deletePolicyArgs struct {
	_     fun.Arguments
	Vhost string `arg:"vhost,required" doc:"name of the virtual host"`
	Name  string `arg:"name,required" doc:"name of the policy"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

func deletePolicy(ctx context.Context, c *fun.Call, a *deletePolicyArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).DeletePolicy(ctx, a.Vhost, a.Name)
	return printed("Deleted", out, err)
}

// deleteUpstreamArgs are the arguments of deleteUpstream and upstreamExists.
type deleteUpstreamArgs struct {
	_     fun.Arguments
	Name  string `arg:"name,required" doc:"name of the upstream"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

func deleteUpstream(ctx context.Context, c *fun.Call, a *deleteUpstreamArgs) (fun.Result, error) {
	err := ClientOf(c, a.Runas).DeleteUpstream(ctx, a.Name)
	return fun.Result{Value: err == nil}, err
}

func deleteUser(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).DeleteUser(ctx, a.Name)
	return printed("Deleted", out, err)
}

func deleteVHost(ctx context.Context, c *fun.Call, a *addVHostArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).DeleteVHost(ctx, a.Vhost)
	return printed("Deleted", out, err)
}

// disablePluginArgs are the arguments of disablePlugin, enablePlugin and pluginIsEnabled.
type disablePluginArgs struct {
	_     fun.Arguments
	Name  string `arg:"name,required" doc:"name of the plugin"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

func disablePlugin(ctx context.Context, c *fun.Call, a *disablePluginArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).SetPlugin(ctx, a.Name, false)
	return printed("Disabled", out, err)
}

func enablePlugin(ctx context.Context, c *fun.Call, a *disablePluginArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).SetPlugin(ctx, a.Name, true)
	return printed("Enabled", out, err)
}

// command runs the command of rabbitmqctl that has the function's own name.
func command(ctx context.Context, c *fun.Call, a *clusterStatusArgs) (fun.Result, error) {
	return plain(ClientOf(c, a.Runas).Ctl(ctx, []string{c.Spec.Name}))
}

type joinClusterArgs struct {
	_       fun.Arguments
	Host    string `arg:"host,required" doc:"host of a node of the cluster"`
	User    string `arg:"user" default:"rabbit" doc:"user part of the name of that node"`
	RAMNode bool   `arg:"ram_node" doc:"keep the state of the node in memory only"`
	Runas   string `arg:"runas" doc:"account that runs the program"`
}

func joinCluster(ctx context.Context, c *fun.Call, a *joinClusterArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).Join(ctx, a.User+"@"+a.Host, a.RAMNode)
	return printed("Join", out, err)
}

func listAvailablePlugins(ctx context.Context, c *fun.Call, a *clusterStatusArgs) (fun.Result, error) {
	return names(ClientOf(c, a.Runas).Plugins(ctx, false))
}

func listEnabledPlugins(ctx context.Context, c *fun.Call, a *clusterStatusArgs) (fun.Result, error) {
	return names(ClientOf(c, a.Runas).Plugins(ctx, true))
}

func listPermissions(ctx context.Context, c *fun.Call, a *addVHostArgs) (fun.Result, error) {
	return mapping(ClientOf(c, a.Runas).VHostPermissions(ctx, a.Vhost))
}

type listPoliciesArgs struct {
	_     fun.Arguments
	Vhost string `arg:"vhost" default:"/" doc:"name of the virtual host"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

func listPolicies(ctx context.Context, c *fun.Call, a *listPoliciesArgs) (fun.Result, error) {
	list, err := ClientOf(c, a.Runas).Policies(ctx, a.Vhost)
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

type listQueuesArgs struct {
	Runas string `arg:"runas" doc:"account that runs the program"`
	More  fun.Varargs
}

func listQueues(ctx context.Context, c *fun.Call, a *listQueuesArgs) (fun.Result, error) {
	return queues(ctx, c, a.Runas, a.More)
}

type listQueuesVHostArgs struct {
	Vhost string `arg:"vhost,required" doc:"name of the virtual host"`
	Runas string `arg:"runas" doc:"account that runs the program"`
	More  fun.Varargs
}

func listQueuesVHost(ctx context.Context, c *fun.Call, a *listQueuesVHostArgs) (fun.Result, error) {
	if err := checkName(a.Vhost); err != nil {
		return fun.Result{}, err
	}
	return queues(ctx, c, a.Runas, a.More, "-p", a.Vhost)
}

// queues lists queues; more names the columns.
func queues(ctx context.Context, c *fun.Call, runas string, more fun.Varargs, options ...string) (fun.Result, error) {
	j := job{looks: true, options: append([]string{"list_queues", "-q"}, options...)}
	columns := []string{"name", "messages"}
	for i, v := range more {
		if i == 0 {
			columns = nil
		}
		columns = append(columns, value.Str(v))
	}
	if len(more) > 0 {
		if err := checkName(columns...); err != nil {
			return fun.Result{}, err
		}
		j.words = columns
	}
	out, err := ClientOf(c, runas).run(ctx, "rabbitmqctl", j)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(table(out, columns))
}

func listUpstreams(ctx context.Context, c *fun.Call, a *clusterStatusArgs) (fun.Result, error) {
	return mapping(ClientOf(c, a.Runas).Upstreams(ctx))
}

func listUserPermissions(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	return mapping(ClientOf(c, a.Runas).UserPermissions(ctx, a.Name))
}

func listUsers(ctx context.Context, c *fun.Call, a *clusterStatusArgs) (fun.Result, error) {
	return mapping(ClientOf(c, a.Runas).Users(ctx))
}

func listVHosts(ctx context.Context, c *fun.Call, a *clusterStatusArgs) (fun.Result, error) {
	return names(ClientOf(c, a.Runas).VHosts(ctx))
}

func pluginIsEnabled(ctx context.Context, c *fun.Call, a *disablePluginArgs) (fun.Result, error) {
	list, err := ClientOf(c, a.Runas).Plugins(ctx, true)
	return contains(list, a.Name, err)
}

func policyExists(ctx context.Context, c *fun.Call, a *deletePolicyArgs) (fun.Result, error) {
	list, err := ClientOf(c, a.Runas).Policies(ctx, a.Vhost)
	found := slices.ContainsFunc(list, func(p Policy) bool { return p.Name == a.Name })
	return fun.Result{Value: found}, err
}

type setPermissionsArgs struct {
	_     fun.Arguments
	Vhost string `arg:"vhost,required" doc:"name of the virtual host"`
	User  string `arg:"user,required" doc:"name of the user"`
	Conf  string `arg:"conf" default:".*" doc:"pattern of names that the user may configure"`
	Write string `arg:"write" default:".*" doc:"pattern of names that the user may write to"`
	Read  string `arg:"read" default:".*" doc:"pattern of names that the user may read from"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

func setPermissions(ctx context.Context, c *fun.Call, a *setPermissionsArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).SetPermissions(ctx, a.Vhost, a.User, a.Conf, a.Write, a.Read)
	return printed("Permissions Set", out, err)
}

// Definition returns an argument definition as JSON.
func Definition(v value.Value) (string, error) {
	switch v := v.(type) {
	case string:
		if _, err := value.ParseJSON(v); err != nil {
			return "", fun.Errorf("The 'definition' argument must be a dictionary or JSON string: %s", err)
		}
		return v, nil
	default:
		return string(value.EncodeJSON(v)), nil
	}
}

type setPolicyArgs struct {
	_          fun.Arguments
	Vhost      string      `arg:"vhost,required" doc:"name of the virtual host"`
	Name       string      `arg:"name,required" doc:"name of the policy"`
	Pattern    string      `arg:"pattern,required" doc:"regular expression of the names of queues and exchanges"`
	Definition value.Value `arg:"definition,required,str|dict" doc:"settings, as a mapping or as JSON"`
	Priority   string      `arg:"priority,int" doc:"the policy of the highest priority counts"`
	Runas      string      `arg:"runas" doc:"account that runs the program"`
	ApplyTo    string      `arg:"apply_to" oneof:"queues|exchanges|all" doc:"queues, exchanges or all"`
}

func setPolicy(ctx context.Context, c *fun.Call, a *setPolicyArgs) (fun.Result, error) {
	definition, err := Definition(a.Definition)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := ClientOf(c, a.Runas).SetPolicy(ctx, Policy{
		VHost: a.Vhost, Name: a.Name, Pattern: a.Pattern, Definition: definition,
		Priority: a.Priority, ApplyTo: a.ApplyTo,
	})
	return printed("Set", out, err)
}

type setUpstreamArgs struct {
	Name string `arg:"name,required" doc:"name of the upstream"`
	UpstreamArgs
	Runas string `arg:"runas" doc:"account that runs the program"`
}

func setUpstream(ctx context.Context, c *fun.Call, a *setUpstreamArgs) (fun.Result, error) {
	err := ClientOf(c, a.Runas).SetUpstream(ctx, a.Name, a.Upstream())
	return fun.Result{Value: err == nil}, err
}

type setUserTagsArgs struct {
	_     fun.Arguments
	Name  string   `arg:"name,required" doc:"name of the user"`
	Tags  []string `arg:"tags,required" doc:"tags"`
	Runas string   `arg:"runas" doc:"account that runs the program"`
}

func setUserTags(ctx context.Context, c *fun.Call, a *setUserTagsArgs) (fun.Result, error) {
	out, err := ClientOf(c, a.Runas).SetUserTags(ctx, a.Name, a.Tags)
	return printed("Tag(s) set", out, err)
}

func status(ctx context.Context, c *fun.Call, a *clusterStatusArgs) (fun.Result, error) {
	return plain(ClientOf(c, a.Runas).run(ctx, "rabbitmqctl", job{looks: true, options: []string{"status"}}))
}

func upstreamExists(ctx context.Context, c *fun.Call, a *deleteUpstreamArgs) (fun.Result, error) {
	m, err := ClientOf(c, a.Runas).Upstreams(ctx)
	return has(m, a.Name, err)
}

func userExists(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	m, err := ClientOf(c, a.Runas).Users(ctx)
	return has(m, a.Name, err)
}

func vhostExists(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	list, err := ClientOf(c, a.Runas).VHosts(ctx)
	return contains(list, a.Name, err)
}
