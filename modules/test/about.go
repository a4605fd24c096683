package test

import (
	"context"
	"path"
	"runtime"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// providerOf returns the name of the file in Salt that a module stands for.
func providerOf(env *fun.Env, module string) string {
	mod, _ := env.Provider(fun.Exec, module)
	if mod == nil {
		return "" // none serves here
	}
	for i := range mod.Specs {
		if file, _, _ := strings.Cut(mod.Specs[i].Src, " "); strings.HasSuffix(file, ".py") && !strings.HasPrefix(file, "salt://") {
			return strings.TrimSuffix(path.Base(file), ".py")
		}
	}
	return module // functions of the user's own
}

type providerArgs struct {
	_      fun.Arguments
	Module string `arg:"module,required" doc:"the module"`
}

func provider(_ context.Context, c *fun.Call, a *providerArgs) (fun.Result, error) {
	return fun.Value(providerOf(c.Env, a.Module))
}

func providers(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	names := c.Env.Table.Modules(fun.Exec)
	m := value.NewMap(len(names))
	for _, n := range names {
		if p := providerOf(c.Env, n); p != "" {
			m.Set(n, p)
		}
	}
	return fun.Value(m)
}

func versions(c *fun.Call) *value.Map {
	grain := func(name string) value.Value {
		if c.Env.Grains == nil {
			return nil
		}
		v, _ := c.Env.Grains.Get(name)
		return v
	}
	system := value.NewMap(6)
	for _, g := range []struct{ name, grain string }{
		{"dist", "osfinger"}, {"machine", "cpuarch"}, {"release", "kernelrelease"}, {"system", "kernel"}, {"version", "osfullname"},
	} {
		if v := grain(g.grain); v != nil {
			system.Set(g.name, v)
		}
	}
	return value.MapOf(
		"Salt Version", value.MapOf("Salt", grain("saltversion")),
		"Dependency Versions", value.MapOf("Go", strings.TrimPrefix(runtime.Version(), "go")),
		"System Versions", system,
	)
}

func versionsInformation(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(versions(c))
}

// versionsReport prints versions as salt --versions-report does: names to the
// right, at the width of the longest.
func versionsReport(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	info := versions(c)
	width := 0
	for _, v := range info.All() {
		for name := range v.(*value.Map).All() {
			width = max(width, len(value.Str(name)))
		}
	}
	var b strings.Builder
	for title, v := range info.All() {
		b.WriteString(value.Str(title) + ":\n")
		for name, x := range v.(*value.Map).All() {
			b.WriteString(strings.Repeat(" ", width-len(value.Str(name))) + value.Str(name) + ": " + value.Str(x) + "\n")
		}
		b.WriteString(" \n")
	}
	return fun.Value(strings.TrimRight(b.String(), " \n"))
}
