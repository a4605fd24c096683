// Package event is Salt's state module "event".
package event

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// States returns the rows of the state module "event".
func States() fun.Module {
	return fun.Module{Name: "event", Kind: fun.State, Doc: "Send events.", Watch: send, Specs: specs}
}

// idle is what wait does while nothing changed.
func idle(context.Context, *fun.Call) fun.Ret { return fun.Ret{Result: fun.OK, Comment: ""} }

// send sends an event. Salt: salt/states/event.py send, wait, mod_watch.
func send(ctx context.Context, c *fun.Call) fun.Ret {
	change := value.MapOf("tag", c.Name, "data", c.Value("data"))
	var changes value.Value
	if c.Bool("show_changed") {
		changes = change
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Changes: changes, Comment: "Event would have been fired"}
	}
	kw := value.NewMap(8)
	for _, n := range []string{"data", "preload", "with_env", "with_grains", "with_pillar"} {
		kw.Set(n, c.Value(n))
	}
	kw.Update(c.Kw)
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "event.send", fun.Args{Pos: []value.Value{c.Name}, Kw: kw})
	if err != nil {
		return fun.Ret{Comment: err.Error()}
	}
	ret := fun.Ret{Changes: changes, Comment: "Event fired"}
	if value.Truth(res.Value) {
		ret.Result = fun.OK
	}
	return ret
}
