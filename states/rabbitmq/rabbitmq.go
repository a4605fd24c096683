// Package rabbitmq has Salt's state modules rabbitmq_cluster, rabbitmq_plugin,
// rabbitmq_policy, rabbitmq_upstream, rabbitmq_user and rabbitmq_vhost.
package rabbitmq

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/rabbitmq"
	"brine/modules/tool"
)

// missing is why the modules cannot serve where rabbitmqctl is missing.
const missing = "Command not found: rabbitmqctl"

// Clusters returns the rows of the state module "rabbitmq_cluster".
func Clusters() fun.Module {
	return fun.Module{Name: "rabbitmq_cluster", Kind: fun.State, Doc: "Join clusters of RabbitMQ.", Specs: clusterSpecs, Avail: tool.Needs("rabbitmqctl", missing)}
}

// Plugins returns the rows of the state module "rabbitmq_plugin".
func Plugins() fun.Module {
	return fun.Module{Name: "rabbitmq_plugin", Kind: fun.State, Doc: "Manage plugins of RabbitMQ.", Specs: pluginSpecs, Avail: tool.Needs("rabbitmqctl", missing)}
}

// Policies returns the rows of the state module "rabbitmq_policy".
func Policies() fun.Module {
	return fun.Module{Name: "rabbitmq_policy", Kind: fun.State, Doc: "Manage policies of RabbitMQ.", Specs: policySpecs, Avail: tool.Needs("rabbitmqctl", missing)}
}

// Upstreams returns the rows of the state module "rabbitmq_upstream".
func Upstreams() fun.Module {
	return fun.Module{Name: "rabbitmq_upstream", Kind: fun.State, Doc: "Manage upstreams of federation of RabbitMQ.", Specs: upstreamSpecs, Avail: tool.Needs("rabbitmqctl", missing)}
}

// Users returns the rows of the state module "rabbitmq_user".
func Users() fun.Module {
	return fun.Module{Name: "rabbitmq_user", Kind: fun.State, Doc: "Manage users of RabbitMQ.", Specs: userSpecs, Avail: tool.Needs("rabbitmqctl", missing)}
}

// VHosts returns the rows of the state module "rabbitmq_vhost".
func VHosts() fun.Module {
	return fun.Module{Name: "rabbitmq_vhost", Kind: fun.State, Doc: "Manage virtual hosts of RabbitMQ.", Specs: vhostSpecs, Avail: tool.Needs("rabbitmqctl", missing)}
}

func changed(oldValue, newValue value.Value, comment string) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: comment, Changes: value.MapOf("old", oldValue, "new", newValue)}
}

// planned is the return of test mode for a change that is due.
func planned(oldValue, newValue value.Value, comment string) fun.Ret {
	ret := changed(oldValue, newValue, comment)
	ret.Result = fun.WouldChange
	return ret
}

type joinedArgs struct {
	_       fun.Arguments
	_       string `arg:"name,required" doc:"any text"`
	Host    string `arg:"host,required" doc:"host of a node of the cluster"`
	User    string `arg:"user" default:"rabbit" doc:"user part of the name of that node"`
	RAMNode bool   `arg:"ram_node" doc:"keep the state of the node in memory only"`
	Runas   string `arg:"runas" default:"root" doc:"account that runs the program"`
}

// joined makes sure that this node is a member of a cluster.
// Salt: salt/states/rabbitmq_cluster.py joined.
func joined(ctx context.Context, c *fun.Call, a *joinedArgs) fun.Ret {
	b := rabbitmq.ClientOf(c, a.Runas)
	node := a.User + "@" + a.Host
	status, err := b.ClusterStatus(ctx)
	switch {
	case err != nil:
		return fun.FailedBy(err, "Error: ")
	case isMember(status, node):
		return fun.Same("Already in cluster")
	case c.Test:
		return planned("", node, "Node is set to join cluster "+node)
	}
	out, err := b.Join(ctx, node, a.RAMNode)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	return changed("", node, out)
}

// isMember reports whether the status of a cluster names a node: rabbit@a is not
// named by rabbit@ab.
func isMember(status, node string) bool {
	return slices.Contains(strings.FieldsFunc(status, func(r rune) bool { return strings.ContainsRune(" \t\r\n,'\"[]{}()", r) }), node)
}

// plugin makes sure that a plugin is enabled or not.
func plugin(ctx context.Context, c *fun.Call, a *pluginEnabledArgs, enable bool, verb string) fun.Ret {
	b, name := rabbitmq.ClientOf(c, a.Runas), a.Name
	list, err := b.Plugins(ctx, true)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	oldValue, newValue := name, ""
	if enable {
		oldValue, newValue = "", name
	}
	switch {
	case slices.Contains(list, name) == enable:
		return fun.Report(fun.OK, nil, "Plugin '"+name+"' is already "+verb+".")
	case c.Test:
		return planned(oldValue, newValue, "Plugin '"+name+"' is set to be "+verb+".")
	}
	if _, err := b.SetPlugin(ctx, name, enable); err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	return changed(oldValue, newValue, "Plugin '"+name+"' was "+verb+".")
}

// pluginEnabledArgs are the arguments of pluginEnabled and pluginDisabled.
type pluginEnabledArgs struct {
	_     fun.Arguments
	Name  string `arg:"name,required" doc:"name of the plugin"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

// pluginEnabled makes sure that a plugin is enabled.
// Salt: salt/states/rabbitmq_plugin.py enabled.
func pluginEnabled(ctx context.Context, c *fun.Call, a *pluginEnabledArgs) fun.Ret {
	return plugin(ctx, c, a, true, "enabled")
}

// pluginDisabled makes sure that a plugin is disabled.
// Salt: salt/states/rabbitmq_plugin.py disabled.
func pluginDisabled(ctx context.Context, c *fun.Call, a *pluginEnabledArgs) fun.Ret {
	return plugin(ctx, c, a, false, "disabled")
}

type policyPresentArgs struct {
	_          fun.Arguments
	Name       string      `arg:"name,required" doc:"name of the policy"`
	Pattern    string      `arg:"pattern,required" doc:"regular expression of the names of queues and exchanges"`
	Definition value.Value `arg:"definition,required,str|dict" doc:"settings, as a mapping or as JSON"`
	Priority   string      `arg:"priority,int" default:"0" doc:"the policy of the highest priority counts"`
	Vhost      string      `arg:"vhost" default:"/" doc:"name of the virtual host"`
	Runas      string      `arg:"runas" doc:"account that runs the program"`
	ApplyTo    string      `arg:"apply_to" oneof:"queues|exchanges|all" doc:"queues, exchanges or all"`
}

// policyPresent makes sure that a policy is there, as described.
// Salt: salt/states/rabbitmq_policy.py present.
func policyPresent(ctx context.Context, c *fun.Call, a *policyPresentArgs) fun.Ret {
	b := rabbitmq.ClientOf(c, a.Runas)
	definition, err := rabbitmq.Definition(a.Definition)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	want := rabbitmq.Policy{
		VHost: a.Vhost, Name: a.Name, Pattern: a.Pattern, Definition: definition,
		Priority: a.Priority, ApplyTo: a.ApplyTo,
	}
	list, err := b.Policies(ctx, want.VHost)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	title := "Policy " + want.VHost + " " + want.Name
	var oldValue, newValue value.Value = value.NewMap(0), want.Name
	verb := "created"
	if n := slices.IndexFunc(list, func(p rabbitmq.Policy) bool { return p.Name == want.Name }); n >= 0 {
		due := policyUpdates(&list[n], &want)
		if len(due) == 0 {
			return fun.Report(fun.OK, nil, title+" is already present")
		}
		verb, oldValue, newValue = "updated", list[n].Map(), value.Strings(due...)
	}
	if c.Test {
		return planned(oldValue, newValue, title+" is set to be "+verb)
	}
	out, err := b.SetPolicy(ctx, want)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	return changed(oldValue, newValue, out)
}

// policyUpdates names what of a policy is not as wanted.
func policyUpdates(have, want *rabbitmq.Policy) []string {
	var due []string
	if have.Pattern != want.Pattern {
		due = append(due, "Pattern")
	}
	if !sameJSON(have.Definition, want.Definition) {
		due = append(due, "Definition")
	}
	if want.ApplyTo != "" && have.ApplyTo != want.ApplyTo {
		due = append(due, "Applyto")
	}
	if have.Priority != want.Priority {
		due = append(due, "Priority")
	}
	return due
}

func sameJSON(a, b string) bool {
	x, errA := value.ParseJSON(a)
	y, errB := value.ParseJSON(b)
	return errA == nil && errB == nil && value.Equal(x, y)
}

type policyAbsentArgs struct {
	_     fun.Arguments
	Name  string `arg:"name,required" doc:"name of the policy"`
	Vhost string `arg:"vhost" default:"/" doc:"name of the virtual host"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

// policyAbsent makes sure that a policy is not there.
// Salt: salt/states/rabbitmq_policy.py absent.
func policyAbsent(ctx context.Context, c *fun.Call, a *policyAbsentArgs) fun.Ret {
	b, name, vhost := rabbitmq.ClientOf(c, a.Runas), a.Name, a.Vhost
	list, err := b.Policies(ctx, vhost)
	title := "Policy '" + vhost + " " + name + "'"
	switch {
	case err != nil:
		return fun.FailedBy(err, "Error: ")
	case !slices.ContainsFunc(list, func(p rabbitmq.Policy) bool { return p.Name == name }):
		return fun.Report(fun.OK, nil, title+" is not present.")
	case c.Test:
		return planned(name, "", title+" will be removed.")
	}
	if _, err := b.DeletePolicy(ctx, vhost, name); err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	return changed(name, "", "Deleted")
}

type upstreamPresentArgs struct {
	Name string `arg:"name,required" doc:"name of the upstream"`
	rabbitmq.UpstreamArgs
	Runas string `arg:"runas" doc:"account that runs the program"`
}

// upstreamPresent makes sure that an upstream is there, as described.
// Salt: salt/states/rabbitmq_upstream.py present.
func upstreamPresent(ctx context.Context, c *fun.Call, a *upstreamPresentArgs) fun.Ret {
	b, name := rabbitmq.ClientOf(c, a.Runas), a.Name
	all, err := b.Upstreams(ctx)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	want := a.Upstream()
	changes := value.MapOf("old", nil, "new", want)
	action := "create"
	if text, ok := all.Get(name); ok {
		action = "update"
		have, _ := value.ParseJSON(value.Str(text))
		m, _ := have.(*value.Map)
		if changes = differing(m, want); changes.Len() == 0 {
			return fun.Report(fun.OK, nil, `Upstream "`+name+`" already present as specified.`)
		}
	}
	if c.Test {
		return fun.Report(fun.WouldChange, nil, `Upstream "`+name+`" would have been `+action+"d.")
	}
	if err := b.SetUpstream(ctx, name, want); err != nil {
		ret := fun.FailedBy(err, "Error: ")
		if ret.Err == nil {
			ret.Comment = "Error trying to " + action + " upstream: " + strings.TrimPrefix(value.Str(ret.Comment), "Error: ")
		}
		return ret
	}
	return fun.Ret{Result: fun.OK, Comment: `Upstream "` + name + `" ` + action + "d.", Changes: withoutPasswords(changes)}
}

// differing returns what two mappings do not have in common, as old and new.
func differing(have, want *value.Map) *value.Map {
	out := value.NewMap(2)
	if have == nil {
		have = value.NewMap(0)
	}
	if m := without(have, want); m.Len() > 0 {
		out.Set("old", m)
	}
	if m := without(want, have); m.Len() > 0 {
		out.Set("new", m)
	}
	return out
}

// without returns the entries of a mapping that another one does not have alike.
func without(m, other *value.Map) *value.Map {
	out := value.NewMap(m.Len())
	for k, v := range m.All() {
		if o, ok := other.Get(k); !ok || !value.Equal(o, v) {
			out.Set(k, v)
		}
	}
	return out
}

// withoutPasswords hides the passwords in the URIs of definitions.
func withoutPasswords(changes *value.Map) *value.Map {
	out := value.NewMap(changes.Len())
	for k, v := range changes.All() {
		m, ok := v.(*value.Map)
		if !ok {
			out.Set(k, v)
			continue
		}
		m = m.Copy()
		if uri, ok := m.Get("uri"); ok {
			m.Set("uri", rabbitmq.Hide(value.Str(uri)))
		}
		out.Set(k, m)
	}
	return out
}

type upstreamAbsentArgs struct {
	_     fun.Arguments
	Name  string `arg:"name,required" doc:"name of the upstream"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

// upstreamAbsent makes sure that an upstream is not there.
// Salt: salt/states/rabbitmq_upstream.py absent.
func upstreamAbsent(ctx context.Context, c *fun.Call, a *upstreamAbsentArgs) fun.Ret {
	b, name := rabbitmq.ClientOf(c, a.Runas), a.Name
	all, err := b.Upstreams(ctx)
	switch {
	case err != nil:
		return fun.FailedBy(err, "Error: ")
	case !all.Has(name):
		return fun.Report(fun.OK, nil, `The upstream "`+name+`" is already absent.`)
	case c.Test:
		return fun.Report(fun.WouldChange, nil, `Upstream "`+name+`" would have been deleted.`)
	}
	if err := b.DeleteUpstream(ctx, name); err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	return changed(name, nil, `Upstream "`+name+`" has been deleted.`)
}

// vhost makes sure that a virtual host is there or not.
func vhost(ctx context.Context, c *fun.Call, a *vhostPresentArgs, there bool) fun.Ret {
	b, name := &rabbitmq.Client{Env: c.Env}, a.Name
	list, err := b.VHosts(ctx)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	title := "Virtual Host '" + name + "'"
	oldValue, newValue, already, due, act := name, "", " is not present.", " will be removed.", b.DeleteVHost
	if there {
		oldValue, newValue, already, due, act = "", name, " already exists.", " will be created.", b.AddVHost
	}
	switch {
	case slices.Contains(list, name) == there:
		return fun.Report(fun.OK, nil, title+already)
	case c.Test:
		return planned(oldValue, newValue, title+due)
	}
	out, err := act(ctx, name)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	return changed(oldValue, newValue, out)
}

// vhostPresentArgs are the arguments of vhostPresent and vhostAbsent.
type vhostPresentArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the virtual host"`
}

// vhostPresent makes sure that a virtual host is there.
// Salt: salt/states/rabbitmq_vhost.py present.
func vhostPresent(ctx context.Context, c *fun.Call, a *vhostPresentArgs) fun.Ret {
	return vhost(ctx, c, a, true)
}

// vhostAbsent makes sure that a virtual host is not there.
// Salt: salt/states/rabbitmq_vhost.py absent.
func vhostAbsent(ctx context.Context, c *fun.Call, a *vhostPresentArgs) fun.Ret {
	return vhost(ctx, c, a, false)
}
