// Package wheel is the wheel functions that mean something without a master.
package wheel

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Key returns the rows of the wheel module "key": without a master, the
// accepted keys are the targets of the roster.
func Key() fun.Module {
	return fun.Module{Name: "key", Kind: fun.Wheel, Doc: "Show the targets of the roster as Salt's accepted keys.", Specs: keySpecs}
}

// Config returns the rows of the wheel module "config".
func Config() fun.Module {
	return fun.Module{Name: "config", Kind: fun.Wheel, Doc: "Show the configuration of this controller.", Specs: configSpecs}
}

// Error returns the rows of the wheel module "error", which are those of the
// runner.
func Error() fun.Module {
	return fun.Module{Name: "error", Kind: fun.Wheel, Doc: "Fail on purpose, for testing.", Specs: errorSpecs}
}

// Minions returns the rows of the wheel module "minions".
func Minions() fun.Module {
	return fun.Module{Name: "minions", Kind: fun.Wheel, Doc: "Show the targets of the roster as Salt's minions.", Specs: minionsSpecs}
}

func configValues(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(c.Env.Opts)
}

func connected(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	l, err := ids(ctx, c, "*")
	return fun.Result{Value: l}, err
}

func ids(ctx context.Context, c *fun.Call, glob string) (*value.List, error) {
	if c.Env.Fleet == nil {
		return value.NewList(), nil
	}
	found, err := c.Env.Fleet.Match(ctx, glob, "glob")
	if err != nil {
		return nil, err
	}
	return value.Strings(found...), nil
}

type listArgs struct {
	_     fun.Arguments
	Match string `arg:"match,required" doc:"accepted, unaccepted (pre, un), rejected, denied or all"`
}

// list follows salt/key.py list_status.
func list(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	switch m := a.Match; m {
	case "accepted", "acc":
		l, err := ids(ctx, c, "*")
		if err != nil {
			return fun.Result{}, err
		}
		return fun.Value(value.MapOf("minions", l))
	case "unaccepted", "pre", "un", "unacc":
		return fun.Value(value.MapOf("minions_pre", value.NewList()))
	case "rejected", "rej":
		return fun.Value(value.MapOf("minions_rejected", value.NewList()))
	case "denied", "den":
		return fun.Value(value.MapOf("minions_denied", value.NewList()))
	case "all":
		return listAll(ctx, c, &fun.NoArgs{})
	default:
		return fun.Result{}, fun.Errorf("there are keys of the status accepted, unaccepted, rejected, denied and all, not %s", value.Repr(m))
	}
}

func listAll(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	l, err := ids(ctx, c, "*")
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("local", value.NewList(), "minions", l, "minions_pre", value.NewList(),
		"minions_denied", value.NewList(), "minions_rejected", value.NewList()))
}

type nameMatchArgs struct {
	_     fun.Arguments
	Match string `arg:"match,required" doc:"glob"`
}

func nameMatch(ctx context.Context, c *fun.Call, a *nameMatchArgs) (fun.Result, error) {
	l, err := ids(ctx, c, a.Match)
	if err != nil {
		return fun.Result{}, err
	}
	if l.Len() == 0 {
		return fun.Value(value.NewMap(0))
	}
	return fun.Value(value.MapOf("minions", l))
}
