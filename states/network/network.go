// Package network is Salt's state module "network": interfaces, routes and network
// settings in the files of the system.
package network

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/difflib"
	"brine/internal/py/value"
	"brine/modules/ip"
	"brine/modules/machine"
	netmod "brine/modules/network"
	"brine/modules/tool"
)

// States returns the rows of the state module "network".
func States() fun.Module {
	return fun.Module{Name: "network", Kind: fun.State, Doc: "Interfaces, routes and network settings.", Avail: fun.Needs("ip", ""), Specs: specs}
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "managed", Src: "states/network.py managed", Do: managed,
		Doc: "Describe an interface, and bring it up or take it down.\nEach system has some of the settings.",
	},
	{Name: "routes", Doc: "Describe the static routes of an interface.", Src: "states/network.py routes", Do: routes},
	{Name: "system", Doc: "Describe the network settings of the machine.\nEach system has some of the settings.", Src: "states/network.py system", Do: system},
}

// A job is one state in progress.
type job struct {
	c       *fun.Call
	changes *value.Map
	result  fun.Outcome
	comment string
	extra   *value.Map
}

func (j *job) ret() fun.Ret {
	return fun.Ret{Result: j.result, Comment: j.comment, Changes: j.changes, Extra: j.extra}
}

// fail reports what a function of ip refused.
func (j *job) fail(err error) fun.Ret {
	j.result, j.comment = fun.Failed, err.Error()
	return j.ret()
}

// lines calls a function of ip and returns the lines that it gave.
func (j *job) lines(ctx context.Context, name string, kw *value.Map, pos ...value.Value) ([]string, error) {
	res, err := j.c.Env.Exec(ctx, "ip."+name, kw, pos...)
	if err != nil {
		return nil, err
	}
	l, ok := res.(*value.List)
	if !ok {
		return nil, nil
	}
	out := make([]string, l.Len())
	for i, x := range l.Items {
		out[i] = value.Str(x)
	}
	return out, nil
}

// diff returns the difference as Salt prints it: the lines have their ends, and are
// joined by line ends.
func diff(before, after []string) string {
	return strings.Join(difflib.Unified(before, after, "", "", ""), "\n")
}

// settings returns the settings that a declares, and test as ip takes it. As in Salt,
// their names may have capitals; other arguments have no effect.
func (j *job) settings(a any) *value.Map {
	kw := j.c.Given(a)
	for k, v := range j.c.Kw.All() {
		if name := strings.ToLower(value.Str(k)); j.c.Args.Has(name) && !kw.Has(name) {
			kw.Set(name, v)
		}
	}
	kw.Set("test", j.c.Test)
	return kw
}

// words are the sentences about what is described.
type words struct{ toAdd, toUpdate, added, updated, key, what string }

// compare notes what differs between what exists and what was, or is to be, written.
// It reports whether anything does.
func (j *job) compare(before, after []string, w words) bool {
	if slices.Equal(before, after) {
		return false
	}
	isNew := len(before) == 0 && len(after) > 0
	switch {
	case j.c.Test && isNew:
		j.result, j.comment = fun.WouldChange, w.toAdd
	case j.c.Test:
		j.result, j.comment = fun.WouldChange, w.toUpdate+":\n"+diff(before, after)
	case isNew:
		j.comment = w.added
		j.changes.Set(w.key, w.what)
	default:
		j.comment = w.updated
		j.changes.Set(w.key, diff(before, after))
	}
	return true
}

type managedArgs struct {
	_       string `arg:"name,required" doc:"name of the interface"`
	Enabled bool   `arg:"enabled" default:"True" doc:"it is up, now and after a boot"`
	Type    string `arg:"type" default:"eth" doc:"type of the interface: eth, bond, bridge, slave, vlan, pppoe, source, team, teamport, ipip, ib, alias"`
	ip.Interface
	Addr       value.Value `arg:"addr,str" doc:"a former name of hwaddr"`
	NoIfUpDown bool        `arg:"noifupdown" doc:"leave the interface as it is until the next boot"`
	_          fun.Kwargs
}

// managed describes an interface. Salt: salt/states/network.py managed. Difference: a
// failure of ifup or ifdown is one of the state.
func managed(ctx context.Context, c *fun.Call, a *managedArgs) fun.Ret {
	name := c.Name
	j := &job{c: c, changes: value.NewMap(2), result: fun.OK, comment: fmt.Sprintf("Interface %s is up to date.", name)}
	kw, typ := j.settings(&a.Interface), a.Type
	if a.Addr != nil {
		j.renameAddr(kw, a.Addr)
	}
	before, err := j.lines(ctx, "get_interface", nil, name)
	if err != nil {
		return j.fail(err)
	}
	after, err := j.lines(ctx, "build_interface", kw, name, typ, a.Enabled)
	if err != nil {
		return j.fail(err)
	}
	ranged := j.compare(before, after, words{
		fmt.Sprintf("Interface %s is set to be added.", name), fmt.Sprintf("Interface %s is set to be updated", name),
		fmt.Sprintf("Interface %s added.", name), fmt.Sprintf("Interface %s updated.", name), "interface", "Added network interface.",
	})
	if typ == "source" {
		return j.ret()
	}
	if _, _, err := c.Env.Find(fun.Exec, "ip.get_bond"); typ == "bond" && err == nil {
		changed, err := j.bond(ctx, kw)
		if err != nil {
			return j.fail(err)
		}
		ranged = ranged || changed
	}
	if c.Test {
		return j.ret()
	}
	if strings.Contains(name, "range") {
		return j.restart(ctx, ranged)
	}
	wasUp, err := j.bring(ctx, a, typ)
	if err != nil {
		return j.fail(err)
	}
	if typ == "bond" && !a.NoIfUpDown {
		if err := j.enslave(ctx, kw); err != nil {
			return j.fail(err)
		}
	}
	if !a.Enabled || !wasUp {
		if _, err := c.Env.Exec(ctx, "saltutil.refresh_grains", nil); err != nil {
			return j.fail(err)
		}
	}
	return j.ret()
}

// renameAddr takes the former name of hwaddr.
func (j *job) renameAddr(kw *value.Map, addr value.Value) {
	text := "'addr' is not a valid argument name, "
	if kw.Has("hwaddr") {
		text += "it has been ignored in favor of 'hwaddr'."
	} else {
		text += "its value has been assigned to 'hwaddr' instead."
		kw.Set("hwaddr", addr)
	}
	j.extra = value.MapOf("warnings", value.Strings(text+" Update your SLS file to get rid of this warning."))
}

// bond describes the options of a bond for the kernel.
func (j *job) bond(ctx context.Context, kw *value.Map) (changed bool, err error) {
	name := j.c.Name
	before, err := j.lines(ctx, "get_bond", nil, name)
	if err != nil {
		return false, err
	}
	after, err := j.lines(ctx, "build_bond", kw, name)
	if err != nil {
		return false, err
	}
	return j.compare(before, after, words{
		fmt.Sprintf("Bond interface %s is set to be added.", name), fmt.Sprintf("Bond interface %s is set to be updated", name),
		fmt.Sprintf("Bond interface %s added.", name), fmt.Sprintf("Bond interface %s updated.", name), "bond", fmt.Sprintf("Added bond %s.", name),
	}), nil
}

// restart restarts networking for a range of interfaces.
func (j *job) restart(ctx context.Context, changed bool) fun.Ret {
	if !changed {
		j.comment = "no change, passing it"
		return j.ret()
	}
	res, err := j.c.Env.Exec(ctx, "service.restart", nil, "network")
	if err != nil {
		return j.fail(err)
	}
	if !value.Truth(res) {
		j.result = fun.Failed
	}
	j.comment = "network restarted for change of ranged interfaces"
	return j.ret()
}

// isUp reports whether the interface, or an address that is labelled so, is there and up.
func (j *job) isUp() (bool, error) {
	all, err := netmod.Interfaces(j.c.Env.Host)
	if err != nil {
		return false, err
	}
	if m := all.Map(j.c.Name); m != nil {
		return value.Truth(m.At("up")), nil
	}
	for name, v := range all.All() {
		m, _ := v.(*value.Map)
		for _, key := range []string{"secondary", "inet", "inet6"} {
			l := m.List(key)
			if l == nil || key != "secondary" && name != "lo" {
				continue
			}
			for _, x := range l.Items {
				if a, _ := x.(*value.Map); a.Str("label") == j.c.Name {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// bring brings the interface up, or takes it down where it is not to be enabled. It
// reports whether it was up.
func (j *job) bring(ctx context.Context, a *managedArgs, typ string) (wasUp bool, err error) {
	name := j.c.Name
	if wasUp, err = j.isUp(); err != nil || a.NoIfUpDown {
		return wasUp, err
	}
	run := func(fns ...string) error {
		for _, fn := range fns {
			res, err := j.c.Env.Invoker.Invoke(ctx, fun.Exec, "ip."+fn, fun.Args{Pos: []value.Value{name, typ}})
			if err != nil {
				return err
			}
			if res.Retcode != 0 {
				return fun.Errorf("Interface %s: %s", name, value.Str(res.Value))
			}
		}
		return nil
	}
	switch {
	case !a.Enabled && wasUp:
		if err = run("down"); err == nil {
			j.changes.Set("status", fmt.Sprintf("Interface %s down", name))
		}
	case !a.Enabled:
	case wasUp && j.changes.Len() > 0:
		if err = run("down", "up"); err == nil {
			j.changes.Set("status", fmt.Sprintf("Interface %s restart to validate", name))
		}
	case !wasUp:
		if err = run("up"); err == nil {
			j.changes.Set("status", fmt.Sprintf("Interface %s is up", name))
		}
	}
	return wasUp, err
}

// enslave adds the slaves of a bond that it does not have.
func (j *job) enslave(ctx context.Context, kw *value.Map) error {
	h, name := j.c.Env.Host, j.c.Name
	var want []string
	if l, ok := kw.At("slaves").(*value.List); ok {
		for _, x := range l.Items {
			want = append(want, value.Str(x))
		}
	} else {
		want = strings.Fields(kw.Str("slaves"))
	}
	b, _ := h.ReadFile("/sys/class/net/" + name + "/bonding/slaves")
	have := strings.Fields(string(b))
	want = slices.DeleteFunc(want, func(s string) bool { return slices.Contains(have, s) || strings.HasPrefix(s, "-") })
	if len(want) == 0 || machine.Grain(j.c.Env, "os_family") == "Suse" {
		return nil
	}
	if !tool.Has(h, "ifenslave") {
		return fun.Errorf("Command 'ifenslave' not found")
	}
	out, err := tool.Merged(ctx, h, append([]string{"ifenslave", name}, want...)...)
	if err != nil {
		return err
	}
	if out.Status != 0 {
		return fun.Errorf("ifenslave: %s", out.Text)
	}
	j.changes.Set("enslave", fmt.Sprintf("Added slaves '%s' to master '%s'", strings.Join(want, " "), name))
	return nil
}

// apply restarts networking where something changed.
func (j *job) apply(ctx context.Context, kw *value.Map) fun.Ret {
	if j.changes.Len() > 0 {
		if _, err := j.c.Env.Exec(ctx, "ip.apply_network_settings", kw); err != nil {
			return j.fail(err)
		}
	}
	return j.ret()
}

type routesArgs struct {
	_ string `arg:"name,required" doc:"name of the interface"`
	ip.Routes
	_ fun.Kwargs
}

// routes describes the routes of an interface. Salt: salt/states/network.py routes.
func routes(ctx context.Context, c *fun.Call, a *routesArgs) fun.Ret {
	name := c.Name
	j := &job{c: c, changes: value.NewMap(1), result: fun.OK, comment: fmt.Sprintf("Interface %s routes are up to date.", name)}
	kw := j.settings(&a.Routes)
	before, err := j.lines(ctx, "get_routes", nil, name)
	if err != nil {
		return j.fail(err)
	}
	after, err := j.lines(ctx, "build_routes", kw, name)
	if err != nil {
		return j.fail(err)
	}
	j.compare(before, after, words{
		fmt.Sprintf("Interface %s routes are set to be added.", name), fmt.Sprintf("Interface %s routes are set to be updated", name),
		fmt.Sprintf("Interface %s routes added.", name), fmt.Sprintf("Interface %s routes updated.", name), "network_routes", fmt.Sprintf("Added interface %s routes.", name),
	})
	return j.apply(ctx, kw)
}

type systemArgs struct {
	_ string `arg:"name,required" doc:"any text"`
	ip.Global
	_ fun.Kwargs
}

// system describes the network settings. Salt: salt/states/network.py system, whose
// comment does not tell of changes.
func system(ctx context.Context, c *fun.Call, a *systemArgs) fun.Ret {
	const same = "Global network settings are up to date."
	j := &job{c: c, changes: value.NewMap(1), result: fun.OK, comment: same}
	kw := j.settings(&a.Global)
	before, err := j.lines(ctx, "get_network_settings", nil)
	if err != nil {
		return j.fail(err)
	}
	after, err := j.lines(ctx, "build_network_settings", kw)
	if err != nil {
		return j.fail(err)
	}
	j.compare(before, after, words{
		"Global network settings are set to be added.", "Global network settings are set to be updated",
		same, same, "network_settings", "Added global network settings.",
	})
	return j.apply(ctx, kw)
}
