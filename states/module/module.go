// Package module is Salt's state module "module": execution functions as
// states.
package module

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// States returns the rows of the state module "module".
func States() fun.Module {
	return fun.Module{Name: "module", Kind: fun.State, Doc: "Call execution functions as states.", Watch: fun.StateFunc(run).State, Specs: specs}
}

// runArgs are the arguments of run and idle.
type runArgs struct {
	_ string `arg:"name,required" doc:"execution function; a label in the new style"`
	_ fun.Kwargs
}

// idle is what wait does while nothing changed.
func idle(context.Context, *fun.Call, *runArgs) fun.Ret { return fun.Ret{Result: fun.OK, Comment: ""} }

// run calls execution functions, in the style that the arguments are in.
// Salt: salt/states/module.py run.
func run(ctx context.Context, c *fun.Call, _ *runArgs) fun.Ret {
	if newStyle(c) {
		return runNew(ctx, c)
	}
	return runOld(ctx, c)
}

// newStyle reports whether each argument is a function: its name has a dot.
func newStyle(c *fun.Call) bool {
	if c.Kw.Len() == 0 {
		return false
	}
	for k := range c.Kw.All() {
		if k != "sfun" && !strings.Contains(value.Str(k), ".") {
			return false
		}
	}
	return true
}

// runOld is the style in which name is the function.
// Salt: salt/states/module.py _legacy_run.
func runOld(ctx context.Context, c *fun.Call) fun.Ret {
	name := c.Name
	_, spec, err := c.Env.Find(fun.Exec, name)
	if err != nil {
		var missing *fun.NotFoundError
		if errors.As(err, &missing) && missing.Hint() != "" {
			c.Env.Warnf(c.Low.Pos, "unknown execution function %q: %s", name, missing.Hint())
		}
		return fun.Fail("Module function %s is not available", name)
	}
	if c.Test {
		return fun.Due("Module function %s is set to execute", name)
	}
	args, missing := oldArgs(c, spec)
	if len(missing) > 0 {
		return fun.Fail("The following arguments are missing: %s", strings.Join(missing, " "))
	}
	if spec.VarArg {
		if v, ok := c.Kw.Get("args"); ok {
			l, ok := v.(*value.List)
			if !ok {
				return fun.Fail("'args' must be a list.")
			}
			args.Pos = append(args.Pos, l.Items...)
		}
	}
	if spec.VarKw {
		if v, ok := c.Kw.Get("kwargs"); ok {
			m, ok := v.(*value.Map)
			if !ok {
				return fun.Fail("'kwargs' must be a dict.")
			}
			args.Kw.Update(m)
		}
	}
	warnUnused(c, spec)
	res, err := c.Env.Exec(ctx, name, args.Kw, args.Pos...)
	if err != nil {
		c.Env.Hint(c.Low.Pos, name, err)
		return fun.Fail("Module function %s threw an exception. Exception: %v", name, err)
	}
	ret := fun.Ret{Changes: value.MapOf("ret", res), Comment: fmt.Sprintf("Module function %s executed", name)}
	if good(res) {
		ret.Result = fun.OK
	}
	return ret
}

// oldArgs sorts the state's arguments into the function's declared ones: by
// name, or by m_NAME for names that the state system takes. They are passed by
// position where args follow them.
func oldArgs(c *fun.Call, spec *fun.Spec) (args fun.Args, missing []string) {
	args.Kw = value.NewMap(8)
	_, more := c.Kw.Get("args")
	for i := range spec.Args {
		a := &spec.Args[i]
		v, ok := oldArg(c, a.Name)
		switch {
		case ok && spec.VarArg && more && !a.KwOnly:
			args.Pos = append(args.Pos, v)
		case ok:
			args.Kw.Set(a.Name, v)
		case a.Required:
			missing = append(missing, rename(a.Name))
		case spec.VarArg && more && !a.KwOnly:
			args.Pos = append(args.Pos, value.Clone(a.Default))
		}
	}
	return args, missing
}

func oldArg(c *fun.Call, name string) (value.Value, bool) {
	if r := rename(name); r != name {
		return c.Kw.Get(r)
	}
	if v, ok := c.Kw.Get(name); ok {
		return v, true
	}
	// Names such as timeout are arguments of the function, too.
	v, ok := c.Low.Low.Get(name)
	return v, ok && !reserved[name]
}

// rename is what the state calls a function's argument: names that the state
// system takes have m_ in front.
func rename(name string) string {
	switch name {
	case "name", "fun", "names", "state", "saltenv":
		return "m_" + name
	}
	return name
}

// warnUnused warns of arguments that go nowhere, which Salt drops silently.
func warnUnused(c *fun.Call, spec *fun.Spec) {
	names := []string{"returner"}
	if spec.VarArg {
		names = append(names, "args")
	}
	if spec.VarKw {
		names = append(names, "kwargs")
	}
	for i := range spec.Args {
		names = append(names, rename(spec.Args[i].Name))
	}
	for k := range c.Kw.All() {
		name, hint := value.Str(k), ""
		if slices.Contains(names, name) || strings.HasPrefix(name, "__") || name == "sfun" {
			continue
		}
		if spec.VarKw {
			hint = "; give it in kwargs"
		}
		c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("module.run: the argument %q is not passed to %s%s%s", name, c.Name, hint, source.DidYouMean(name, names))})
	}
}

// reserved are keys of a low chunk that are never a function's argument.
var reserved = map[string]bool{
	"state": true, "fun": true, "name": true, "names": true, "saltenv": true, "order": true, "__id__": true, "__sls__": true, "__env__": true, "name_order": true,
	"require": true, "watch": true, "onchanges": true, "onfail": true, "prereq": true, "listen": true, "use": true,
}

// good judges a return: a dict's retcode or result, at any depth, and a
// boolean. Salt: salt/states/module.py _get_result.
func good(v value.Value) bool {
	switch v := v.(type) {
	case bool:
		return v
	case *value.Map:
		if rc, ok := v.Get("retcode"); ok && !isZero(rc) {
			return false
		}
		if r, ok := v.At("result").(bool); ok {
			return r
		}
		return goodDeep(v, 0)
	}
	return true
}

func isZero(v value.Value) bool {
	switch v := v.(type) {
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}

// goodDeep looks for a result that is False.
func goodDeep(m *value.Map, depth int) bool {
	if depth > maxDepth {
		return true
	}
	for k, v := range m.All() {
		if k == "result" && v == false {
			return false
		}
		if inner, ok := v.(*value.Map); ok && !goodDeep(inner, depth+1) {
			return false
		}
	}
	return true
}

// maxDepth bounds the search in returns.
const maxDepth = 200

// runNew is the style in which each argument is a function with its arguments.
// A name may have :anything behind it, so that a function can be called twice.
// Salt: salt/states/module.py _run.
func runNew(ctx context.Context, c *fun.Call) fun.Ret {
	names := value.NewList()
	var missing, tests []string
	for k := range c.Kw.All() {
		if k == "sfun" {
			continue
		}
		names.Append(k)
		name, _, _ := strings.Cut(value.Str(k), ":")
		if _, _, err := c.Env.Find(fun.Exec, name); err != nil {
			missing = append(missing, name)
		} else if c.Test {
			tests = append(tests, name)
		}
	}
	if c.Low.Low.Has("sfun") { // called by a watch
		names.Append("sfun")
		if c.Low.Low.Has("__reqs__") {
			names.Append("__reqs__")
		}
	}
	ret := fun.Ret{Result: fun.WouldChange, Extra: value.MapOf("name", names)}
	if len(missing) > 0 || len(tests) > 0 {
		var parts []string
		if len(missing) > 0 {
			ret.Result = fun.Failed
			parts = append(parts, fmt.Sprintf("Unavailable function%s: %s.", plural(missing), strings.Join(missing, ", ")))
		}
		if len(tests) > 0 {
			parts = append(parts, fmt.Sprintf("Function%s %s to be executed.", plural(tests), strings.Join(tests, ", ")))
		}
		ret.Comment = strings.Join(parts, " ")
		return ret
	}
	changes := value.NewMap(c.Kw.Len())
	var done, failed []string
	for k, v := range c.Kw.All() {
		if k == "sfun" {
			continue
		}
		label := value.Str(k)
		name, _, _ := strings.Cut(label, ":")
		got, err := callNew(ctx, c, name, v)
		m, isMap := got.(*value.Map)
		switch {
		case err != nil:
			if !isCallFault(err) {
				c.Env.Hint(c.Low.Pos, name, err)
				return fun.Raise(err)
			}
			failed = append(failed, fmt.Sprintf("'%s' failed: %v", label, err))
			continue
		case got == false:
			failed = append(failed, fmt.Sprintf("'%s': False", label))
			continue
		case isMap && m.Has("retcode") && !isZero(m.At("retcode")):
			failed = append(failed, fmt.Sprintf("'%s' failed: %s", label, comment(m, "(error message N/A)")))
			continue
		case isMap:
			done = append(done, label+": "+comment(m, "Success"))
		default:
			done = append(done, label+": "+value.Str(got))
		}
		changes.Set(k, got)
	}
	ret.Changes, ret.Comment, ret.Result = changes, strings.Join(append(failed, done...), ", "), fun.OK
	if len(failed) > 0 {
		ret.Result = fun.Failed
	}
	return ret
}

// isCallFault reports whether err says that the function does not take its
// arguments: Salt's SaltInvocationError and Python's TypeError. Others end the
// state.
func isCallFault(err error) bool {
	var (
		refused *fun.InvocationError
		wrong   *fun.ArgError
		py      *value.PyError
	)
	return errors.As(err, &refused) || errors.As(err, &wrong) || errors.As(err, &py) && py.Type == "TypeError"
}

func comment(m *value.Map, otherwise string) string {
	if v, ok := m.Get("comment"); ok {
		return value.Str(v)
	}
	return otherwise
}

// plural is what Salt puts behind "function" for several of them: its texts
// have the condition itself there, and users' tools match them.
func plural(names []string) string {
	if len(names) > 1 {
		return "True"
	}
	return ""
}

// callNew calls one function of the new style.
func callNew(ctx context.Context, c *fun.Call, name string, v value.Value) (value.Value, error) {
	_, spec, err := c.Env.Find(fun.Exec, name)
	if err != nil {
		return nil, err
	}
	args, err := newArgs(spec, v)
	if err != nil {
		return nil, err
	}
	return c.Env.Exec(ctx, name, args.Kw, args.Pos...)
}

// newArgs reads the arguments of one function: a list of values and of dicts
// of named ones, a dict, or a single value. Named ones that the function
// requires follow the values by position.
// Salt: salt/utils/functools.py call_function.
func newArgs(spec *fun.Spec, v value.Value) (fun.Args, error) {
	args := fun.Args{Kw: value.NewMap(4)}
	required := value.NewMap(4)
	for _, name := range spec.Required() {
		required.Set(name, true)
	}
	byName := value.NewMap(4)
	named := func(m *value.Map) {
		for k, x := range m.All() {
			if required.Has(k) {
				byName.Set(k, x)
			} else {
				args.Kw.Set(k, x)
			}
		}
	}
	switch v := v.(type) {
	case nil:
	case *value.List:
		for _, x := range v.Items {
			if m, ok := x.(*value.Map); ok {
				named(m)
			} else {
				args.Pos = append(args.Pos, x)
			}
		}
	case *value.Map:
		named(v)
	default:
		args.Pos = append(args.Pos, v)
	}
	given := len(args.Pos)
	var missing []string
	n := 0
	for k := range required.All() {
		if x, ok := byName.Get(k); ok {
			args.Pos = append(args.Pos, x)
		} else if n >= given {
			missing = append(missing, value.Str(k))
		}
		n++
	}
	if len(missing) > 0 && len(args.Pos) < required.Len() {
		return args, &fun.InvocationError{Msg: "Missing arguments: " + strings.Join(missing, ", ")}
	}
	return args, nil
}
