// Package sys is Salt's execution module "sys": what functions there are.
package sys

import (
	"context"
	"slices"
	"sort"
	"strings"

	"brine/internal/fun"
	"brine/internal/render"
	"brine/internal/value"
)

// Module returns the rows of the execution module "sys".
func Module() fun.Module {
	list := func(name, doc string, fn fun.ExecFn) fun.Spec {
		return fun.Spec{Name: name, Doc: doc, Src: "modules/sysmod.py " + name, VarArg: true, Fn: fn}
	}
	kinds := func(k fun.Kind, fn func(fun.Kind) fun.ExecFn) fun.ExecFn { return fn(k) }
	return fun.Module{
		Name: "sys", Kind: fun.Exec, Doc: "What functions there are.",
		Specs: []fun.Spec{
			list("argspec", "Return the arguments of functions.", kinds(fun.Exec, argspec)),
			list("doc", "Return the documentation of functions.", kinds(fun.Exec, doc)),
			list("list_functions", "List the execution functions.", kinds(fun.Exec, functions)),
			list("list_modules", "List the execution modules.", kinds(fun.Exec, modules)),
			list("list_renderers", "List the renderers.", listRenderers),
			list("list_runner_functions", "List the runner functions.", kinds(fun.Runner, functions)),
			list("list_runners", "List the runner modules.", kinds(fun.Runner, modules)),
			list("list_state_functions", "List the state functions.", kinds(fun.State, functions)),
			list("list_state_modules", "List the state modules.", kinds(fun.State, modules)),
			{Name: "reload_modules", Doc: "Return True: functions are looked up at each call.", Src: "modules/sysmod.py reload_modules", Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(true) }},
			list("runner_argspec", "Return the arguments of runner functions.", kinds(fun.Runner, argspec)),
			list("runner_doc", "Return the documentation of runner functions.", kinds(fun.Runner, doc)),
			list("state_argspec", "Return the arguments of state functions.", kinds(fun.State, argspec)),
			list("state_doc", "Return the documentation of state functions.", kinds(fun.State, doc)),
		},
	}
}

// chosen returns the functions that patterns name: "file.managed", "file" for
// all of a module, globs; all where there are none.
func chosen(t *fun.Table, k fun.Kind, patterns []value.Value) []string {
	all := t.Names(k)
	if len(patterns) == 0 {
		return all
	}
	var out []string
	seen := map[string]bool{}
	for _, p := range patterns {
		pat := value.Str(p)
		for _, n := range all {
			if !seen[n] && (n == pat || strings.HasPrefix(n, strings.TrimSuffix(pat, ".")+".") || value.Fnmatch(pat, n)) {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	sort.Strings(out)
	return out
}

func functions(k fun.Kind) fun.ExecFn {
	return func(_ context.Context, c *fun.Call) (fun.Result, error) {
		return fun.Value(value.Strings(chosen(c.Env.Table, k, c.Pos)...))
	}
}

func modules(k fun.Kind) fun.ExecFn {
	return func(_ context.Context, c *fun.Call) (fun.Result, error) {
		l := value.NewList()
		for _, n := range c.Env.Table.Modules(k) {
			ok := len(c.Pos) == 0
			for _, p := range c.Pos {
				ok = ok || value.Fnmatch(value.Str(p), n)
			}
			if ok {
				l.Append(n)
			}
		}
		return fun.Value(l)
	}
}

func doc(k fun.Kind) fun.ExecFn {
	return func(_ context.Context, c *fun.Call) (fun.Result, error) {
		m := value.NewMap(16)
		for _, n := range chosen(c.Env.Table, k, c.Pos) {
			_, spec, _ := c.Env.Table.Lookup(k, n)
			m.Set(n, spec.Doc)
		}
		return fun.Value(m)
	}
}

// argspec returns Salt's shape: args, defaults of the last of them, varargs,
// kwargs. Salt: salt/utils/args.py argspec_report.
func argspec(k fun.Kind) fun.ExecFn {
	return func(_ context.Context, c *fun.Call) (fun.Result, error) {
		m := value.NewMap(16)
		for _, n := range chosen(c.Env.Table, k, c.Pos) {
			_, spec, _ := c.Env.Table.Lookup(k, n)
			var args, defaults value.Value
			names, defs := value.NewList(), value.NewList()
			if k == fun.State && !slices.ContainsFunc(spec.Args, func(a fun.Arg) bool { return a.Name == "name" }) {
				names.Append("name") // which every state has
			}
			for _, a := range spec.Args {
				names.Append(a.Name)
				if !a.Required {
					defs.Append(value.Clone(a.Default))
				}
			}
			if names.Len() > 0 {
				args = names
			}
			if defs.Len() > 0 {
				defaults = defs
			}
			m.Set(n, value.MapOf("args", args, "defaults", defaults, "varargs", flag(spec.VarArg), "kwargs", flag(spec.VarKw)))
		}
		return fun.Value(m)
	}
}

func flag(b bool) value.Value {
	if b {
		return true
	}
	return nil
}

func listRenderers(_ context.Context, c *fun.Call) (fun.Result, error) {
	l := value.NewList()
	for _, n := range render.Renderers() {
		ok := len(c.Pos) == 0
		for _, p := range c.Pos {
			ok = ok || value.Fnmatch(value.Str(p), n)
		}
		if ok {
			l.Append(n)
		}
	}
	return fun.Value(l)
}
