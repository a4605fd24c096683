// Package defaults is Salt's execution module "defaults": formulas merge their
// defaults with what the pillar says.
package defaults

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Module returns the execution module "defaults".
func Module() fun.Module {
	return fun.Module{Name: "defaults", Kind: fun.Exec, Doc: "Read and merge the defaults of formulas.", Specs: specs}
}

type deepcopyArgs struct {
	_      fun.Arguments
	Source value.Value `arg:"source,required" doc:"the value"`
}

func deepcopy(_ context.Context, c *fun.Call, a *deepcopyArgs) (fun.Result, error) {
	return fun.Value(value.Clone(a.Source))
}

type getArgs struct {
	_       fun.Arguments
	Key     string      `arg:"key,required" doc:"formula:key:key; the formula is a directory in file_roots"`
	Default value.Value `arg:"default" default:"''" doc:"returned if nothing is found"`
}

func get(ctx context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	namespace, key, hasKey := strings.Cut(a.Key, ":")
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
	return fun.Value(a.Default)
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

type mergeGiven struct {
	Dest       value.Value `arg:"dest,required" doc:"the lower mapping"`
	Src        value.Value `arg:"src,required" doc:"the upper mapping"`
	MergeLists bool        `arg:"merge_lists" default:"False" doc:"append the items of lists instead of replacing them"`
	mergeArgs
}

func merge(_ context.Context, c *fun.Call, a *mergeGiven) (fun.Result, error) {
	v, err := mergeInto(a.Dest, a.Src, a.MergeLists, a.InPlace, a.ConvertNone)
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

type updateArgs struct {
	Dest       *value.Map  `arg:"dest,required" doc:"a mapping of mappings"`
	Defaults   value.Value `arg:"defaults,required,dict" doc:"the defaults of each"`
	MergeLists bool        `arg:"merge_lists" default:"True" doc:"append the items of lists instead of replacing them"`
	mergeArgs
}

func update(_ context.Context, c *fun.Call, a *updateArgs) (fun.Result, error) {
	nodes := a.Dest
	if !a.InPlace {
		nodes = value.Clone(nodes).(*value.Map)
	}
	for k, v := range nodes.All() {
		m, err := mergeInto(value.Clone(a.Defaults), v, a.MergeLists, true, a.ConvertNone)
		if err != nil {
			return fun.Result{}, err
		}
		nodes.Set(k, m)
	}
	return fun.Value(nodes)
}
