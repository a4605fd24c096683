// Package grains is Salt's execution module "grains": it reads grains, and
// keeps new ones in the grains file beside the configuration.
package grains

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// Module returns the execution module "grains".
func Module() fun.Module {
	return fun.Module{Name: "grains", Kind: fun.Exec, Doc: "Read and set grains.", Specs: specs}
}

// Get returns the grain at a path, and whether it is there.
func Get(env *fun.Env, key value.Value, delim string) (value.Value, bool) {
	return value.TraverseKey(env.SubjectGrains(), key, delim)
}

func getFn(_ context.Context, c *fun.Call) (fun.Result, error) {
	v, ok := Get(c.Env, c.Value("key"), c.Str("delimiter"))
	if !ok {
		return fun.Value(c.Value("default"))
	}
	if !c.Bool("ordered") {
		plain, err := value.DecodeJSON(bytes.NewReader(value.EncodeJSON(v)))
		if err != nil {
			return fun.Result{}, err
		}
		v = plain
	}
	return fun.Value(v)
}

func hasValue(_ context.Context, c *fun.Call) (fun.Result, error) {
	_, ok := Get(c.Env, c.Value("key"), "")
	return fun.Value(ok)
}

func equals(_ context.Context, c *fun.Call) (fun.Result, error) {
	if err := value.Fault(c.Value("value"), "str"); err != nil {
		return fun.Result{}, err
	}
	v, ok := Get(c.Env, c.Value("key"), "")
	if !ok {
		v = ""
	}
	return fun.Value(value.Str(c.Value("value")) == value.Str(v))
}

// sanitized returns what stands for a grain that tells who a machine is.
func sanitized(name string, v value.Value) value.Value {
	switch name {
	case "serialnumber":
		s := []rune(value.Str(v))
		shown := len(s) * 3 / 4
		return string(s[:shown]) + strings.Repeat("X", len(s)-shown)
	case "domain":
		return "DOMAINNAME"
	case "fqdn", "id":
		return "MINION.DOMAINNAME"
	case "host", "localhost", "nodename":
		return "MINION"
	}
	return v
}

func items(_ context.Context, c *fun.Call) (fun.Result, error) {
	m := value.NewMap(128)
	for _, k := range c.Env.SubjectGrains().Keys() {
		v, _ := c.Env.SubjectGrains().Get(k)
		if name, ok := k.(string); ok && c.Bool("sanitize") {
			v = sanitized(name, v)
		}
		m.Set(k, v)
	}
	return fun.Result{Value: m, Out: "nested"}, nil
}

func item(_ context.Context, c *fun.Call) (fun.Result, error) {
	m := value.NewMap(len(c.Pos))
	def, ok := c.Kw.Get("default")
	if !ok {
		def = ""
	}
	for _, key := range c.Pos {
		v, ok := Get(c.Env, key, c.Kw.Str("delimiter"))
		if !ok {
			v = def
		}
		if name, ok := key.(string); ok && value.Truth(c.Kw.At("sanitize")) {
			v = sanitized(name, v)
		}
		m.Set(key, v)
	}
	return fun.Result{Value: m, Out: "nested"}, nil
}

func ls(_ context.Context, c *fun.Call) (fun.Result, error) {
	names := make([]string, 0, 128)
	for _, k := range c.Env.SubjectGrains().Keys() {
		names = append(names, value.Str(k))
	}
	slices.Sort(names)
	return fun.Value(value.Strings(names...))
}

func filterBy(_ context.Context, c *fun.Call) (fun.Result, error) {
	if err := value.Fault(c.Value("merge"), "bool"); err != nil {
		return fun.Result{}, err
	}
	v, err := value.FilterBy(c.Map("lookup_dict"), c.Env.SubjectGrains(), c.Str("grain"), c.Value("merge"), c.Value("default"), c.Value("base"))
	return fun.Result{Value: v}, err
}
