// Package event is Salt's state module "event".
package event

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "event".
func States() fun.Module {
	return fun.Module{Name: "event", Kind: fun.State, Doc: "Send events.", Watch: fun.StateFunc(send).State, Specs: specs}
}

// idle is what wait does while nothing changed.
func idle(context.Context, *fun.Call, *waitArgs) fun.Ret { return fun.Ret{Result: fun.OK, Comment: ""} }

// send sends an event. Salt: salt/states/event.py send, wait, mod_watch.
func send(ctx context.Context, c *fun.Call, a *sendArgs) fun.Ret {
	change := value.MapOf("tag", c.Name, "data", a.Data)
	var changes value.Value
	if a.ShowChanged {
		changes = change
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Changes: changes, Comment: "Event would have been fired"}
	}
	kw := value.MapOf(
		"data", a.Data, "preload", a.Preload, "with_env", a.WithEnv, "with_grains", a.WithGrains, "with_pillar", a.WithPillar,
	)
	kw.Update(a.Rest.Map)
	res, err := c.Env.Exec(ctx, "event.send", kw, c.Name)
	if err != nil {
		return fun.Ret{Comment: err.Error()}
	}
	ret := fun.Ret{Changes: changes, Comment: "Event fired"}
	if value.Truth(res) {
		ret.Result = fun.OK
	}
	return ret
}
