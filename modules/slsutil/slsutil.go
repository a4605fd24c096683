// Package slsutil is Salt's execution module "slsutil": functions for use in
// SLS files and templates.
package slsutil

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/value"
)

// Module returns the execution module "slsutil".
func Module() fun.Module {
	return fun.Module{Name: "slsutil", Kind: fun.Exec, Doc: "Functions for SLS files and templates.", Specs: specs}
}

// mappings returns two arguments as dicts, or Python's error.
func mappings(a, b value.Value) (x, y value.Mapping, err error) {
	x, ok := a.(value.Mapping)
	y, ok2 := b.(value.Mapping)
	if !ok || !ok2 {
		return nil, nil, value.Raise("TypeError", "Cannot update using non-dict types in dictupdate.update()")
	}
	return x, y, nil
}

type updateArgs struct {
	Dest            value.Value `arg:"dest,required" doc:"the mapping that is changed"`
	Upd             value.Value `arg:"upd,required" doc:"the mapping that is merged over it"`
	RecursiveUpdate bool        `arg:"recursive_update" default:"True" doc:"merge nested mappings"`
	listsArgs
}

func update(_ context.Context, c *fun.Call, args *updateArgs) (fun.Result, error) {
	a, b, err := mappings(args.Dest, args.Upd)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.Update(value.ToMap(a), b, args.RecursiveUpdate, args.MergeLists))
}

type mergeArgs struct {
	ObjA value.Value `arg:"obj_a,required" doc:"the lower mapping"`
	ObjB value.Value `arg:"obj_b,required" doc:"the upper mapping"`
	strategyArgs
	listsArgs
}

func merge(_ context.Context, c *fun.Call, a *mergeArgs) (fun.Result, error) {
	return mergeTwo(a.MergeLists, a.Renderer, a.Strategy, a.ObjA, a.ObjB)
}

func mergeTwo(mergeLists bool, argRenderer string, strategy string, x, y value.Value) (fun.Result, error) {
	a, b, err := mappings(x, y)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.Merge(a, b, value.Strategy(strategy), argRenderer, mergeLists))
}

type mergeAllArgs struct {
	Lst []value.Value `arg:"lst,required" doc:"the mappings"`
	strategyArgs
	listsArgs
}

func mergeAll(_ context.Context, c *fun.Call, a *mergeAllArgs) (fun.Result, error) {
	var ret value.Value = value.NewMap(0)
	for _, x := range a.Lst {
		r, err := mergeTwo(a.MergeLists, a.Renderer, a.Strategy, ret, x)
		if err != nil {
			return r, err
		}
		ret = r.Value
	}
	return fun.Value(ret)
}

type boolstrArgs struct {
	_     fun.Arguments
	Value value.Value `arg:"value,required" doc:"the condition"`
	True  value.Value `arg:"true" default:"'true'" doc:"returned if true"`
	False value.Value `arg:"false" default:"'false'" doc:"returned if false"`
}

func boolstr(_ context.Context, c *fun.Call, a *boolstrArgs) (fun.Result, error) {
	if err := value.Fault(a.Value, "bool"); err != nil {
		return fun.Result{}, err
	}
	if value.Truth(a.Value) {
		return fun.Value(a.True)
	}
	return fun.Value(a.False)
}

// isA reports whether a path below file_roots is a directory or a file.
func isA(ctx context.Context, c *fun.Call, p, saltenv string, dir bool) (bool, error) {
	if p == "" || path.Clean(p) != p {
		return false, nil
	}
	fi, err := c.Env.Up.Stat(ctx, saltenv, p)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return false, nil
	case err != nil:
		return false, err
	}
	return fi.Mode.IsDir() == dir, nil
}

func is(ctx context.Context, c *fun.Call, p, saltenv string) (bool, error) {
	ok, err := isA(ctx, c, p, saltenv, false)
	if ok || err != nil {
		return ok, err
	}
	return isA(ctx, c, p, saltenv, true)
}

// fileExistsArgs are the arguments of fileExists, dirExists and pathExists.
type fileExistsArgs struct {
	pathArg
	treeArgs
}

func fileExists(ctx context.Context, c *fun.Call, a *fileExistsArgs) (fun.Result, error) {
	ok, err := isA(ctx, c, a.Path, a.Saltenv, false)
	return fun.Result{Value: ok}, err
}

func dirExists(ctx context.Context, c *fun.Call, a *fileExistsArgs) (fun.Result, error) {
	ok, err := isA(ctx, c, a.Path, a.Saltenv, true)
	return fun.Result{Value: ok}, err
}

func pathExists(ctx context.Context, c *fun.Call, a *fileExistsArgs) (fun.Result, error) {
	ok, err := is(ctx, c, a.Path, a.Saltenv)
	return fun.Result{Value: ok}, err
}

type findupArgs struct {
	Startpath string      `arg:"startpath,required,path" doc:"where to start; '' is the root"`
	Filenames value.Value `arg:"filenames,required" doc:"a name, or a list of which the first that exists counts"`
	treeArgs
}

func findup(ctx context.Context, c *fun.Call, a *findupArgs) (fun.Result, error) {
	saltenv, start := a.Saltenv, a.Startpath
	if start != "" {
		start = path.Clean(start)
		ok, err := is(ctx, c, start, saltenv)
		if err != nil {
			return fun.Result{}, err
		}
		if !ok {
			return fun.Result{}, fun.Errorf("Starting path not found in the state tree: %s", start)
		}
	}
	switch a.Filenames.(type) {
	case string, *value.List:
	default:
		return fun.Result{}, fun.Errorf("Filenames argument must be a string or list of strings")
	}
	for {
		for _, name := range fun.StringsOf(a.Filenames) {
			full := path.Join(start, name)
			ok, err := is(ctx, c, full, saltenv)
			if err != nil {
				return fun.Result{}, err
			}
			if ok {
				return fun.Value(full)
			}
		}
		if start == "" {
			return fun.Result{}, fun.Errorf("File pattern(s) not found in path ancestry")
		}
		if start = path.Dir(start); start == "." || start == "/" {
			start = ""
		}
	}
}

type rendererArgs struct {
	Path            value.Value `arg:"path,path" doc:"salt:// URL or absolute path of a file"`
	String          value.Value `arg:"string" doc:"text to render instead of a file"`
	DefaultRenderer string      `arg:"default_renderer" default:"jinja|yaml" doc:"the renderers if the first line names none"`
	Rest            fun.Kwargs
}

func renderer(ctx context.Context, c *fun.Call, a *rendererArgs) (fun.Result, error) {
	file, text := value.Truth(a.Path), value.Truth(a.String)
	switch {
	case !file && !text:
		return fun.Result{}, fun.Errorf("Must pass either path or string")
	case file && text:
		return fun.Result{}, fun.Errorf("Must not pass both path and string")
	}
	in := render.Input{Path: ":string:", SaltEnv: a.Rest.Str("saltenv"), SLS: a.Rest.Str("sls"), Pipeline: a.DefaultRenderer, Vars: value.NewMap(a.Rest.Len())}
	for k, v := range a.Rest.All() {
		if name, _ := k.(string); name == "context" {
			if m, ok := v.(value.Mapping); ok {
				in.Vars.Update(m)
			}
		} else {
			in.Vars.Set(k, v)
		}
	}
	if text {
		in.Text = []byte(fun.TextOf(a.String))
	} else if err := readFile(ctx, c, a, &in); err != nil {
		return fun.Result{}, err
	}
	v, err := render.For(c.Env).SLS(ctx, in)
	return fun.Result{Value: v}, err
}

// notThere warns of a file that is not there, which renders to nothing.
func notThere(c *fun.Call, name string) error {
	c.Env.Warn(fun.Warning{Text: "slsutil.renderer: there is no file " + name + ", which gives an empty dict"})
	return nil
}

// readFile reads the file that path names into in.
func readFile(ctx context.Context, c *fun.Call, a *rendererArgs, in *render.Input) error {
	name := fun.TextOf(a.Path)
	p, env, isURL := fun.SplitURL(name)
	if !isURL {
		if strings.Contains(name, "://") {
			return fun.Errorf("slsutil.renderer reads salt:// and local files, not %s", name)
		}
		if !path.IsAbs(name) {
			return fun.Errorf("Path '%s' is not absolute", name)
		}
		if st, err := c.Env.Host.Stat(name); err != nil || !st.Mode.IsRegular() {
			return notThere(c, name)
		}
		f, err := c.Env.Host.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in.Path, in.Abs = name, name
		in.Text, err = io.ReadAll(io.LimitReader(f, render.MaxText))
		return err
	}
	if env == "" {
		env = in.SaltEnv
	}
	if env == "" {
		env = "base"
	}
	fi, err := c.Env.Up.Stat(ctx, env, p)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode.IsRegular() {
		return notThere(c, name)
	}
	if err != nil {
		return err
	}
	in.SaltEnv, in.Path, in.Abs = env, fi.Path, fi.Abs
	in.Text, err = render.Read(ctx, c.Env.Up, fi)
	return err
}
