// Package alias is Salt's state module "alias": mail aliases.
package alias

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "alias".
func States() fun.Module {
	return fun.Module{Name: "alias", Kind: fun.State, Doc: "Manage mail aliases.", Specs: specs}
}

var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Src: "states/alias.py absent",
		Doc: "Remove a mail alias.",
	},
	{
		Name: "present", Do: present, Src: "states/alias.py present",
		Doc: "Set the target of a mail alias.\nThe file is /etc/aliases, or that of the option aliases.file.",
	},
}

func change(c *fun.Call, comment string) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: comment, Changes: value.MapOf("alias", c.Name)}
}

type presentArgs struct {
	_      fun.Arguments
	_      string      `arg:"name,required" doc:"name of the alias"`
	Target value.Value `arg:"target,required,str|list[str]" doc:"address that mail goes to, or a list"`
}

// present sets the target of an alias. Salt: salt/states/alias.py present.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	target := a.Target
	has, err := c.Env.Exec(ctx, "aliases.has_target", nil, c.Name, target)
	to := c.Name + " -> " + value.Str(target)
	switch {
	case err != nil:
		return fun.Raise(err)
	case value.Truth(has):
		return fun.Ret{Result: fun.OK, Comment: "Alias " + c.Name + " already present"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Alias " + to + " is set to be added"}
	}
	done, err := c.Env.Exec(ctx, "aliases.set_target", nil, c.Name, target)
	switch {
	case err != nil:
		return fun.Fail("Failed to set alias %s: %s", to, err)
	case !value.Truth(done):
		return fun.Fail("Failed to set alias %s", to)
	}
	return change(c, "Set email alias "+to)
}

type absentArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the alias"`
}

// absent removes an alias. Salt: salt/states/alias.py absent.
func absent(ctx context.Context, c *fun.Call, _ *absentArgs) fun.Ret {
	has, err := c.Env.Exec(ctx, "aliases.get_target", nil, c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case !value.Truth(has):
		return fun.Ret{Result: fun.OK, Comment: "Alias " + c.Name + " already absent"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Alias " + c.Name + " is set to be removed"}
	}
	done, err := c.Env.Exec(ctx, "aliases.rm_alias", nil, c.Name)
	switch {
	case err != nil:
		return fun.Fail("Failed to remove alias %s: %s", c.Name, err)
	case !value.Truth(done):
		return fun.Fail("Failed to remove alias %s", c.Name)
	}
	return change(c, "Removed alias "+c.Name)
}
