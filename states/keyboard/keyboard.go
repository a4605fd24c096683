// Package keyboard is Salt's state module "keyboard".
package keyboard

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "keyboard".
func States() fun.Module {
	return fun.Module{Name: "keyboard", Kind: fun.State, Doc: "Set keyboard layouts.", Avail: fun.Needs("keyboard", ""), Specs: specs}
}

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
	has, err := c.Env.Exec(ctx, "keyboard.get_"+kind, nil)
	switch {
	case err != nil:
		return fun.Fail("Failed to set %s keyboard layout: %v", what, err)
	case has == c.Name:
		return fun.Ret{Result: fun.OK, Comment: title + " layout " + c.Name + " already set"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: title + " layout " + c.Name + " needs to be set"}
	}
	if _, err := c.Env.Exec(ctx, "keyboard.set_"+kind, nil, c.Name); err != nil {
		return fun.Fail("Failed to set %s keyboard layout: %v", what, err)
	}
	return fun.Ret{Result: fun.OK, Changes: value.MapOf("layout", c.Name), Comment: "Set " + what + " keyboard layout " + c.Name}
}
