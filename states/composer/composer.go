// Package composer is Salt's state module "composer": the dependencies of PHP
// projects.
package composer

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/composer"
)

// States returns the rows of the state module "composer".
func States() fun.Module {
	return fun.Module{Name: "composer", Kind: fun.State, Doc: "Manage the dependencies of PHP projects with Composer.", Specs: specs}
}

type installedArgs struct {
	of
	AlwaysCheck bool `arg:"always_check" default:"True" doc:"run composer; if false, only where nothing was installed yet"`
	env
}

// installed makes sure that the dependencies of a project are installed.
// Salt: salt/states/composer.py installed.
func installed(ctx context.Context, c *fun.Call, a *installedArgs) fun.Ret {
	did := composer.Installed(c.Env, a.Name)
	if did && !a.AlwaysCheck {
		return fun.Report(fun.OK, nil, "Composer already installed this directory").ResultFirst()
	}
	not := ""
	if !did {
		not = "not "
	}
	return apply(ctx, c, &a.of, a.Env, action{
		name: "install", idle: did, old: "composer install has " + not + "been run in ", due: "composer install will be run in ",
	})
}

type updateArgs struct {
	of
	env
}

// update makes sure that the dependencies of a project are at their newest
// versions.
// Salt: salt/states/composer.py update.
func update(ctx context.Context, c *fun.Call, a *updateArgs) fun.Ret {
	did, old := composer.Installed(c.Env, a.Name), "composer install has not yet been run in "
	if did {
		old = "composer install has been run in "
	}
	return apply(ctx, c, &a.of, a.Env, action{
		name: "update", extra: []string{"--no-progress"}, idle: did, old: old, due: "composer install/update will be run in ",
	})
}

// An action is what composer is to do.
type action struct {
	name     string
	extra    []string
	idle     bool   // it may be that nothing is to be done
	old, due string // of the changes of a dry run, before the directory
}

func apply(ctx context.Context, c *fun.Call, args *of, env value.Value, a action) fun.Ret {
	name := args.Name
	p, err := composer.NewClient(c.Env, &args.Program, &args.Flags, &args.Home, args.User, env, args.Quiet)
	if err != nil {
		return failed(name, err)
	}
	if c.Test {
		// Composer itself may be installed by a state before this one.
		if a.idle && p.Available() {
			out, err := p.Run(ctx, a.name, name, true, append([]string{"--dry-run"}, a.extra...)...)
			if err == nil && composer.Idle(out) {
				return fun.Report(fun.OK, nil, `The state of "`, name, `" is as it is to be.`).ResultFirst()
			}
		}
		return fun.Report(fun.WouldChange, value.MapOf("old", a.old+name, "new", a.due+name), `The state of "`, name, `" will be changed.`).ResultFirst()
	}
	out, err := p.Run(ctx, a.name, name, false, a.extra...)
	switch {
	case err != nil:
		return failed(name, err)
	case p.Quiet:
		return fun.Report(fun.OK, nil, "Composer ", a.name, " completed successfully, output silenced by quiet flag").ResultFirst()
	case a.idle && composer.Idle(out):
		return fun.Report(fun.OK, nil, "Composer ", a.name, " completed successfully").ResultFirst()
	}
	return fun.Report(fun.OK, value.MapOf("stderr", out.Stderr, "stdout", out.Stdout), "Composer ", a.name, " completed successfully").ResultFirst()
}

func failed(name string, err error) fun.Ret {
	return fun.FailedBy(err, "Error executing composer in '"+name+"': ").ResultFirst()
}
