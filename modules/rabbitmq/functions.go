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

type addUserArgs struct {
	_        fun.Arguments
	Name     string          `arg:"name,required" doc:"name of the user"`
	Password fun.Opt[string] `arg:"password,secret" doc:"password"`
	_        string          `arg:"runas" doc:"account that runs the program"`
}

func addUser(ctx context.Context, c *fun.Call, a *addUserArgs) (fun.Result, error) {
	out, err := ClientOf(c).AddUser(ctx, a.Name, password(c, a))
	return said("Added", out, err)
}

// addVHostArgs are the arguments of addVHost, deleteVHost and listPermissions.
type addVHostArgs struct {
	_     fun.Arguments
	Vhost string `arg:"vhost,required" doc:"name of the virtual host"`
	_     string `arg:"runas" doc:"account that runs the program"`
}

func addVHost(ctx context.Context, c *fun.Call, a *addVHostArgs) (fun.Result, error) {
	out, err := ClientOf(c).AddVHost(ctx, a.Vhost)
	return said("Added", out, err)
}

// changePasswordArgs are the arguments of changePassword and checkPassword.
type changePasswordArgs struct {
	_        fun.Arguments
	Name     string `arg:"name,required" doc:"name of the user"`
	Password string `arg:"password,required,secret" doc:"password"`
	_        string `arg:"runas" doc:"account that runs the program"`
}

func changePassword(ctx context.Context, c *fun.Call, a *changePasswordArgs) (fun.Result, error) {
	out, err := ClientOf(c).ChangePassword(ctx, a.Name, a.Password)
	return said("Password Changed", out, err)
}

func checkPassword(ctx context.Context, c *fun.Call, a *changePasswordArgs) (fun.Result, error) {
	ok, err := ClientOf(c).CheckPassword(ctx, a.Name, a.Password)
	return fun.Result{Value: ok}, err
}

// clearPasswordArgs are the arguments of clearPassword, deleteUser, listUserPermissions, userExists and vhostExists.
type clearPasswordArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the user"`
	_    string `arg:"runas" doc:"account that runs the program"`
}

func clearPassword(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	out, err := ClientOf(c).ClearPassword(ctx, a.Name)
	return said("Password Cleared", out, err)
}

// ClusterStatus returns what rabbitmqctl says of the cluster.
func (b *Client) ClusterStatus(ctx context.Context) (string, error) {
	return b.run(ctx, "rabbitmqctl", job{looks: true, options: []string{"cluster_status"}})
}

// clusterStatusArgs are the arguments of clusterStatus, command, listAvailablePlugins, listEnabledPlugins, listUpstreams, listUsers, listVHosts and status.
type clusterStatusArgs struct {
	_ fun.Arguments
	_ string `arg:"runas" doc:"account that runs the program"`
}

func clusterStatus(ctx context.Context, c *fun.Call, _ *clusterStatusArgs) (fun.Result, error) {
	return plain(ClientOf(c).ClusterStatus(ctx))
}

// deletePolicyArgs are the arguments of deletePolicy and policyExists.
type deletePolicyArgs struct {
	_     fun.Arguments
	Vhost string `arg:"vhost,required" doc:"name of the virtual host"`
	Name  string `arg:"name,required" doc:"name of the policy"`
	_     string `arg:"runas" doc:"account that runs the program"`
}

func deletePolicy(ctx context.Context, c *fun.Call, a *deletePolicyArgs) (fun.Result, error) {
	out, err := ClientOf(c).DeletePolicy(ctx, a.Vhost, a.Name)
	return said("Deleted", out, err)
}

// deleteUpstreamArgs are the arguments of deleteUpstream and upstreamExists.
type deleteUpstreamArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the upstream"`
	_    string `arg:"runas" doc:"account that runs the program"`
}

func deleteUpstream(ctx context.Context, c *fun.Call, a *deleteUpstreamArgs) (fun.Result, error) {
	err := ClientOf(c).DeleteUpstream(ctx, a.Name)
	return fun.Result{Value: err == nil}, err
}

func deleteUser(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	out, err := ClientOf(c).DeleteUser(ctx, a.Name)
	return said("Deleted", out, err)
}

func deleteVHost(ctx context.Context, c *fun.Call, a *addVHostArgs) (fun.Result, error) {
	out, err := ClientOf(c).DeleteVHost(ctx, a.Vhost)
	return said("Deleted", out, err)
}

// disablePluginArgs are the arguments of disablePlugin, enablePlugin and pluginIsEnabled.
type disablePluginArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the plugin"`
	_    string `arg:"runas" doc:"account that runs the program"`
}

func disablePlugin(ctx context.Context, c *fun.Call, a *disablePluginArgs) (fun.Result, error) {
	out, err := ClientOf(c).SetPlugin(ctx, a.Name, false)
	return said("Disabled", out, err)
}

func enablePlugin(ctx context.Context, c *fun.Call, a *disablePluginArgs) (fun.Result, error) {
	out, err := ClientOf(c).SetPlugin(ctx, a.Name, true)
	return said("Enabled", out, err)
}

// command runs the command of rabbitmqctl that has the function's own name.
func command(ctx context.Context, c *fun.Call, _ *clusterStatusArgs) (fun.Result, error) {
	return plain(ClientOf(c).Ctl(ctx, []string{c.Spec.Name}))
}

type joinClusterArgs struct {
	_       fun.Arguments
	Host    string `arg:"host,required" doc:"host of a node of the cluster"`
	User    string `arg:"user" default:"rabbit" doc:"user part of the name of that node"`
	RamNode bool   `arg:"ram_node" doc:"keep the state of the node in memory only"`
	_       string `arg:"runas" doc:"account that runs the program"`
}

func joinCluster(ctx context.Context, c *fun.Call, a *joinClusterArgs) (fun.Result, error) {
	out, err := ClientOf(c).Join(ctx, a.User+"@"+a.Host, a.RamNode)
	return said("Join", out, err)
}

func listAvailablePlugins(ctx context.Context, c *fun.Call, _ *clusterStatusArgs) (fun.Result, error) {
	return names(ClientOf(c).Plugins(ctx, false))
}

func listEnabledPlugins(ctx context.Context, c *fun.Call, _ *clusterStatusArgs) (fun.Result, error) {
	return names(ClientOf(c).Plugins(ctx, true))
}

func listPermissions(ctx context.Context, c *fun.Call, a *addVHostArgs) (fun.Result, error) {
	return mapping(ClientOf(c).VHostPermissions(ctx, a.Vhost))
}

type listPoliciesArgs struct {
	_     fun.Arguments
	Vhost string `arg:"vhost" default:"/" doc:"name of the virtual host"`
	_     string `arg:"runas" doc:"account that runs the program"`
}

func listPolicies(ctx context.Context, c *fun.Call, a *listPoliciesArgs) (fun.Result, error) {
	list, err := ClientOf(c).Policies(ctx, a.Vhost)
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

func listUpstreams(ctx context.Context, c *fun.Call, _ *clusterStatusArgs) (fun.Result, error) {
	return mapping(ClientOf(c).Upstreams(ctx))
}

func listUserPermissions(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	return mapping(ClientOf(c).UserPermissions(ctx, a.Name))
}

func listUsers(ctx context.Context, c *fun.Call, _ *clusterStatusArgs) (fun.Result, error) {
	return mapping(ClientOf(c).Users(ctx))
}

func listVHosts(ctx context.Context, c *fun.Call, _ *clusterStatusArgs) (fun.Result, error) {
	return names(ClientOf(c).VHosts(ctx))
}

func pluginIsEnabled(ctx context.Context, c *fun.Call, a *disablePluginArgs) (fun.Result, error) {
	list, err := ClientOf(c).Plugins(ctx, true)
	return contains(list, a.Name, err)
}

func policyExists(ctx context.Context, c *fun.Call, a *deletePolicyArgs) (fun.Result, error) {
	list, err := ClientOf(c).Policies(ctx, a.Vhost)
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
	_     string `arg:"runas" doc:"account that runs the program"`
}

func setPermissions(ctx context.Context, c *fun.Call, a *setPermissionsArgs) (fun.Result, error) {
	out, err := ClientOf(c).SetPermissions(ctx, a.Vhost, a.User, a.Conf, a.Write, a.Read)
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

type setPolicyArgs struct {
	_        fun.Arguments
	Vhost    string      `arg:"vhost,required" doc:"name of the virtual host"`
	Name     string      `arg:"name,required" doc:"name of the policy"`
	Pattern  string      `arg:"pattern,required" doc:"regular expression of the names of queues and exchanges"`
	_        value.Value `arg:"definition,required,str|dict" doc:"settings, as a mapping or as JSON"`
	Priority string      `arg:"priority,int" doc:"the policy of the highest priority counts"`
	_        string      `arg:"runas" doc:"account that runs the program"`
	ApplyTo  string      `arg:"apply_to" oneof:"queues|exchanges|all" doc:"queues, exchanges or all"`
}

func setPolicy(ctx context.Context, c *fun.Call, a *setPolicyArgs) (fun.Result, error) {
	definition, err := Definition(c)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := ClientOf(c).SetPolicy(ctx, Policy{
		VHost: a.Vhost, Name: a.Name, Pattern: a.Pattern, Definition: definition,
		Priority: a.Priority, ApplyTo: a.ApplyTo,
	})
	return said("Set", out, err)
}

type setUpstreamArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the upstream"`
	_    string `arg:"uri,required,secret" doc:"URI of the broker to receive from; several are separated by spaces"`
	_    int64  `arg:"prefetch_count" doc:"how many messages may wait for confirmation"`
	_    int64  `arg:"reconnect_delay" unit:"seconds" doc:"time before a lost connection is opened again"`
	_    string `arg:"ack_mode" oneof:"on-confirm|on-publish|no-ack" doc:"when messages are confirmed"`
	_    bool   `arg:"trust_user_id" doc:"pass on the user ids of messages"`
	_    string `arg:"exchange" doc:"name of the exchange there; without it, the same name as here"`
	_    int64  `arg:"max_hops" doc:"how many links a message may pass"`
	_    int64  `arg:"expires" unit:"milliseconds" doc:"how long a queue there outlives a lost connection"`
	_    int64  `arg:"message_ttl" unit:"milliseconds" doc:"how long messages there wait"`
	_    string `arg:"ha_policy" doc:"argument x-ha-policy of the queue there"`
	_    string `arg:"queue" doc:"name of the queue there; without it, the same name as here"`
	_    string `arg:"runas" doc:"account that runs the program"`
}

func setUpstream(ctx context.Context, c *fun.Call, a *setUpstreamArgs) (fun.Result, error) {
	err := ClientOf(c).SetUpstream(ctx, a.Name, UpstreamOf(c))
	return fun.Result{Value: err == nil}, err
}

type setUserTagsArgs struct {
	_    fun.Arguments
	Name string   `arg:"name,required" doc:"name of the user"`
	Tags []string `arg:"tags,required" doc:"tags"`
	_    string   `arg:"runas" doc:"account that runs the program"`
}

func setUserTags(ctx context.Context, c *fun.Call, a *setUserTagsArgs) (fun.Result, error) {
	out, err := ClientOf(c).SetUserTags(ctx, a.Name, a.Tags)
	return said("Tag(s) set", out, err)
}

func status(ctx context.Context, c *fun.Call, _ *clusterStatusArgs) (fun.Result, error) {
	return plain(ClientOf(c).run(ctx, "rabbitmqctl", job{looks: true, options: []string{"status"}}))
}

func upstreamExists(ctx context.Context, c *fun.Call, a *deleteUpstreamArgs) (fun.Result, error) {
	m, err := ClientOf(c).Upstreams(ctx)
	return has(m, a.Name, err)
}

func userExists(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	m, err := ClientOf(c).Users(ctx)
	return has(m, a.Name, err)
}

func vhostExists(ctx context.Context, c *fun.Call, a *clearPasswordArgs) (fun.Result, error) {
	list, err := ClientOf(c).VHosts(ctx)
	return contains(list, a.Name, err)
}
