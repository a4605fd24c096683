package docker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/docker"
)

// A member is a container that is or was in a network.
type member struct {
	id, name string
	config   *value.Map // how to connect it again
}

type networkPresentArgs struct {
	networkArg
	docker.TranslateArgs
	Containers fun.Opt[[]string] `arg:"containers,comma[str]" doc:"running containers to connect"`
	Reconnect  bool              `arg:"reconnect" default:"True" doc:"connect the containers of a network that is replaced again"`
	docker.NetworkArgs
	_ fun.Kwargs
}

// networkPresent creates a network, or replaces one that is another.
// Salt: salt/states/docker_network.py present.
func networkPresent(ctx context.Context, c *fun.Call, a *networkPresentArgs) fun.Ret {
	r := newReport()
	e, err := engine(ctx, c)
	if err != nil {
		return r.fail(err)
	}
	have, err := e.InspectNetwork(ctx, c.Name)
	if err != nil && !docker.Missing(err) {
		return r.fail(err)
	}
	wanted, err := members(ctx, a, e, r)
	if err != nil {
		return r.fail(err)
	}
	spec, err := docker.ArgumentsOf(c, &a.TranslateArgs, &a.NetworkArgs).Network()
	if err != nil {
		return r.fail(err)
	}
	if have == nil {
		if c.Test {
			r.say("Network will be created")
			return r.ret(fun.WouldChange)
		}
		if _, err := e.CreateNetwork(ctx, c.Name, spec); err != nil {
			return r.fail(fmt.Errorf("Failed to create network '%s': %w", c.Name, err))
		}
		r.changes.Set("created", true)
		r.say("Network '" + c.Name + "' created")
		return attach(ctx, c, e, r, wanted, nil, value.NewMap(0))
	}
	diff, err := compare(ctx, e, r, have, spec)
	if err != nil {
		return r.fail(err)
	}
	if diff.Len() == 0 {
		r.say("Network '" + c.Name + "' already exists, and is configured as specified")
		return attach(ctx, c, e, r, wanted, nil, have.Map("Containers"))
	}
	r.changes.Set(c.Name, diff)
	if c.Test {
		r.say("Network would be recreated with new config")
		return r.ret(fun.WouldChange)
	}
	return recreate(ctx, c, a, e, r, have, spec, wanted)
}

// members returns the containers that the argument names, as far as they run;
// what is wrong with the others is a warning.
func members(ctx context.Context, a *networkPresentArgs, e *docker.Engine, r *report) ([]member, error) {
	var out []member
	var missing, stopped []string
	for _, name := range a.Containers.V {
		m, err := e.Inspect(ctx, name)
		switch {
		case docker.Missing(err):
			missing = append(missing, name)
		case err != nil:
			return nil, err
		case docker.StateOf(m) == docker.Stopped:
			stopped = append(stopped, name)
		default:
			out = append(out, member{id: m.Str("Id"), name: name, config: value.NewMap(0)})
		}
	}
	if len(missing) > 0 {
		r.warnings = append(r.warnings, "The following containers do not exist: "+strings.Join(missing, ", ")+".")
	}
	if len(stopped) > 0 {
		r.warnings = append(r.warnings, "The following containers are not running: "+strings.Join(stopped, ", ")+".")
	}
	return out, nil
}

// compare returns the differences of a network and one made as described, under
// another name and with addresses of the engine's choice, so that all that the
// engine sets by itself is the same.
func compare(ctx context.Context, e *docker.Engine, r *report, have *value.Map, spec *docker.NetworkSpec) (*value.Map, error) {
	name := make([]byte, 20)
	for i := range name {
		name[i] = 'a' + byte(rand.IntN(26)) // the name only has to be free
	}
	config := spec.Config.Copy()
	ipv6 := value.Truth(config.At("EnableIPv6"))
	config.Delete("EnableIPv6")
	if opts := config.Map("Options"); opts.Has("com.docker.network.bridge.name") {
		opts = opts.Copy()
		bridge := opts.Str("com.docker.network.bridge.name") + "comp"
		opts.Set("com.docker.network.bridge.name", bridge[max(0, len(bridge)-14):])
		config.Set("Options", opts)
	}
	temp := string(name)
	if _, err := e.CreateNetwork(ctx, temp, &docker.NetworkSpec{Config: config}); err != nil {
		return nil, fmt.Errorf("Failed to create temp network for comparison: %w", err)
	}
	defer func() {
		if err := e.RemoveNetwork(context.WithoutCancel(ctx), temp); err != nil {
			r.warnings = append(r.warnings, "Failed to remove temp network '"+temp+"': "+err.Error()+".")
		}
	}()
	like, err := e.InspectNetwork(ctx, temp)
	if err != nil {
		return nil, fmt.Errorf("Failed to inspect temp network: %w", err)
	}
	like.Set("EnableIPv6", ipv6)
	like.Set("IPAM", spec.IPAM)
	return docker.CompareNets(chosen(have, spec), like, []string{"Name", "Id", "Created", "Containers", "Status"}), nil
}

// chosen returns a network without the pool that the engine chose, where none is
// asked for.
func chosen(have *value.Map, spec *docker.NetworkSpec) *value.Map {
	ipam := have.Map("IPAM")
	pools, want := ipam.List("Config"), spec.IPAM.List("Config")
	if pools == nil {
		return have
	}
	out, left := have.Copy(), value.NewList()
	for _, p := range pools.Items {
		m, _ := p.(*value.Map)
		if own := m.Len() == 2 && m.Has("Gateway") && m.Has("Subnet") || m.Len() == 1 && m.Has("Subnet"); !own || asked(want, m.Str("Subnet")) {
			left.Append(given(m, want))
		}
	}
	fixed := ipam.Copy()
	fixed.Set("Config", left)
	out.Set("IPAM", fixed)
	return out
}

// asked reports whether the description has a pool of the same IP version.
func asked(want *value.List, subnet string) bool {
	have, err := netip.ParsePrefix(subnet)
	if want == nil || err != nil {
		return want != nil && len(want.Items) > 0
	}
	for _, p := range want.Items {
		m, _ := p.(*value.Map)
		if w, err := netip.ParsePrefix(m.Str("Subnet")); err != nil || w.Addr().Is4() == have.Addr().Is4() {
			return true
		}
	}
	return false
}

// given returns a pool without the gateway that the engine chose, where the
// description of the same subnet has none.
func given(pool *value.Map, want *value.List) *value.Map {
	if want == nil {
		return pool
	}
	for _, p := range want.Items {
		if m, _ := p.(*value.Map); m.Str("Subnet") == pool.Str("Subnet") && !m.Has("Gateway") && pool.Has("Gateway") {
			pool = pool.Copy()
			pool.Delete("Gateway")
		}
	}
	return pool
}

// recreate replaces a network; what was connected is connected again.
func recreate(ctx context.Context, c *fun.Call, a *networkPresentArgs, e *docker.Engine, r *report, have *value.Map, spec *docker.NetworkSpec, wanted []member) fun.Ret {
	var former []member
	for k, v := range have.Map("Containers").All() {
		info, _ := v.(*value.Map)
		m := member{id: value.Str(k), name: info.Str("Name"), config: value.NewMap(2)}
		if len(wanted) == 0 && a.Reconnect {
			m.config = again(ctx, e, m.id, c.Name, info)
		}
		former = append(former, m)
	}
	if ret := removeNetwork(ctx, e, have); ret.Result != fun.OK {
		return ret
	}
	if _, err := e.CreateNetwork(ctx, c.Name, spec); err != nil {
		return r.fail(fmt.Errorf("Failed to create network '%s': %w", c.Name, err))
	}
	r.changes.Set("recreated", true)
	r.say("Network '" + c.Name + "' was replaced with updated config")
	if !a.Containers.Given && a.Reconnect {
		wanted = former
	}
	return attach(ctx, c, e, r, wanted, former, value.NewMap(0))
}

// again returns how a container was connected to a network.
func again(ctx context.Context, e *docker.Engine, id, network string, info *value.Map) *value.Map {
	out := value.NewMap(4)
	for _, k := range [][2]string{{"IPv4Address", "ipv4_address"}, {"IPv6Address", "ipv6_address"}} {
		if s, _, _ := strings.Cut(info.Str(k[0]), "/"); s != "" {
			out.Set(k[1], s)
		}
	}
	if m, err := e.Inspect(ctx, id); err == nil {
		net := docker.Networks(m).Map(network)
		for _, k := range [][2]string{{"Links", "links"}, {"Aliases", "aliases"}} {
			if v := net.At(k[0]); value.Truth(v) {
				out.Set(k[1], v)
			}
		}
	}
	return out
}

// attach connects containers to a network, and reports.
func attach(ctx context.Context, c *fun.Call, e *docker.Engine, r *report, wanted, former []member, have *value.Map) fun.Ret {
	was := map[string]bool{}
	for _, m := range former {
		was[m.id] = true
	}
	note := func(key, name string) {
		l := r.changes.List(key)
		if l == nil {
			l = value.NewList()
			r.changes.Set(key, l)
		}
		l.Append(name)
	}
	now := map[string]bool{}
	var errs []string
	for _, m := range wanted {
		now[m.id] = true
		if have.Has(m.id) {
			continue
		}
		if c.Test {
			r.comments = []string{"Network would be updated"}
			note("connected", m.name)
			continue
		}
		err := e.Connect(ctx, m.id, c.Name, m.config)
		if err != nil && m.config.Len() > 0 {
			// The address may not fit the new network.
			err = e.Connect(ctx, m.id, c.Name, nil)
		}
		switch {
		case err != nil:
			errs = append(errs, err.Error())
		case was[m.id]:
			note("reconnected", m.name)
		default:
			note("connected", m.name)
		}
	}
	for _, m := range former {
		if !now[m.id] {
			note("disconnected", m.name)
		}
	}
	switch {
	case len(errs) > 0:
		r.comments = append(r.comments, errs...)
		return r.ret(fun.Failed)
	case c.Test && r.changes.Len() > 0:
		return r.ret(fun.WouldChange)
	}
	return r.ret(fun.OK)
}

// networkAbsent removes a network and disconnects its containers.
// Salt: salt/states/docker_network.py absent.
func networkAbsent(ctx context.Context, c *fun.Call, _ *networkArg) fun.Ret {
	e, err := engine(ctx, c)
	if err != nil {
		return fun.Fail("%v", err)
	}
	have, err := e.InspectNetwork(ctx, c.Name)
	switch {
	case docker.Missing(err):
		return fun.Ret{Result: fun.OK, Comment: "Network '" + c.Name + "' already absent"}
	case err != nil:
		return fun.Fail("%v", err)
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Network '" + c.Name + "' will be removed"}
	}
	return removeNetwork(ctx, e, have)
}

func removeNetwork(ctx context.Context, e *docker.Engine, have *value.Map) fun.Ret {
	r, name := newReport(), have.Str("Name")
	gone := value.NewList()
	var errs []string
	for k, v := range have.Map("Containers").All() {
		info, _ := v.(*value.Map)
		if err := e.Disconnect(ctx, value.Str(k), name); err != nil && !docker.Missing(err) {
			errs = append(errs, "Failed to disconnect container '"+info.Str("Name")+"' : "+err.Error())
			continue
		}
		gone.Append(info.Str("Name"))
		r.changes.Set("disconnected", gone)
	}
	if len(errs) > 0 {
		return fun.Ret{Comment: strings.Join(errs, "\n"), Changes: r.changes}
	}
	if err := e.RemoveNetwork(ctx, name); err != nil {
		return fun.Ret{Comment: "Failed to remove network: " + err.Error(), Changes: r.changes}
	}
	r.changes.Set("removed", true)
	r.say("Removed network '" + name + "'")
	return r.ret(fun.OK)
}
