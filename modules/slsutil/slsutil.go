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

// Module returns the rows of the execution module "slsutil".
func Module() fun.Module {
	src := func(name string) string { return "modules/slsutil.py " + name }
	merging := []fun.Arg{
		{Name: "strategy", Type: fun.Str, Default: "smart", Doc: "smart, recurse, aggregate, overwrite or list"},
		{Name: "renderer", Type: fun.Str, Default: "yaml", Doc: "what smart goes by: aggregate for yamlex, else recurse"},
		{Name: "merge_lists", Type: fun.Bool, Default: false, Doc: "add the items of lists instead of replacing them"},
	}
	dict := func(name, doc string) fun.Arg {
		return fun.Arg{Name: name, Type: fun.Any, Required: true, Doc: doc}
	}
	tree := []fun.Arg{
		{Name: "path", Type: fun.Str, Required: true, Doc: "path below file_roots"},
		{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "the environment"},
	}
	return fun.Module{
		Name: "slsutil", Kind: fun.Exec, Doc: "Functions for SLS files and templates.",
		Specs: []fun.Spec{
			{
				Name: "banner", Doc: "Return a comment box that says that the file is managed.", Src: src("banner"), Fn: banner,
				Args: []fun.Arg{
					{Name: "width", Type: fun.Int, Default: int64(72), Unit: "columns", Doc: "the width of the box"},
					{Name: "commentchar", Type: fun.Str, Default: "#", Doc: "what begins a comment line"},
					{Name: "borderchar", Type: fun.Str, Default: "#", Doc: "what the first and last line are made of"},
					{Name: "blockstart", Type: fun.Any, Doc: "what begins a comment block"},
					{Name: "blockend", Type: fun.Any, Doc: "what ends a comment block"},
					{Name: "title", Type: fun.Any, Doc: "the first text, centred"},
					{Name: "text", Type: fun.Any, Doc: "the second text"},
					{Name: "newline", Type: fun.Bool, Default: false, Doc: "end with a newline"},
				},
			},
			{
				Name: "boolstr", Doc: "Return one text for true and another for false.", Src: src("boolstr"), Fn: boolstr,
				Args: []fun.Arg{
					{Name: "value", Type: fun.Any, Required: true, Doc: "what is true or false"},
					{Name: "true", Type: fun.Any, Default: "true", Doc: "returned for true"},
					{Name: "false", Type: fun.Any, Default: "false", Doc: "returned for false"},
				},
			},
			{
				Name: "deserialize", Doc: "Read text of a data format: json, yaml or toml.", Src: src("deserialize"), VarKw: true, Fn: deserialize,
				Args: []fun.Arg{
					{Name: "serializer", Type: fun.Str, Required: true, Doc: "the format"},
					{Name: "stream_or_string", Type: fun.Any, Required: true, Doc: "the text"},
				},
			},
			{Name: "dir_exists", Doc: "Return whether a directory is in the state tree.", Src: src("dir_exists"), Args: tree, Fn: dirExists},
			{Name: "file_exists", Doc: "Return whether a file is in the state tree.", Src: src("file_exists"), Args: tree, Fn: fileExists},
			{
				Name: "findup", Doc: "Find a file in a directory of the state tree or the nearest above it.", Src: src("findup"), Fn: findup,
				Args: []fun.Arg{
					{Name: "startpath", Type: fun.Str, Required: true, Doc: "where to begin; '' is the root"},
					{Name: "filenames", Type: fun.Any, Required: true, Doc: "a name, or names of which the first that is there counts"},
					{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "the environment"},
				},
			},
			{
				Name: "merge", Doc: "Merge a dict over another by a strategy.", Src: src("merge"), Fn: merge,
				Args: append([]fun.Arg{dict("obj_a", "the lower dict"), dict("obj_b", "the upper dict")}, merging...),
			},
			{
				Name: "merge_all", Doc: "Merge dicts in order, later ones over earlier ones.", Src: src("merge_all"), Fn: mergeAll,
				Args: append([]fun.Arg{{Name: "lst", Type: fun.List, Required: true, Doc: "the dicts"}}, merging...),
			},
			{Name: "path_exists", Doc: "Return whether a file or directory is in the state tree.", Src: src("path_exists"), Args: tree, Fn: pathExists},
			{
				Name: "renderer", Doc: "Render a file or a text through renderers. Further keywords are variables.", Src: src("renderer"), VarKw: true, Fn: renderer,
				Args: []fun.Arg{
					{Name: "path", Type: fun.Any, Doc: "salt:// or absolute path of a file"},
					{Name: "string", Type: fun.Any, Doc: "a text instead of a file"},
					{Name: "default_renderer", Type: fun.Str, Default: render.DefaultPipeline, Doc: "the renderers where the first line names none"},
				},
			},
			{
				Name: "serialize", Doc: "Write data as text of a data format: json, yaml, python. Keywords are options of the format.", Src: src("serialize"), VarKw: true, Fn: serialize,
				Args: []fun.Arg{
					{Name: "serializer", Type: fun.Str, Required: true, Doc: "the format"},
					{Name: "obj", Type: fun.Any, Required: true, Doc: "the data"},
				},
			},
			{
				Name: "update", Doc: "Merge a dict into another, which is changed and returned.", Src: src("update"), Fn: update,
				Args: []fun.Arg{
					dict("dest", "the dict that is changed"), dict("upd", "the dict that is merged over it"),
					{Name: "recursive_update", Type: fun.Bool, Default: true, Doc: "merge dicts within dicts"},
					merging[2],
				},
			},
		},
	}
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
	if c.Env.Warn != nil {
		c.Env.Warn(fun.Warning{Text: "slsutil.renderer: there is no file " + name + ", which gives an empty dict"})
	}
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
