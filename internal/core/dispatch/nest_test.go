package dispatch

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brine/internal/core/fun"
)

// A function that calls itself ends with an error that names it, and what is
// called one after the other is not nested.
func TestNested(t *testing.T) {
	t.Parallel()
	env := &fun.Env{}
	calls := 0
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "a", Load: func() fun.Module {
		return fun.Module{Name: "a", Kind: fun.Exec, Specs: []fun.Spec{
			{Name: "ping", Fn: func(ctx context.Context, _ *fun.Call) (fun.Result, error) {
				calls++
				return env.Invoker.Invoke(ctx, fun.Exec, "a.pong", fun.Args{})
			}},
			{Name: "pong", Fn: func(ctx context.Context, _ *fun.Call) (fun.Result, error) {
				return env.Invoker.Invoke(ctx, fun.Exec, "a.ping", fun.Args{})
			}},
			{Name: "row", Fn: func(ctx context.Context, _ *fun.Call) (fun.Result, error) {
				for range 2 * maxNested {
					if _, err := env.Invoker.Invoke(ctx, fun.Exec, "a.leaf", fun.Args{}); err != nil {
						return fun.Result{}, err
					}
				}
				return fun.Value(true)
			}},
			{Name: "leaf", Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(true) }},
		}}
	}}})
	env.Invoker = New(env)
	_, err := env.Invoker.Invoke(t.Context(), fun.Exec, "a.ping", fun.Args{})
	var ce *fun.CommandError
	if !errors.As(err, &ce) || !strings.HasSuffix(err.Error(), "... a.pong -> a.ping -> a.pong -> a.ping -> a.pong -> a.ping") && !strings.HasSuffix(err.Error(), "... a.ping -> a.pong -> a.ping -> a.pong -> a.ping -> a.pong") {
		t.Errorf("%v", err)
	}
	if calls != maxNested/2 {
		t.Errorf("%d calls, want %d", calls, maxNested/2)
	}
	if _, err := env.Invoker.Invoke(t.Context(), fun.Exec, "a.row", fun.Args{}); err != nil {
		t.Error(err)
	}
}
