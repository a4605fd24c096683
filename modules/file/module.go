package file

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// Module returns the execution module file.
func Module() fun.Module {
	var specs []fun.Spec
	for _, rows := range [][]fun.Spec{queryRows(), actionRows(), editRows(), manageRows(), specialRows()} {
		specs = append(specs, rows...)
	}
	m := fun.Module{Name: "file", Kind: fun.Exec, Doc: "Read and change files, directories and links.", Specs: specs}
	m.SortSpecs()
	return m
}

// on returns the files of a call: what writes minds the option test.
func on(c *fun.Call) *FS {
	f := New(c.Env, "", value.Truth(c.Env.Opts.At("test")))
	if c.Args.Has("saltenv") && !c.IsNone("saltenv") {
		f.SaltEnv = c.Str("saltenv")
	}
	return f
}

// pathArg is the path that most functions begin with.
//
//go:noinline
func pathArg() fun.Arg { return fun.Need("path", fun.Str, "the file or directory") }

// row returns a row of Salt's modules/file.py.
//
//go:noinline
func row(name, doc string, fn func(context.Context, *FS, *fun.Call) (value.Value, error), args ...fun.Arg) fun.Spec {
	return fun.Spec{
		Name: name, Doc: doc, Src: "modules/file.py " + name, Args: args,
		Fn: func(ctx context.Context, c *fun.Call) (fun.Result, error) {
			v, err := fn(ctx, on(c), c)
			return fun.Result{Value: v}, err
		},
	}
}

// onPath is a function of one path, its first argument.
func onPath(fn func(f *FS, path string) (value.Value, error)) func(context.Context, *FS, *fun.Call) (value.Value, error) {
	return func(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
		return fn(f, f.Expand(c.Str(c.Spec.Args[0].Name)))
	}
}
