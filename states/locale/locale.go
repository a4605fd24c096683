// Package locale is Salt's state module "locale".
package locale

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	locales "brine/modules/locale"
	"brine/modules/machine"
	"brine/states/dryrun"
)

// States returns the rows of the state module "locale".
func States() fun.Module {
	return fun.Module{Name: "locale", Kind: fun.State, Doc: "Make locales and set the system's.", Avail: provided, Specs: specs}
}

func provided(env *fun.Env) (bool, string) { return machine.Provided(env, "locale") }

type nameArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the locale, such as en_US.UTF-8"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "present", Doc: "Generate a locale that is missing.", Src: "states/locale.py present", Do: present,
	},
	{
		Name: "system", Doc: "Set the locale of the system.", Src: "states/locale.py system", Do: system,
	},
}

func call(ctx context.Context, c *fun.Call, fn string, args ...value.Value) (value.Value, error) {
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "locale."+fn, fun.Args{Pos: args})
	return res.Value, err
}

// done is the return of a change.
func done(name, comment string) fun.Ret {
	return fun.Ret{Result: fun.OK, Changes: value.MapOf("locale", name), Comment: comment + name}
}

func system(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	has, err := call(ctx, c, "get_locale")
	switch {
	case err != nil:
		return fun.Fail("Failed to set system locale: %v", err)
	case has == c.Name:
		return fun.Ret{Result: fun.OK, Comment: "System locale " + c.Name + " already set"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "System locale " + c.Name + " needs to be set"}
	}
	ok, err := call(ctx, c, "set_locale", c.Name)
	switch {
	case err != nil:
		return fun.Fail("Failed to set system locale: %v", err)
	case !value.Truth(ok):
		return fun.Fail("Failed to set system locale to %s", c.Name)
	}
	return done(c.Name, "Set system locale ")
}

func present(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	is, err := call(ctx, c, "avail", c.Name)
	switch {
	case err != nil:
		return fun.Fail("Failed to generate locale %s: %v", c.Name, err)
	case value.Truth(is):
		return fun.Ret{Result: fun.OK, Comment: "Locale " + c.Name + " is already present"}
	case c.Test && dryrun.Certain(c) && !locales.Known(c.Env, c.Name):
		return fun.Fail("Failed to generate locale %s", c.Name)
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Locale " + c.Name + " needs to be generated"}
	}
	ok, err := call(ctx, c, "gen_locale", c.Name)
	switch {
	case err != nil:
		return fun.Fail("Failed to generate locale %s: %v", c.Name, err)
	case !value.Truth(ok):
		return fun.Fail("Failed to generate locale %s", c.Name)
	}
	return done(c.Name, "Generated locale ")
}
