package file

import (
	"brine/internal/fun"
	"brine/internal/value"
)

// Module returns the execution module file.
func Module() fun.Module {
	return fun.Module{Name: "file", Kind: fun.Exec, Doc: "Read and change files, directories and links.", Specs: specs}
}

// on returns the files of a call: functions that write respect the option test.
func on(c *fun.Call) *FS {
	f := New(c.Env, "", value.Truth(c.Env.Opts.At("test")))
	if c.Declares("saltenv") && !c.IsNone("saltenv") {
		f.SaltEnv = c.Str("saltenv")
	}
	return f
}

// onPath returns the files of a call and its path, which is its first argument.
func onPath(c *fun.Call) (f *FS, path string) {
	f = on(c)
	return f, f.Expand(c.Str(c.Spec.Args[0].Name))
}

// result is what a function returns that has a value or an error.
func result(v value.Value, err error) (fun.Result, error) { return fun.Result{Value: v}, err }
