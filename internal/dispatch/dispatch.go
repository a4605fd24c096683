// Package dispatch calls functions by name: it looks one up in the table,
// binds the arguments by the function's row, and calls it.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"brine/internal/fun"
	"brine/internal/source"
	"brine/internal/value"
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
	mod, spec, err := i.Find(kind, name)
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
		return i.state(ctx, c)
	}
	return i.call(ctx, name, c)
}

// Find returns the module and row of a function, or a *fun.NotFoundError that
// tells whether its module cannot serve here and which name is nearest.
func (i *Invoker) Find(kind fun.Kind, name string) (*fun.Module, *fun.Spec, error) {
	mod, spec, ok := i.env.Table.Lookup(kind, name)
	if !ok {
		return nil, nil, &fun.NotFoundError{Kind: kind, Name: name, Nearest: i.env.Table.Nearest(kind, name)}
	}
	if mod.Avail != nil {
		if ok, why := mod.Avail(i.env); !ok {
			return nil, nil, &fun.NotFoundError{Kind: kind, Name: name, Reason: why}
		}
	}
	return mod, spec, nil
}

// call runs an execution, runner or wheel function. A panic in it is a fault
// of brine's and becomes an error, so that one function cannot end a run.
func (i *Invoker) call(ctx context.Context, name string, c *fun.Call) (res fun.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			i.env.Log.Debug("panic in a function", "fun", name, "panic", p, "stack", string(debug.Stack()))
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

// Bind binds args to spec by Python's rules: positional ones in order, keyword
// ones by name, defaults for the rest.
//
// For a state function, arguments that only the state system reads (require,
// order and so on) are left out, and unknown ones are a warning, since Salt
// accepts them in silence.
func (i *Invoker) Bind(mod *fun.Module, spec *fun.Spec, args fun.Args) (*fun.Call, error) {
	c := &fun.Call{Mod: mod, Spec: spec, Args: value.NewMap(len(spec.Args)), Kw: value.NewMap(0), Env: i.env}
	fail := func(format string, a ...any) (*fun.Call, error) {
		return nil, &fun.ArgError{Name: mod.Name + "." + spec.Name, Msg: fmt.Sprintf(format, a...), Spec: spec}
	}
	if n := len(args.Pos); n > len(spec.Args) {
		if !spec.VarArg {
			return fail("%s", tooMany(spec, n))
		}
		c.Pos = args.Pos[len(spec.Args):]
	}
	var missing []string
	for n := range spec.Args {
		a := &spec.Args[n]
		v, byName := args.Kw.Get(a.Name)
		switch {
		case n < len(args.Pos):
			if byName {
				return fail("got multiple values for argument '%s'", a.Name)
			}
			v = args.Pos[n]
		case !byName && a.Required:
			missing = append(missing, "'"+a.Name+"'")
			continue
		case !byName:
			// Defaults are shared by all calls, so a mutable one is copied.
			v = value.Clone(a.Default)
		}
		c.Args.Set(a.Name, v)
	}
	for k, v := range args.Kw.All() {
		name, _ := k.(string)
		if c.Args.Has(name) {
			continue
		}
		if mod.Kind == fun.State {
			if Internal(name) {
				continue
			}
			i.unknownArg(mod, spec, args.Kw, name)
		} else if !spec.VarKw {
			if len(missing) > 0 {
				break
			}
			return nil, &fun.ArgError{
				Name: mod.Name + "." + spec.Name, Spec: spec, Nearest: nearestArg(spec, name),
				Msg: fmt.Sprintf("got an unexpected keyword argument '%s'", name),
			}
		}
		c.Kw.Set(k, v)
	}
	if len(missing) > 0 {
		return fail("%s", value.MissingArguments(missing))
	}
	if mod.Kind == fun.State {
		if n, ok := args.Kw.Get("name"); ok {
			c.Name = value.Str(n)
		}
	}
	return c, nil
}

// nearestArg returns the argument of spec that was likely meant by name, or "".
func nearestArg(spec *fun.Spec, name string) string {
	names := make([]string, len(spec.Args))
	for n := range spec.Args {
		names[n] = spec.Args[n].Name
	}
	near, _ := source.Nearest(name, names)
	return near
}

// unknownArg warns of an argument that a state function does not have. One
// that takes any argument is warned of only what looks like a slip.
func (i *Invoker) unknownArg(mod *fun.Module, spec *fun.Spec, kw *value.Map, name string) {
	if i.env.Warn == nil || spec.Hands {
		return
	}
	names := append([]string(nil), requisiteNames...)
	for n := range spec.Args {
		names = append(names, spec.Args[n].Name)
	}
	near := nearest(name, names)
	if spec.VarKw && near == "" {
		return
	}
	where := ""
	if p := kw.Pos(name); !p.IsZero() {
		where = p.String()
	}
	i.env.Warn(fun.Warning{Where: where, Text: fmt.Sprintf("%s.%s has no argument %q%s", mod.Name, spec.Name, name, near)})
}

func tooMany(spec *fun.Spec, given int) string {
	required := 0
	for n := range spec.Args {
		if spec.Args[n].Required {
			required++
		}
	}
	takes := fmt.Sprintf("takes %d positional argument%s", len(spec.Args), value.Plural(len(spec.Args)))
	if required < len(spec.Args) {
		takes = fmt.Sprintf("takes from %d to %d positional arguments", required, len(spec.Args))
	}
	if given == 1 {
		return takes + " but 1 was given"
	}
	return fmt.Sprintf("%s but %d were given", takes, given)
}

// IsArgError reports whether err says that the arguments did not fit.
func IsArgError(err error) bool {
	var a *fun.ArgError
	return errors.As(err, &a)
}
