// Package raid is Salt's state module "mdadm_raid", which serves as "raid": arrays of
// disks.
package raid

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// States returns the rows of the state module "raid".
func States() fun.Module {
	return fun.Module{Name: "raid", Kind: fun.State, Doc: "Manage RAID arrays.", Avail: available, Specs: specs}
}

func available(env *fun.Env) (bool, string) {
	if machine.Grain(env, "kernel") != "Linux" {
		return false, "Only supported on Linux"
	}
	if !tool.Has(env.Host, "mdadm") {
		return false, "Unable to locate command: mdadm"
	}
	return true, ""
}

var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Src: "states/mdadm_raid.py absent", Doc: "Stop an array and clear its devices.",
	},
	{
		Name: "present", Do: present, Hands: true, Src: "states/mdadm_raid.py present",
		Doc: "Create or assemble an array, and add devices to it.\nWhat is on new devices is lost. Further arguments are options of mdadm without their dashes; one without a value is True.",
	},
}

// array returns an array as raid.list shows it; nil is none.
func array(ctx context.Context, c *fun.Call) (*value.Map, error) {
	v, err := c.Env.Exec(ctx, "raid.list", nil)
	if m, ok := v.(*value.Map); ok {
		return m.Map(c.Name), err
	}
	return nil, err
}

// parts are the devices of an array by what they are.
type parts struct {
	missing []string // not there
	fresh   []string // without metadata
	members []string // of one array
	uuids   []string // of the arrays that they are of
}

// look looks at the devices.
func look(ctx context.Context, c *fun.Call, a *presentArgs) (p parts, err error) {
	for _, d := range a.Devices {
		if _, err := c.Env.Host.Stat(d); d == "missing" || err != nil {
			p.missing = append(p.missing, d)
			continue
		}
		v, err := c.Env.Exec(ctx, "raid.examine", value.MapOf("quiet", true), d)
		if err != nil {
			return p, err
		}
		m, _ := v.(*value.Map)
		if m == nil || !m.Has("MD_UUID") {
			p.fresh = append(p.fresh, d)
			continue
		}
		if u := m.Str("MD_UUID"); !slices.Contains(p.uuids, u) {
			p.uuids = append(p.uuids, u)
		}
		p.members = append(p.members, d)
	}
	slices.Sort(p.uuids)
	return p, nil
}

func repr(ss []string) string { return value.Repr(value.Strings(ss...)) }

// A plan is what present has to do.
type plan struct {
	parts
	verb    string // "assembled" or "created"; "" where the array is there
	fn      string // of the module raid
	devices []string
}

// planOf decides whether to create or assemble. fault is what keeps it from that.
func planOf(p parts, have *value.Map) (pl plan, fault string) {
	pl = plan{parts: p}
	switch {
	case len(p.uuids) > 1:
		return pl, fmt.Sprintf("Devices are a mix of RAID constituents with multiple MD_UUIDs: %s.", repr(p.uuids))
	case len(p.uuids) == 1 && have != nil && have.Str("uuid") != p.uuids[0]:
		return pl, fmt.Sprintf("Devices MD_UUIDs: %s differs from present RAID uuid %s.", p.uuids[0], have.Str("uuid"))
	case have != nil:
	case len(p.members) > 0:
		pl.verb, pl.fn, pl.devices = "assembled", "assemble", p.members
	case len(p.fresh) == 0:
		return pl, fmt.Sprintf("All devices are missing: %s.", repr(p.missing))
	default:
		pl.verb, pl.fn = "created", "create"
		pl.devices = slices.Concat(p.fresh, slices.Repeat([]string{"missing"}, len(p.missing)))
	}
	return pl, ""
}

// run creates or assembles the array, or returns the command for that.
func (pl *plan) run(ctx context.Context, c *fun.Call, a *presentArgs, test bool) (value.Value, error) {
	kw := value.MapOf("devices", value.Strings(pl.devices...), "test_mode", test)
	if pl.fn == "create" {
		kw.Set("level", a.Level)
	}
	for k, v := range a.Rest.All() {
		kw.Set(k, v)
	}
	return c.Env.Exec(ctx, "raid."+pl.fn, kw, c.Name)
}

// adds reports whether there are devices to add to an array.
func (pl *plan) adds() bool { return pl.fn != "create" && len(pl.fresh) > 0 }

// predict says what present would do.
func (pl *plan) predict(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	ret, comment := fun.Ret{Result: fun.OK}, fmt.Sprintf("Raid %s already present.", c.Name)
	if pl.verb != "" {
		command, err := pl.run(ctx, c, a, true)
		if err != nil {
			return fun.Raise(err)
		}
		ret.Result, comment = fun.WouldChange, fmt.Sprintf("Raid will be %s with: %s", pl.verb, value.Str(command))
	}
	if pl.adds() {
		ret.Result = fun.WouldChange
		comment += " New devices will be added: " + repr(pl.fresh)
	}
	if len(pl.missing) > 0 {
		comment += " Missing devices: " + repr(pl.missing)
	}
	ret.Comment = comment
	return ret
}

type presentArgs struct {
	_       string   `arg:"name,required,path" doc:"the array"`
	Level   string   `arg:"level,required" doc:"RAID level"`
	Devices []string `arg:"devices,required,comma[str]" doc:"its devices; \"missing\" is one that comes later"`
	Rest    fun.Kwargs
}

// present creates or assembles an array. Salt: salt/states/mdadm_raid.py present.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	have, err := array(ctx, c)
	if err != nil {
		return fun.Raise(err)
	}
	p, err := look(ctx, c, a)
	if err != nil {
		return fun.Raise(err)
	}
	pl, fault := planOf(p, have)
	if fault != "" {
		return fun.Fail("%s", fault)
	}
	if c.Test {
		return pl.predict(ctx, c, a)
	}
	comment, changes, ok := fmt.Sprintf("Raid %s already present.", c.Name), value.NewMap(0), true
	if pl.verb != "" {
		said, err := pl.run(ctx, c, a, false)
		if err != nil {
			return fun.Raise(err)
		}
		if have, err = array(ctx, c); err != nil {
			return fun.Raise(err)
		}
		if have == nil {
			c.Env.Log().Error("mdadm failed", "array", c.Name, "err", value.Str(said))
			comment, ok = fmt.Sprintf("Raid %s failed to be %s.", c.Name, pl.verb), false
		} else {
			comment, changes = fmt.Sprintf("Raid %s %s.", c.Name, pl.verb), have
			if _, err := c.Env.Exec(ctx, "raid.save_config", nil); err != nil {
				comment, ok = comment+" "+err.Error(), false
			}
		}
	}
	if pl.adds() && ok {
		more, all := pl.add(ctx, c)
		comment, ok = comment+more, all
		if all {
			changes.Set("added", value.Strings(pl.fresh...))
		}
	}
	if len(pl.missing) > 0 {
		comment += " Missing devices: " + repr(pl.missing)
	}
	ret := fun.Ret{Comment: comment, Changes: changes}
	if ok {
		ret.Result = fun.OK
	}
	return ret
}

// add adds new devices to the array; all reports whether that worked for each.
func (pl *plan) add(ctx context.Context, c *fun.Call) (comment string, all bool) {
	var b strings.Builder
	all = true
	for _, d := range pl.fresh {
		if v, err := c.Env.Exec(ctx, "raid.add", nil, c.Name, d); err == nil && v == true {
			fmt.Fprintf(&b, " Added new device %s to %s.\n", d, c.Name)
			continue
		}
		fmt.Fprintf(&b, " Unable to add %s to %s.\n", d, c.Name)
		all = false
	}
	return b.String(), all
}

type absentArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required,path" doc:"the array"`
}

// absent stops an array and clears its devices. Salt: salt/states/mdadm_raid.py absent.
func absent(ctx context.Context, c *fun.Call, _ *absentArgs) fun.Ret {
	have, err := array(ctx, c)
	switch {
	case err != nil:
		return fun.Raise(err)
	case have == nil:
		return fun.Same("Raid %s already absent", c.Name)
	case c.Test:
		return fun.Due("Raid %s is set to be destroyed", c.Name)
	}
	gone, err := c.Env.Exec(ctx, "raid.destroy", nil, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if gone != true {
		return fun.Fail("Raid %s failed to be destroyed", c.Name)
	}
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf("Raid %s has been destroyed", c.Name), Changes: value.MapOf(c.Name, value.MapOf("old", have, "new", nil))}
}
