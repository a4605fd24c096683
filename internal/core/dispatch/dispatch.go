// Package dispatch calls functions by name: it looks one up in the table,
// binds the arguments by the function's row, and calls it.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// An Invoker calls functions of one Env. It is safe for concurrent use.
type Invoker struct{ env *fun.Env }

// New returns the invoker of env; functions come from env.Table at the time of
// each call.
func New(env *fun.Env) *Invoker { return &Invoker{env} }

// Invoke calls the function name ("test.ping") of a kind with args. Errors are
// a *fun.NotFoundError, a *fun.ArgError, or the function's own; a
// *fun.CommandError where calls are nested too deep.
func (i *Invoker) Invoke(ctx context.Context, kind fun.Kind, name string, args fun.Args) (fun.Result, error) {
	if err := ctx.Err(); err != nil {
		return fun.Result{}, err
	}
	mod, spec, err := i.env.Find(kind, name)
	if err != nil {
		return fun.Result{}, err
	}
	c, err := i.Bind(mod, spec, args)
	if err != nil {
		return fun.Result{}, err
	}
	if ctx, err = nest(ctx, name); err != nil {
		return fun.Result{}, err
	}
	if kind == fun.State {
		test := args.Test
		if test == nil && i.env.Opts != nil {
			test = i.env.Opts.At("test")
		}
		c.Test = value.Truth(test)
		return i.state(ctx, c)
	}
	return i.call(ctx, name, c)
}

// call runs an execution, runner or wheel function. A panic in it is a fault
// of brine's and becomes an error, so that one function cannot end a run.
func (i *Invoker) call(ctx context.Context, name string, c *fun.Call) (res fun.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			i.env.Log().Debug("panic in a function", "fun", name, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error in %s: %v", name, p)
		}
	}()
	return c.Spec.Fn(ctx, c)
}

// state runs a state function outside of a run and returns its return as a
// dict with Salt's keys.
func (i *Invoker) state(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ret := c.Spec.State(ctx, c)
	m := value.MapOf("name", ret.Name, "changes", ret.Changes, "result", ret.Result.Value(), "comment", ret.Comment)
	if ret.Name == "" {
		m.Set("name", c.Name)
	}
	if ret.Changes == nil {
		m.Set("changes", value.NewMap(0))
	}
	if ret.Extra != nil {
		m.Update(ret.Extra)
	}
	return fun.Result{Value: m}, nil
}

// IsArgError reports whether err says that the arguments did not fit.
func IsArgError(err error) bool {
	var a *fun.ArgError
	return errors.As(err, &a)
}
