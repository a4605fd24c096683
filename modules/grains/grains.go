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

// Module returns the rows of the execution module "grains".
func Module() fun.Module {
	src := func(name string) string { return "modules/grains.py " + name }
	key := fun.Arg{Name: "key", Type: fun.Any, Required: true, Doc: "name of the grain; a path into nested ones is split by the delimiter"}
	delim := fun.Arg{Name: "delimiter", Type: fun.Str, Default: ":", Doc: "what splits the parts of a path"}
	force := fun.Arg{Name: "force", Type: fun.Bool, Default: false, Doc: "replace dicts and lists too"}
	destructive := fun.Arg{Name: "destructive", Type: fun.Bool, Default: false, Doc: "take keys out that are set to None"}
	refresh := fun.Arg{Name: "refresh_pillar", Type: fun.Bool, Default: true, Doc: "accepted; the pillar of a run is rendered when it is read"}
	get := []fun.Arg{
		key,
		{Name: "default", Type: fun.Any, Default: "", Doc: "returned where the grain is not there"},
		delim,
		{Name: "ordered", Type: fun.Bool, Default: true, Doc: "False returns the value as JSON has it"},
	}
	sanitize := fun.Arg{Name: "sanitize", Type: fun.Bool, Default: false, Doc: "hide names and serial numbers"}
	return fun.Module{
		Name: "grains", Kind: fun.Exec, Doc: "What the machine is.",
		Specs: []fun.Spec{
			{
				Name: "append", Doc: "Add a value to a grain that is a list, and keep it in the grains file.", Src: src("append"), Fn: appendFn,
				Args: []fun.Arg{
					key,
					{Name: "val", Type: fun.Any, Required: true, Doc: "the value; a list adds each of its items"},
					{Name: "convert", Type: fun.Bool, Default: false, Doc: "make a list of a grain that is none"},
					delim,
				},
			},
			{Name: "delkey", Doc: "Take a grain out of the grains file.", Src: src("delkey"), Args: []fun.Arg{key, force}, Fn: delkey},
			{Name: "delval", Doc: "Set a grain to None in the grains file.", Src: src("delval"), Args: []fun.Arg{key, destructive, force}, Fn: delval},
			{
				Name: "equals", Doc: "Return whether a grain prints as the value does.", Src: src("equals"), Fn: equals,
				Args: []fun.Arg{key, {Name: "value", Type: fun.Any, Required: true, Doc: "the value"}},
			},
			{Name: "fetch", Doc: "Return a grain; another name of grains.get.", Src: src("fetch"), Args: get, Fn: getFn},
			{
				Name: "filter_by", Doc: "Choose from a dict by a grain.\n\nThe key that the grain's value matches (keys may be globs) gives the result, else the default key.", Src: src("filter_by"), Fn: filterBy,
				Args: []fun.Arg{
					{Name: "lookup_dict", Type: fun.Dict, Required: true, Doc: "values by what the grain may be"},
					{Name: "grain", Type: fun.Any, Default: "os_family", Doc: "name of the grain"},
					{Name: "merge", Type: fun.Any, Doc: "a dict merged over the result"},
					{Name: "default", Type: fun.Any, Default: "default", Doc: "the key where none matches"},
					{Name: "base", Type: fun.Any, Doc: "a key whose dict lies under the result"},
				},
			},
			{Name: "get", Doc: "Return a grain.", Src: src("get"), Args: get, Fn: getFn},
			{
				Name: "get_or_set_hash", Doc: "Return a grain; where it is not there, set it to random text first.", Src: src("get_or_set_hash"), Fn: getOrSetHash,
				Args: []fun.Arg{
					{Name: "name", Type: fun.Str, Required: true, Doc: "name of the grain; a path into nested ones is split by :"},
					{Name: "length", Type: fun.Int, Default: int64(8), Unit: "characters", Doc: "how long the text is"},
					{Name: "chars", Type: fun.Str, Default: "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", Doc: "the characters to pick from"},
				},
			},
			{Name: "has_value", Doc: "Return whether a grain is there.", Src: src("has_value"), Args: []fun.Arg{key}, Fn: hasValue},
			{Name: "item", Doc: "Return grains by name.\n\nKeywords: default, delimiter, sanitize.", Src: src("item"), VarArg: true, VarKw: true, Fn: item},
			{Name: "items", Doc: "Return all grains.", Src: src("items"), Args: []fun.Arg{sanitize}, Fn: items},
			{Name: "ls", Doc: "Return the names of all grains, sorted.", Src: src("ls"), Fn: ls},
			{
				Name: "remove", Doc: "Take a value out of a grain that is a list, and keep that in the grains file.", Src: src("remove"), Fn: remove,
				Args: []fun.Arg{key, {Name: "val", Type: fun.Any, Required: true, Doc: "the value"}, delim},
			},
			{
				Name: "set", Doc: "Set a grain, nested ones too, and keep it in the grains file.\n\nDicts and lists are only replaced with force.", Src: src("set"), Fn: set,
				Args: []fun.Arg{key, {Name: "val", Type: fun.Any, Default: "", Doc: "the value"}, force, destructive, delim},
			},
			{
				Name: "setval", Doc: "Set a grain and keep it in the grains file.", Src: src("setval"), Fn: setval,
				Args: []fun.Arg{key, {Name: "val", Type: fun.Any, Required: true, Doc: "the value"}, destructive, refresh},
			},
			{
				Name: "setvals", Doc: "Set grains and keep them in the grains file.", Src: src("setvals"), Fn: setvals,
				Args: []fun.Arg{{Name: "grains", Type: fun.Any, Required: true, Doc: "a dict of grains"}, destructive, refresh},
			},
		},
	}
}

// Get returns the grain at a path, and whether it is there.
func Get(env *fun.Env, key value.Value, delim string) (value.Value, bool) {
	return value.TraverseKey(env.Grains, key, delim)
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
	for _, k := range c.Env.Grains.Keys() {
		v, _ := c.Env.Grains.Get(k)
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
	for _, k := range c.Env.Grains.Keys() {
		names = append(names, value.Str(k))
	}
	slices.Sort(names)
	return fun.Value(value.Strings(names...))
}

func filterBy(_ context.Context, c *fun.Call) (fun.Result, error) {
	lookup, ok := c.Value("lookup_dict").(value.Mapping)
	if !ok {
		return fun.Result{}, value.Raise("AttributeError", "'%s' object has no attribute 'get'", value.TypeName(c.Value("lookup_dict")))
	}
	v, err := value.FilterBy(lookup, c.Env.Grains, c.Str("grain"), c.Value("merge"), c.Value("default"), c.Value("base"))
	return fun.Result{Value: v}, err
}
