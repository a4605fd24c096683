// Package apt is Salt's state module "apt": packages that are not upgraded.
package apt

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "apt".
func States() fun.Module {
	return fun.Module{Name: "apt", Kind: fun.State, Doc: "Keep packages from being upgraded by apt.", Specs: specs, Avail: avail}
}

func avail(env *fun.Env) (bool, string) {
	if !env.Has("pkg.get_selections") {
		return false, "this is not a system with apt"
	}
	return true, ""
}

var specs = []fun.Spec{{
	Name: "held", Do: held, Src: "states/aptpkg.py held",
	Doc: "Keep a package from being upgraded.\npkg.held does the same for several packages.",
}}

type heldArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the package"`
}

// held holds a package. Salt: salt/states/aptpkg.py held.
func held(ctx context.Context, c *fun.Call, _ *heldArgs) fun.Ret {
	if strings.ContainsAny(c.Name, "*?[") {
		return fun.Fail("Package %s does not have a state", c.Name)
	}
	v, err := c.Env.Exec(ctx, "pkg.get_selections", value.MapOf("pattern", c.Name))
	if err != nil {
		return fun.Raise(err)
	}
	state, _ := v.(*value.Map)
	switch {
	case state.Len() == 0:
		return fun.Fail("Package %s does not have a state", c.Name)
	case value.Truth(state.At("hold")):
		return fun.Ret{Result: fun.OK, Comment: "Package " + c.Name + " is already held"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Package " + c.Name + " is set to be held"}
	}
	v, err = c.Env.Exec(ctx, "pkg.set_selections", value.MapOf("selection", value.MapOf("hold", value.Strings(c.Name))))
	if err != nil {
		return fun.Raise(err)
	}
	result, _ := v.(*value.Map)
	changes := result.Map(c.Name)
	if changes == nil {
		return fun.Fail("Package %s cannot be held", c.Name)
	}
	return fun.Ret{Result: fun.OK, Comment: "Package " + c.Name + " is now being held", Changes: changes}
}
