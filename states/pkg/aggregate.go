package pkg

import (
	"context"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// ownKeys are what a state may have of its own and still be joined with others.
var ownKeys = []string{"name", "pkgs", "sources", "version", "names"}

// modAggregate joins the packages of other states of the same function into one.
// Salt: salt/states/pkg.py mod_aggregate. Where Salt loses the package of the
// state that the others are joined into, all names and versions are kept; states
// whose other arguments differ, or that want another version, stay apart.
func modAggregate(_ context.Context, c *fun.Call, chunks []*fun.Chunk, running *value.Map) *fun.Chunk {
	switch c.Low.Fun {
	case "installed", "latest", "removed", "purged":
	default:
		return nil
	}
	key := "pkgs"
	if c.Low.Low.Has("sources") {
		key = "sources"
	}
	all, ok := items(c.Low, key)
	if !ok || c.Low.Low.Has("hold") {
		return nil
	}
	joined := false
	for _, o := range chunks {
		if o == c.Low || o.State != c.Low.State || o.Fun != c.Low.Fun || o.Tag() == c.Low.Tag() || running.Has(o.Tag()) ||
			value.Truth(o.Low.At("__agg__")) || o.Low.Has("hold") || o.Low.Has("sources") != (key == "sources") || !alike(c, o) {
			continue
		}
		more, ok := items(o, key)
		if !ok {
			continue
		}
		if sum, ok := join(all, more); ok {
			all, joined = sum, true
			o.Low.Set("__agg__", true)
		}
	}
	if !joined {
		return nil
	}
	chunk := *c.Low
	chunk.Low = c.Low.Low.Copy()
	chunk.Low.Delete("version")
	chunk.Low.Set(key, value.NewList(all...))
	return &chunk
}

// items returns what a chunk asks for, as items of pkgs or sources.
func items(c *fun.Chunk, key string) ([]value.Value, bool) {
	if l := c.Low.List(key); l != nil {
		return l.Items, l.Len() > 0
	}
	if key == "sources" || c.Low.Has(key) {
		return nil, false
	}
	if v := c.Low.At("version"); v != nil && v != "" {
		return []value.Value{value.MapOf(c.Name, v)}, true
	}
	return []value.Value{c.Name}, true
}

// alike reports whether two chunks differ only in what they ask for.
func alike(c *fun.Call, o *fun.Chunk) bool {
	for i := range c.Spec.Args {
		if name := c.Spec.Args[i].Name; !slices.Contains(ownKeys, name) && !value.Equal(c.Low.Low.At(name), o.Low.At(name)) {
			return false
		}
	}
	for k, v := range c.Kw.All() {
		if !value.Equal(v, o.Low.At(k)) {
			return false
		}
	}
	return true
}

// join adds items, without those that exist. It fails where both ask for a
// package in different ways.
func join(all, more []value.Value) ([]value.Value, bool) {
	one := func(v value.Value) (pkg.Target, bool) {
		list, err := pkg.Repack([]value.Value{v}, nil)
		if err != nil || len(list) != 1 {
			return pkg.Target{}, false
		}
		return list[0], true
	}
	seen := map[string]pkg.Target{}
	sum := slices.Clone(all)
	for _, v := range all {
		t, ok := one(v)
		if !ok {
			return nil, false
		}
		seen[t.Name] = t
	}
	for _, v := range more {
		t, ok := one(v)
		if !ok {
			return nil, false
		}
		had, double := seen[t.Name]
		switch {
		case !double:
			sum = append(sum, v)
			seen[t.Name] = t
		case had != t:
			return nil, false
		}
	}
	return sum, true
}
