// Package beacon is Salt's state module "beacon": which beacons a machine has. They are those of
// the execution module "beacons", which saves them.
package beacon

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "beacon".
func States() fun.Module {
	return fun.Module{Name: "beacon", Kind: fun.State, Doc: "Configure the beacons of a machine.", Specs: specs}
}

// configured returns the options of the beacon of the state; ok is false where there is none.
func configured(ctx context.Context, c *fun.Call) (options value.Value, ok bool, err error) {
	res, err := c.Env.Exec(ctx, "beacons.list", value.MapOf("return_yaml", false))
	if err != nil {
		return nil, false, err
	}
	all, _ := res.(*value.Map)
	if all == nil {
		return nil, false, nil
	}
	options, ok = all.Get(c.Name)
	return options, ok, nil
}

// change calls an execution function, and words its return: text is for what was done. Salt
// reports no changes but those of present; a state that did something reports it here.
func change(ctx context.Context, c *fun.Call, fn string, kw *value.Map, changes *value.Map, text string) fun.Ret {
	kw.Set("name", c.Name)
	if c.Test {
		kw.Set("test", true)
	}
	res, err := c.Env.Exec(ctx, "beacons."+fn, kw)
	if err != nil {
		return fun.Fail("%v", err)
	}
	m, ok := res.(*value.Map)
	if !ok {
		return fun.Fail("beacons.%s returned %s", fn, value.TypeName(res))
	}
	if of := m.Map("changes"); of != nil {
		changes = of
	}
	switch {
	case !value.Truth(m.At("result")):
		return fun.Ret{Comment: m.At("comment")}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: m.At("comment"), Changes: changes}
	}
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf(text, c.Name), Changes: changes}
}

// saved adds what Salt says with save. A change is saved in any case: no process keeps beacons.
func saved(c *fun.Call, save bool, ret fun.Ret) fun.Ret {
	if !save || ret.Result == fun.Failed {
		return ret
	}
	text := "Beacon " + c.Name + " saved"
	if c.Test {
		text = "Beacon " + c.Name + " would be saved"
	}
	ret.Comment = value.Str(ret.Comment) + "\n" + text
	return ret
}

type presentArgs struct {
	_    fun.Arguments
	_    string `arg:"name,required" doc:"name of the beacon"`
	Save bool   `arg:"save" default:"False" doc:"accepted; a change is saved in any case"`
	Rest fun.Kwargs
}

func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	options := value.NewList()
	for k, v := range a.Rest.All() {
		if k == "enable" { // as in the example of Salt, where it has no effect
			k = "enabled"
		}
		options.Append(value.MapOf(k, v))
	}
	current, ok, err := configured(ctx, c)
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case ok && value.Equal(current, options):
		return saved(c, a.Save, fun.Same("Job %s in correct state", c.Name))
	case ok:
		return saved(c, a.Save, change(ctx, c, "modify", value.MapOf("beacon_data", options), value.MapOf("old", current, "new", options), "Modifying %s in beacons"))
	}
	return saved(c, a.Save, change(ctx, c, "add", value.MapOf("beacon_data", options), value.MapOf("old", nil, "new", options), "Adding %s to beacons"))
}

type absentArgs struct {
	_    fun.Arguments
	_    string `arg:"name,required" doc:"name of the beacon"`
	Save bool   `arg:"save" default:"False" doc:"accepted; a change is saved in any case"`
	Rest fun.Kwargs
}

func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	current, ok, err := configured(ctx, c)
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case !ok:
		return saved(c, a.Save, fun.Same("%s not configured in beacons", c.Name))
	}
	return saved(c, a.Save, change(ctx, c, "delete", value.NewMap(2), value.MapOf("old", current, "new", nil), "Removed %s from beacons"))
}

type nameArgs struct {
	_    fun.Arguments
	_    string `arg:"name,required" doc:"name of the beacon"`
	Rest fun.Kwargs
}

// isEnabled reports whether the options of a beacon have it look.
func isEnabled(options value.Value) bool {
	on := true
	l, _ := options.(*value.List)
	for _, x := range l.Elems() {
		if m, ok := x.(*value.Map); ok && m.Has("enabled") {
			on = value.Truth(m.At("enabled"))
		}
	}
	return on
}

func enabled(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return turn(ctx, c, true, "enable_beacon", "Enabled %s from beacons", "%s not a configured beacon")
}

func disabled(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return turn(ctx, c, false, "disable_beacon", "Disabled beacon %s.", "Job %s is not configured.")
}

// turn has a beacon look, or not.
func turn(ctx context.Context, c *fun.Call, on bool, fn, text, none string) fun.Ret {
	options, ok, err := configured(ctx, c)
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case !ok:
		return fun.Same(none, c.Name)
	case isEnabled(options) == on:
		return fun.Same(text, c.Name)
	}
	return change(ctx, c, fn, value.NewMap(2), value.MapOf("enabled", value.MapOf("old", !on, "new", on)), text)
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "absent", Doc: "Remove a beacon.", Src: "states/beacon.py absent", Do: absent},
	{Name: "disabled", Doc: "Have a beacon look no more.", Src: "states/beacon.py disabled", Do: disabled},
	{Name: "enabled", Doc: "Have a beacon look again, after disabled.", Src: "states/beacon.py enabled", Do: enabled},
	{Name: "present", Doc: "Add a beacon, or change it. Further arguments are the options of the beacon.", Src: "states/beacon.py present", Hands: true, Do: present},
}
