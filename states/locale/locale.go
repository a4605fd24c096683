// Package locale is Salt's state module "locale".
package locale

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	locales "brine/modules/locale"
	"brine/states/dryrun"
)

// States returns the rows of the state module "locale".
func States() fun.Module {
	return fun.Module{Name: "locale", Kind: fun.State, Doc: "Make locales and set the system's.", Avail: fun.Needs("locale", ""), Specs: specs}
}

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

// done is the return of a change.
func done(name, comment string) fun.Ret {
	return fun.Ret{Result: fun.OK, Changes: value.MapOf("locale", name), Comment: comment + name}
}

func system(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	has, err := c.Env.Exec(ctx, "locale.get_locale", nil)
	switch {
	case err != nil:
		return fun.Fail("Failed to set system locale: %v", err)
	case has == c.Name:
		return fun.Ret{Result: fun.OK, Comment: "System locale " + c.Name + " already set"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "System locale " + c.Name + " needs to be set"}
	}
	ok, err := c.Env.Exec(ctx, "locale.set_locale", nil, c.Name)
	switch {
	case err != nil:
		return fun.Fail("Failed to set system locale: %v", err)
	case !value.Truth(ok):
		return fun.Fail("Failed to set system locale to %s", c.Name)
	}
	return done(c.Name, "Set system locale ")
}

func present(ctx context.Context, c *fun.Call, _ *nameArgs) fun.Ret {
	is, err := c.Env.Exec(ctx, "locale.avail", nil, c.Name)
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
	ok, err := c.Env.Exec(ctx, "locale.gen_locale", nil, c.Name)
	switch {
	case err != nil:
		return fun.Fail("Failed to generate locale %s: %v", c.Name, err)
	case !value.Truth(ok):
		return fun.Fail("Failed to generate locale %s", c.Name)
	}
	return done(c.Name, "Generated locale ")
}
