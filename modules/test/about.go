package test

import (
	"context"
	"path"
	"runtime"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// providerOf returns the name of the file in Salt that a module stands for.
func providerOf(t *fun.Table, module string) string {
	for _, n := range t.Names(fun.Exec) {
		if !strings.HasPrefix(n, module+".") {
			continue
		}
		_, spec, ok := t.Lookup(fun.Exec, n)
		if !ok {
			continue
		}
		if file, _, _ := strings.Cut(spec.Src, " "); strings.HasSuffix(file, ".py") {
			return strings.TrimSuffix(path.Base(file), ".py")
		}
		return module // a function of the user's own
	}
	return ""
}

func provider(_ context.Context, c *fun.Call) (fun.Result, error) {
	return fun.Value(providerOf(c.Env.Table, c.Str("module")))
}

func providers(_ context.Context, c *fun.Call) (fun.Result, error) {
	names := c.Env.Table.Modules(fun.Exec)
	m := value.NewMap(len(names))
	for _, n := range names {
		m.Set(n, providerOf(c.Env.Table, n))
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

func versionsInformation(_ context.Context, c *fun.Call) (fun.Result, error) {
	return fun.Value(versions(c))
}

// versionsReport prints versions as salt --versions-report does: names to the
// right, at the width of the longest.
func versionsReport(_ context.Context, c *fun.Call) (fun.Result, error) {
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
