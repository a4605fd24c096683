// Package sys is Salt's execution module "sys": what functions there are.
package sys

import (
	"context"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/value"
)

// Module returns the execution module "sys".
func Module() fun.Module {
	return fun.Module{Name: "sys", Kind: fun.Exec, Doc: "List functions and their documentation.", Specs: specs}
}

// chosen returns the functions that patterns name: "file.managed", "file" for
// all of a module, globs; all where there are none.
func chosen(t *fun.Table, k fun.Kind, patterns []value.Value) []string {
	all := t.Names(k)
	for _, m := range t.Modules(k) {
		if mod, ok := t.Module(k, m); ok && mod.Watch != nil {
			all = append(all, m+".mod_watch")
		}
	}
	sort.Strings(all)
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

// specOf returns the row of a function that chosen returned. State modules have one for
// mod_watch, too.
func specOf(t *fun.Table, k fun.Kind, name string) *fun.Spec {
	if _, spec, ok := t.Lookup(k, name); ok {
		return spec
	}
	module, _, _ := strings.Cut(name, ".")
	spec := &fun.Spec{Name: "mod_watch", Doc: "Run in place of a state whose watch requisite changed.", VarKw: true}
	for _, arg := range append([]string{"name", "sfun"}, watchArgs(module)...) {
		spec.Args = append(spec.Args, fun.Arg{Name: arg, Required: arg == "name"})
	}
	return spec
}

// watchArgs returns the further arguments of mod_watch: those of the states that it
// acts for. Salt: states/NAME.py mod_watch.
func watchArgs(module string) []string {
	switch module {
	case "mount":
		return []string{"user"}
	case "service":
		return []string{"sig", "reload", "full_restart", "init_delay", "force"}
	case "supervisord":
		return []string{"restart", "update", "user", "conf_file", "bin_env"}
	}
	return nil
}

func functionsOf(c *fun.Call, patterns fun.Varargs, k fun.Kind) (fun.Result, error) {
	return fun.Value(value.Strings(chosen(c.Env.Table, k, patterns)...))
}

func modulesOf(c *fun.Call, patterns fun.Varargs, k fun.Kind) (fun.Result, error) {
	l := value.NewList()
	for _, n := range c.Env.Table.Modules(k) {
		ok := len(patterns) == 0
		for _, p := range patterns {
			ok = ok || value.Fnmatch(value.Str(p), n)
		}
		if ok {
			l.Append(n)
		}
	}
	return fun.Value(l)
}

func docOf(c *fun.Call, patterns fun.Varargs, k fun.Kind) (fun.Result, error) {
	m := value.NewMap(16)
	for _, n := range chosen(c.Env.Table, k, patterns) {
		m.Set(n, specOf(c.Env.Table, k, n).Doc)
	}
	return fun.Value(m)
}

// argspecOf returns Salt's shape: args, defaults of the last of them, varargs,
// kwargs. Salt: salt/utils/args.py argspec_report.
func argspecOf(c *fun.Call, given *argspecArgs, k fun.Kind) (fun.Result, error) {
	patterns := given.More
	if name := given.Module; name != "" {
		patterns = append(fun.Varargs{name}, patterns...)
	}
	m := value.NewMap(16)
	for _, n := range chosen(c.Env.Table, k, patterns) {
		spec := specOf(c.Env.Table, k, n)
		var args, defaults value.Value
		names, defs := value.NewList(), value.NewList()
		if k == fun.State && !slices.ContainsFunc(spec.Args, func(a fun.Arg) bool { return a.Name == "name" }) {
			names.Append("name") // which every state has
		}
		for _, a := range spec.Args[:spec.Positional()] {
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

// functionsArgs are the arguments of functions, runnerFunctions and stateFunctions.
type functionsArgs struct {
	More fun.Varargs
	_    fun.Kwargs
}

func functions(_ context.Context, c *fun.Call, a *functionsArgs) (fun.Result, error) {
	return functionsOf(c, a.More, fun.Exec)
}

func runnerFunctions(_ context.Context, c *fun.Call, a *functionsArgs) (fun.Result, error) {
	return functionsOf(c, a.More, fun.Runner)
}

func stateFunctions(_ context.Context, c *fun.Call, a *functionsArgs) (fun.Result, error) {
	return functionsOf(c, a.More, fun.State)
}

// modulesArgs are the arguments of modules, runners, stateModules, doc, runnerDoc, stateDoc and listRenderers.
type modulesArgs struct {
	More fun.Varargs
}

func modules(_ context.Context, c *fun.Call, a *modulesArgs) (fun.Result, error) {
	return modulesOf(c, a.More, fun.Exec)
}

func runners(_ context.Context, c *fun.Call, a *modulesArgs) (fun.Result, error) {
	return modulesOf(c, a.More, fun.Runner)
}

func stateModules(_ context.Context, c *fun.Call, a *modulesArgs) (fun.Result, error) {
	return modulesOf(c, a.More, fun.State)
}

func doc(_ context.Context, c *fun.Call, a *modulesArgs) (fun.Result, error) {
	return docOf(c, a.More, fun.Exec)
}

func runnerDoc(_ context.Context, c *fun.Call, a *modulesArgs) (fun.Result, error) {
	return docOf(c, a.More, fun.Runner)
}

func stateDoc(_ context.Context, c *fun.Call, a *modulesArgs) (fun.Result, error) {
	return docOf(c, a.More, fun.State)
}

// argspecArgs are the arguments of argspec, runnerArgspec and stateArgspec.
type argspecArgs struct {
	moduleArgs
	More fun.Varargs
}

func argspec(_ context.Context, c *fun.Call, a *argspecArgs) (fun.Result, error) {
	return argspecOf(c, a, fun.Exec)
}

func runnerArgspec(_ context.Context, c *fun.Call, a *argspecArgs) (fun.Result, error) {
	return argspecOf(c, a, fun.Runner)
}

func stateArgspec(_ context.Context, c *fun.Call, a *argspecArgs) (fun.Result, error) {
	return argspecOf(c, a, fun.State)
}

func reloadModules(context.Context, *fun.Call, *fun.NoArgs) (fun.Result, error) {
	return fun.Value(true)
}

func flag(b bool) value.Value {
	if b {
		return true
	}
	return nil
}

func listRenderers(_ context.Context, c *fun.Call, a *modulesArgs) (fun.Result, error) {
	l := value.NewList()
	for _, n := range render.Renderers() {
		ok := len(a.More) == 0
		for _, p := range a.More {
			ok = ok || value.Fnmatch(value.Str(p), n)
		}
		if ok {
			l.Append(n)
		}
	}
	return fun.Value(l)
}
