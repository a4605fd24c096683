// Package defaults is Salt's execution module "defaults": formulas merge their
// defaults with what the pillar says.
package defaults

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/internal/yamlsalt"
)

// Module returns the execution module "defaults".
func Module() fun.Module {
	return fun.Module{Name: "defaults", Kind: fun.Exec, Doc: "Read and merge the defaults of formulas.", Specs: specs}
}

func deepcopy(_ context.Context, c *fun.Call) (fun.Result, error) {
	return fun.Value(value.Clone(c.Value("source")))
}

func get(ctx context.Context, c *fun.Call) (fun.Result, error) {
	namespace, key, hasKey := strings.Cut(c.Str("key"), ":")
	data, err := load(ctx, c, namespace)
	if err != nil {
		return fun.Result{}, err
	}
	if !hasKey || key == "" {
		return fun.Value(data)
	}
	if v, ok := value.Traverse(data, key, ""); ok {
		return fun.Value(v)
	}
	return fun.Value(c.Value("default"))
}

// load reads the defaults of a formula; nil where it has none.
func load(ctx context.Context, c *fun.Call, formula string) (value.Value, error) {
	saltenv := c.Env.SaltEnv
	if saltenv == "" {
		saltenv = "base"
	}
	for _, ext := range []string{"yaml", "json"} {
		path := formula + "/defaults." + ext
		r, err := c.Env.Up.Open(ctx, saltenv, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, err
		}
		var v value.Value
		if ext == "yaml" {
			v, err = yamlsalt.Load(yamlsalt.LoadOptions{Name: path}, text)
		} else {
			v, err = value.ParseJSON(string(text))
		}
		if err != nil {
			return nil, err
		}
		if !value.Truth(v) {
			v = value.NewMap(0)
		}
		return v, nil
	}
	return nil, nil
}

func merge(_ context.Context, c *fun.Call) (fun.Result, error) {
	v, err := mergeInto(c.Value("dest"), c.Value("src"), c.Bool("merge_lists"), c.Bool("in_place"), c.Bool("convert_none"))
	return fun.Result{Value: v}, err
}

func mergeInto(dest, src value.Value, lists, inPlace, none bool) (value.Value, error) {
	if none {
		// An empty dict: what is merged into it is a copy in any case.
		if dest == nil {
			dest = value.NewMap(0)
		}
		if src == nil {
			src = value.NewMap(0)
		}
	}
	d, ok := dest.(value.Mapping)
	s, ok2 := src.(value.Mapping)
	if !ok || !ok2 {
		return nil, value.Raise("TypeError", "Cannot update using non-dict types in dictupdate.update()")
	}
	dm := value.ToMap(d)
	if !inPlace {
		dm = value.Clone(dm).(*value.Map)
	}
	return value.Update(dm, s, true, lists), nil
}

func update(_ context.Context, c *fun.Call) (fun.Result, error) {
	nodes := c.Map("dest")
	if !c.Bool("in_place") {
		nodes = value.Clone(nodes).(*value.Map)
	}
	for k, v := range nodes.All() {
		m, err := mergeInto(value.Clone(c.Value("defaults")), v, c.Bool("merge_lists"), true, c.Bool("convert_none"))
		if err != nil {
			return fun.Result{}, err
		}
		nodes.Set(k, m)
	}
	return fun.Value(nodes)
}
