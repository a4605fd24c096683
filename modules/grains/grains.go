// Package grains is Salt's execution module "grains": it reads grains, and
// keeps new ones in the grains file beside the configuration.
package grains

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Module returns the execution module "grains".
func Module() fun.Module {
	return fun.Module{Name: "grains", Kind: fun.Exec, Doc: "Read and set grains.", Specs: specs}
}

// Get returns the grain at a path, and whether it is there.
func Get(env *fun.Env, key value.Value, delim string) (value.Value, bool) {
	return value.TraverseKey(env.SubjectGrains(), key, delim)
}

func getFn(_ context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	v, ok := Get(c.Env, a.Key, a.Delimiter)
	if !ok {
		return fun.Value(a.Default)
	}
	if !a.Ordered {
		plain, err := value.DecodeJSON(bytes.NewReader(value.EncodeJSON(v)))
		if err != nil {
			return fun.Result{}, err
		}
		v = plain
	}
	return fun.Value(v)
}

func hasValue(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	_, ok := Get(c.Env, a.Key, "")
	return fun.Value(ok)
}

type equalsArgs struct {
	pathArg
	Value value.Value `arg:"value,required" doc:"the value"`
}

func equals(_ context.Context, c *fun.Call, a *equalsArgs) (fun.Result, error) {
	if err := value.Fault(a.Value, "str"); err != nil {
		return fun.Result{}, err
	}
	v, ok := Get(c.Env, a.Key, "")
	if !ok {
		v = ""
	}
	return fun.Value(value.Str(a.Value) == value.Str(v))
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

type itemsArgs struct {
	_        fun.Arguments
	Sanitize bool `arg:"sanitize" default:"False" doc:"hide names and serial numbers"`
}

func items(_ context.Context, c *fun.Call, a *itemsArgs) (fun.Result, error) {
	m := value.NewMap(128)
	for _, k := range c.Env.SubjectGrains().Keys() {
		v, _ := c.Env.SubjectGrains().Get(k)
		if name, ok := k.(string); ok && a.Sanitize {
			v = sanitized(name, v)
		}
		m.Set(k, v)
	}
	return fun.Result{Value: m, Out: "nested"}, nil
}

type itemArgs struct {
	Default   value.Value `arg:"default,kw" default:"''" doc:"returned for grains that do not exist"`
	Delimiter string      `arg:"delimiter,kw" doc:"separates the parts of a name; default: a colon"`
	Sanitize  bool        `arg:"sanitize,kw" default:"False" doc:"hide serial numbers and other data of this one machine"`
	More      fun.Varargs
	_         fun.Kwargs
}

func item(_ context.Context, c *fun.Call, a *itemArgs) (fun.Result, error) {
	m := value.NewMap(len(a.More))
	for _, key := range a.More {
		v, ok := Get(c.Env, key, a.Delimiter)
		if !ok {
			v = a.Default
		}
		if name, ok := key.(string); ok && a.Sanitize {
			v = sanitized(name, v)
		}
		m.Set(key, v)
	}
	return fun.Result{Value: m, Out: "nested"}, nil
}

func ls(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	names := make([]string, 0, 128)
	for _, k := range c.Env.SubjectGrains().Keys() {
		names = append(names, value.Str(k))
	}
	slices.Sort(names)
	return fun.Value(value.Strings(names...))
}

type filterByArgs struct {
	_          fun.Arguments
	LookupDict *value.Map  `arg:"lookup_dict,required" doc:"results by value of the grain"`
	Grain      string      `arg:"grain" default:"os_family" doc:"name of the grain"`
	Merge      value.Value `arg:"merge" doc:"a mapping merged over the result"`
	Default    value.Value `arg:"default" default:"'default'" doc:"the key if none matches"`
	Base       value.Value `arg:"base" doc:"a key whose mapping is merged under the result"`
}

func filterBy(_ context.Context, c *fun.Call, a *filterByArgs) (fun.Result, error) {
	if err := value.Fault(a.Merge, "bool"); err != nil {
		return fun.Result{}, err
	}
	v, err := value.FilterBy(a.LookupDict, c.Env.SubjectGrains(), a.Grain, a.Merge, a.Default, a.Base)
	return fun.Result{Value: v}, err
}
