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

// Module returns the rows of the execution module "defaults".
func Module() fun.Module {
	src := func(name string) string { return "modules/defaults.py " + name }
	lists := func(def bool) fun.Arg {
		return fun.Arg{Name: "merge_lists", Type: fun.Bool, Default: def, Doc: "add the items of lists instead of replacing them"}
	}
	inPlace := fun.Arg{Name: "in_place", Type: fun.Bool, Default: true, Doc: "change dest itself; else a copy"}
	none := fun.Arg{Name: "convert_none", Type: fun.Bool, Default: true, Doc: "take None as an empty dict"}
	return fun.Module{
		Name: "defaults", Kind: fun.Exec, Doc: "Read and merge the defaults of formulas.",
		Specs: []fun.Spec{
			{
				Name: "deepcopy", Doc: "Return a copy that shares nothing with the original.", Src: src("deepcopy"), Fn: deepcopy,
				Args: []fun.Arg{{Name: "source", Type: fun.Any, Required: true, Doc: "what is copied"}},
			},
			{
				Name: "get", Doc: "Return a value of defaults.yaml or defaults.json of a formula.", Src: src("get"), Fn: get,
				Args: []fun.Arg{
					{Name: "key", Type: fun.Str, Required: true, Doc: "formula:key:key; the formula is a directory of file_roots"},
					{Name: "default", Type: fun.Any, Default: "", Doc: "what is returned where nothing is there"},
				},
			},
			{
				Name: "merge", Doc: "Merge a dict over another, dicts within them too.", Src: src("merge"), Fn: merge,
				Args: []fun.Arg{
					{Name: "dest", Type: fun.Any, Required: true, Doc: "the lower dict"},
					{Name: "src", Type: fun.Any, Required: true, Doc: "the upper dict"},
					lists(false), inPlace, none,
				},
			},
			{
				Name: "update", Doc: "Put defaults under each dict of a dict.", Src: src("update"), Fn: update,
				Args: []fun.Arg{
					{Name: "dest", Type: fun.Dict, Required: true, Doc: "a dict of dicts"},
					{Name: "defaults", Type: fun.Dict, Required: true, Doc: "the defaults of each"},
					lists(true), inPlace, none,
				},
			},
		},
	}
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
	d, ok := c.Value("dest").(value.Mapping)
	if !ok {
		return fun.Result{}, value.Raise("AttributeError", "'%s' object has no attribute 'items'", value.TypeName(c.Value("dest")))
	}
	nodes := value.ToMap(d)
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
