// Package module is Salt's state module "module": execution functions as
// states.
package module

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// States returns the rows of the state module "module".
func States() fun.Module {
	name := []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "the execution function, or a label in the new style"}}
	return fun.Module{
		Name: "module", Kind: fun.State, Doc: "Execution functions as states.",
		Watch: run,
		Specs: []fun.Spec{
			{
				Name: "run", Always: true, Src: "states/module.py run", Args: name, VarKw: true, State: run,
				Doc: "Call execution functions.\nOld style: name is the function, the other arguments are its own, or args and kwargs give them;\nreturner hands its return on. New style (use_superseded: [module.run]): each argument is a function with a list of arguments.",
			},
			{Name: "wait", Doc: "Call an execution function only when a watched state changed.", Src: "states/module.py wait", Args: name, VarKw: true, State: idle},
		},
	}
}

// idle is what wait does while nothing changed.
func idle(context.Context, *fun.Call) fun.Ret { return fun.Ret{Result: fun.OK, Comment: ""} }

// run calls execution functions in the style that the configuration or the
// arguments say. Salt: salt/states/module.py run.
func run(ctx context.Context, c *fun.Call) fun.Ret {
	if newStyle(c) {
		return runNew(ctx, c)
	}
	return runOld(ctx, c)
}

// newStyle reports whether the new style is asked for: by use_superseded, or
// by a name that is no function beside arguments that are.
func newStyle(c *fun.Call) bool {
	if l := c.Env.Opts.List("use_superseded"); l != nil {
		for _, x := range l.Items {
			if value.Str(x) == "module.run" {
				return true
			}
		}
	}
	if _, _, ok := c.Env.Table.Lookup(fun.Exec, c.Name); ok {
		return false
	}
	functions := 0
	for k := range c.Kw.All() {
		if _, _, ok := c.Env.Table.Lookup(fun.Exec, value.Str(k)); ok {
			functions++
		}
	}
	return functions > 0
}

// runOld is the style in which name is the function.
// Salt: salt/states/module.py _legacy_run.
func runOld(ctx context.Context, c *fun.Call) fun.Ret {
	name := c.Name
	mod, spec, ok := c.Env.Table.Lookup(fun.Exec, name)
	if !ok || mod.Avail != nil && !avail(mod, c.Env) {
		if n := c.Env.Table.Nearest(fun.Exec, name); n != "" && c.Env.Warn != nil {
			c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("there is no execution function %q (did you mean %q?)", name, n)})
		}
		return fun.Fail("Module function %s is not available", name)
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("Module function %s is set to execute", name)}
	}
	args, missing := oldArgs(c, spec)
	if len(missing) > 0 {
		return fun.Fail("The following arguments are missing: %s", strings.Join(missing, " "))
	}
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, name, args)
	if err != nil {
		return fun.Fail("Module function %s threw an exception. Exception: %v", name, err)
	}
	ret := fun.Ret{Changes: value.MapOf("ret", res.Value), Comment: fmt.Sprintf("Module function %s executed", name)}
	if good(res) {
		ret.Result = fun.OK
	}
	return ret
}

func avail(m *fun.Module, env *fun.Env) bool {
	ok, _ := m.Avail(env)
	return ok
}

// oldArgs sorts the state's arguments into the function's: by name, with args
// and kwargs for the rest, m_NAME for names that the state system takes.
func oldArgs(c *fun.Call, spec *fun.Spec) (args fun.Args, missing []string) {
	args.Kw = value.NewMap(8)
	given := func(name string) (value.Value, bool) {
		if v, ok := c.Kw.Get("m_" + name); ok {
			return v, true
		}
		if name == "name" {
			return nil, false
		}
		if v, ok := c.Kw.Get(name); ok {
			return v, true
		}
		// Names such as timeout are arguments of the function, too.
		v, ok := c.Low.Low.Get(name)
		return v, ok && !reserved[name]
	}
	if l, ok := c.Kw.At("args").(*value.List); ok && !declared(spec, "args") {
		args.Pos = append(args.Pos, l.Items...)
	}
	for i := range spec.Args {
		a := &spec.Args[i]
		if i < len(args.Pos) {
			continue
		}
		v, ok := given(a.Name)
		switch {
		case ok:
			args.Kw.Set(a.Name, v)
		case a.Required:
			missing = append(missing, a.Name)
		}
	}
	if m, ok := c.Kw.At("kwargs").(*value.Map); ok {
		for k, v := range m.All() {
			args.Kw.Set(k, v)
		}
		kept := missing[:0]
		for _, n := range missing {
			if !args.Kw.Has(n) {
				kept = append(kept, n)
			}
		}
		missing = kept
	}
	if spec.VarKw {
		for k, v := range c.Kw.All() {
			name := value.Str(k)
			if name == "args" || name == "kwargs" || name == "returner" || strings.HasPrefix(name, "m_") {
				continue
			}
			if !args.Kw.Has(k) {
				args.Kw.Set(k, v)
			}
		}
	}
	return args, missing
}

// reserved are keys of a low chunk that are never a function's argument.
var reserved = map[string]bool{
	"state": true, "fun": true, "name": true, "order": true, "__id__": true, "__sls__": true, "__env__": true, "name_order": true,
	"require": true, "watch": true, "onchanges": true, "onfail": true, "prereq": true, "listen": true, "use": true,
}

func declared(spec *fun.Spec, name string) bool {
	for i := range spec.Args {
		if spec.Args[i].Name == name {
			return true
		}
	}
	return false
}

// good judges a return: its return code, a False, a dict that says failure.
// Salt: salt/states/module.py _get_result.
func good(res fun.Result) bool {
	if res.Retcode != 0 {
		return false
	}
	switch v := res.Value.(type) {
	case bool:
		return v
	case *value.Map:
		if m := v.Map("changes"); m != nil {
			return goodDict(m) && goodDict(v)
		}
		return goodDict(v)
	}
	return true
}

func goodDict(m *value.Map) bool {
	if rc, ok := m.Get("retcode"); ok {
		n, isInt := value.AsInt(rc)
		return isInt && n == 0
	}
	if r, ok := m.Get("result"); ok {
		return value.Truth(r)
	}
	return true
}

// runNew is the style in which each argument is a function with its arguments.
func runNew(ctx context.Context, c *fun.Call) fun.Ret {
	if c.Kw.Len() == 0 {
		return fun.Fail("No function provided.")
	}
	var unknown []string
	for k := range c.Kw.All() {
		if _, _, ok := c.Env.Table.Lookup(fun.Exec, value.Str(k)); !ok {
			unknown = append(unknown, value.Str(k))
		}
	}
	if len(unknown) > 0 {
		return fun.Fail("Unavailable function%s: %s.", plural(len(unknown)), strings.Join(unknown, ", "))
	}
	var names []string
	for k := range c.Kw.All() {
		names = append(names, value.Str(k))
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("Function%s %s to be executed.", plural(len(names)), strings.Join(names, ", "))}
	}
	changes := value.NewMap(len(names))
	var done, failed []string
	for k, v := range c.Kw.All() {
		name := value.Str(k)
		res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, name, newArgs(v))
		switch {
		case err != nil:
			failed = append(failed, fmt.Sprintf("'%s' failed: %v", name, err))
		default:
			changes.Set(name, res.Value)
			if good(res) {
				done = append(done, fmt.Sprintf("%s: %s", name, successText(res.Value)))
			} else {
				failed = append(failed, fmt.Sprintf("'%s' failed: %s", name, failText(res.Value)))
			}
		}
	}
	ret := fun.Ret{Comment: strings.Join(append(failed, done...), "\n")}
	if changes.Len() > 0 {
		ret.Changes = changes
	}
	if len(failed) == 0 {
		ret.Result = fun.OK
	}
	return ret
}

func successText(v value.Value) string {
	if m, ok := v.(*value.Map); ok {
		if s, ok := m.At("comment").(string); ok {
			return s
		}
	}
	return "Success"
}

func failText(v value.Value) string {
	if m, ok := v.(*value.Map); ok {
		if s, ok := m.At("comment").(string); ok {
			return s
		}
	}
	return value.Str(v)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// newArgs reads the arguments of one function: a list of values, of one-key
// dicts, or a single value.
func newArgs(v value.Value) fun.Args {
	args := fun.Args{Kw: value.NewMap(4)}
	switch v := v.(type) {
	case nil:
	case *value.List:
		for _, x := range v.Items {
			m, ok := x.(*value.Map)
			switch {
			case ok && m.Len() == 1 && m.Has("args"):
				if l := m.List("args"); l != nil {
					args.Pos = append(args.Pos, l.Items...)
					continue
				}
				args.Kw.Update(m)
			case ok:
				args.Kw.Update(m)
			default:
				args.Pos = append(args.Pos, x)
			}
		}
	case *value.Map:
		args.Kw.Update(v)
	default:
		args.Pos = append(args.Pos, v)
	}
	return args
}
