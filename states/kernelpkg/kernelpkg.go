// Package kernelpkg is Salt's state module "kernelpkg": the newest kernel, and its
// activation.
package kernelpkg

import (
	"context"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "kernelpkg".
func States() fun.Module {
	return fun.Module{Name: "kernelpkg", Kind: fun.State, Doc: "Install and activate the newest kernel.", Specs: specs, Avail: fun.Needs("kernelpkg", ""), Watch: fun.StateFunc(watch).State, Brings: fun.Always}
}

var specs = []fun.Spec{
	{
		Name: "latest_active", Do: latestActive, Src: "states/kernelpkg.py latest_active",
		Doc: "Reboot if the newest installed kernel is not the running one.",
	},
	{
		Name: "latest_installed", Do: latestInstalled, Src: "states/kernelpkg.py latest_installed", Doc: "Install the newest kernel of the repositories.\nIt runs after the next reboot.",
	},
	{
		Name: "latest_wait", Do: latestWait, Src: "states/kernelpkg.py latest_wait", Doc: "Do what latest_active does if a state that this one watches or listens to has changes.",
	},
}

type latestInstalledArgs struct {
	_ string `arg:"name,required" doc:"any text"`
	_ fun.Kwargs
}

// latestInstalled installs the newest kernel. Salt: salt/states/kernelpkg.py
// latest_installed.
func latestInstalled(ctx context.Context, c *fun.Call, _ *latestInstalledArgs) fun.Ret {
	v, err := c.Env.Exec(ctx, "kernelpkg.list_installed", nil)
	if err != nil {
		return fun.Raise(err)
	}
	newest, err := c.Env.Exec(ctx, "kernelpkg.latest_available", nil)
	if err != nil {
		return fun.Raise(err)
	}
	list, _ := v.(*value.List)
	switch {
	case list != nil && slices.ContainsFunc(list.Items, func(x value.Value) bool { return value.Equal(x, newest) }):
		return fun.Ret{Result: fun.OK, Comment: "The latest kernel package is already installed: " + value.Str(newest)}
	case newest == nil:
		return fun.Fail("The repositories have no kernel package")
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "The latest kernel package will be installed: " + value.Str(newest)}
	}
	v, err = c.Env.Exec(ctx, "kernelpkg.upgrade", nil)
	if err != nil {
		return fun.Raise(err)
	}
	did, _ := v.(*value.Map)
	return fun.Ret{Result: fun.OK, Comment: "The latest kernel package has been installed, but not activated.", Changes: did.At("upgrades")}
}

// latestActiveArgs are the arguments of latestActive and latestWait.
type latestActiveArgs struct {
	_      string      `arg:"name,required" doc:"any text"`
	AtTime value.Value `arg:"at_time" doc:"when to reboot, as for system.reboot: minutes from now; default: now"`
	_      fun.Kwargs
}

// latestActive reboots for a newer kernel. Salt: salt/states/kernelpkg.py
// latest_active.
func latestActive(ctx context.Context, c *fun.Call, a *latestActiveArgs) fun.Ret {
	active, err := c.Env.Exec(ctx, "kernelpkg.active", nil)
	if err != nil {
		return fun.Raise(err)
	}
	latest, err := c.Env.Exec(ctx, "kernelpkg.latest_installed", nil)
	if err != nil {
		return fun.Raise(err)
	}
	due, err := c.Env.Exec(ctx, "kernelpkg.needs_reboot", nil)
	if err != nil {
		return fun.Raise(err)
	}
	if !value.Truth(due) {
		return fun.Ret{Result: fun.OK, Comment: "The latest installed kernel package is active: " + value.Str(active)}
	}
	ret := fun.Ret{
		Result: fun.WouldChange, Comment: "The system will be booted to activate kernel: " + value.Str(latest),
		Changes: value.MapOf("kernel", value.MapOf("old", active, "new", latest)),
	}
	if c.Test {
		return ret
	}
	if _, err := c.Env.Exec(ctx, "system.reboot", value.MapOf("at_time", a.AtTime)); err != nil {
		return fun.Raise(err)
	}
	ret.Result = fun.OK
	return ret
}

func latestWait(context.Context, *fun.Call, *latestActiveArgs) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: ""}
}

// watch is mod_watch.
func watch(ctx context.Context, c *fun.Call, a *latestActiveArgs) fun.Ret {
	switch c.Spec.Name {
	case "latest_active", "latest_wait":
		return latestActive(ctx, c, a)
	}
	return fun.Fail("kernelpkg.%s does not work with the watch requisite.", c.Spec.Name)
}
