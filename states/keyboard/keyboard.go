// Package keyboard is Salt's state module "keyboard".
package keyboard

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// States returns the rows of the state module "keyboard".
func States() fun.Module {
	return fun.Module{Name: "keyboard", Kind: fun.State, Doc: "Set keyboard layouts.", Avail: provided, Specs: specs}
}

func provided(env *fun.Env) (bool, string) { return machine.Provided(env, "keyboard") }

type nameArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"keyboard layout, such as us or de-latin1"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "system", Doc: "Set the keyboard layout of the console.", Src: "states/keyboard.py system", Do: system,
	},
	{
		Name: "xorg", Doc: "Set the keyboard layout of X.", Src: "states/keyboard.py xorg", Do: xorg,
	},
}

func system(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return layout(ctx, c, "sys", "System", "system")
}

func xorg(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	return layout(ctx, c, "x", "XOrg", "XOrg")
}

// layout sets the layout that get_KIND and set_KIND are for.
func layout(ctx context.Context, c *fun.Call, kind, title, what string) fun.Ret {
	has, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "keyboard.get_"+kind, fun.Args{})
	switch {
	case err != nil:
		return fun.Fail("Failed to set %s keyboard layout: %v", what, err)
	case has.Value == c.Name:
		return fun.Ret{Result: fun.OK, Comment: title + " layout " + c.Name + " already set"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: title + " layout " + c.Name + " needs to be set"}
	}
	if _, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "keyboard.set_"+kind, fun.Args{Pos: []value.Value{c.Name}}); err != nil {
		return fun.Fail("Failed to set %s keyboard layout: %v", what, err)
	}
	return fun.Ret{Result: fun.OK, Changes: value.MapOf("layout", c.Name), Comment: "Set " + what + " keyboard layout " + c.Name}
}
