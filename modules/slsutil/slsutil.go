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

	"brine/internal/fun"
	"brine/internal/render"
	"brine/internal/value"
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

func update(_ context.Context, c *fun.Call) (fun.Result, error) {
	a, b, err := mappings(c.Value("dest"), c.Value("upd"))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.Update(value.ToMap(a), b, c.Bool("recursive_update"), c.Bool("merge_lists")))
}

func merge(_ context.Context, c *fun.Call) (fun.Result, error) {
	return mergeTwo(c, c.Value("obj_a"), c.Value("obj_b"))
}

func mergeTwo(c *fun.Call, x, y value.Value) (fun.Result, error) {
	a, b, err := mappings(x, y)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.Merge(a, b, value.Strategy(c.Str("strategy")), c.Str("renderer"), c.Bool("merge_lists")))
}

func mergeAll(_ context.Context, c *fun.Call) (fun.Result, error) {
	var ret value.Value = value.NewMap(0)
	for _, x := range c.List("lst") {
		r, err := mergeTwo(c, ret, x)
		if err != nil {
			return r, err
		}
		ret = r.Value
	}
	return fun.Value(ret)
}

func boolstr(_ context.Context, c *fun.Call) (fun.Result, error) {
	if err := value.Fault(c.Value("value"), "bool"); err != nil {
		return fun.Result{}, err
	}
	if c.Bool("value") {
		return fun.Value(c.Value("true"))
	}
	return fun.Value(c.Value("false"))
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

func fileExists(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ok, err := isA(ctx, c, c.Str("path"), c.Str("saltenv"), false)
	return fun.Result{Value: ok}, err
}

func dirExists(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ok, err := isA(ctx, c, c.Str("path"), c.Str("saltenv"), true)
	return fun.Result{Value: ok}, err
}

func pathExists(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ok, err := is(ctx, c, c.Str("path"), c.Str("saltenv"))
	return fun.Result{Value: ok}, err
}

func findup(ctx context.Context, c *fun.Call) (fun.Result, error) {
	saltenv, start := c.Str("saltenv"), c.Str("startpath")
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
	switch c.Value("filenames").(type) {
	case string, *value.List:
	default:
		return fun.Result{}, fun.Errorf("Filenames argument must be a string or list of strings")
	}
	for {
		for _, name := range c.Strings("filenames") {
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

func renderer(ctx context.Context, c *fun.Call) (fun.Result, error) {
	file, text := value.Truth(c.Value("path")), value.Truth(c.Value("string"))
	switch {
	case !file && !text:
		return fun.Result{}, fun.Errorf("Must pass either path or string")
	case file && text:
		return fun.Result{}, fun.Errorf("Must not pass both path and string")
	}
	in := render.Input{Path: ":string:", SaltEnv: c.Kw.Str("saltenv"), SLS: c.Kw.Str("sls"), Pipeline: c.Str("default_renderer"), Vars: value.NewMap(c.Kw.Len())}
	for k, v := range c.Kw.All() {
		if name, _ := k.(string); name == "context" {
			if m, ok := v.(value.Mapping); ok {
				in.Vars.Update(m)
			}
		} else {
			in.Vars.Set(k, v)
		}
	}
	if text {
		in.Text = []byte(c.Str("string"))
	} else if err := readFile(ctx, c, &in); err != nil {
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
func readFile(ctx context.Context, c *fun.Call, in *render.Input) error {
	name := c.Str("path")
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
