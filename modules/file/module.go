package file

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Module returns the execution module file.
func Module() fun.Module {
	return fun.Module{Name: "file", Kind: fun.Exec, Doc: "Read and change files, directories and links.", Specs: specs}
}

// on returns the files of a call: functions that write respect the option test.
func on(c *fun.Call) *FS { return onEnv(c, "") }

// onEnv returns the files of a call that names an environment of salt:// URLs.
func onEnv(c *fun.Call, saltenv string) *FS {
	return New(c.Env, saltenv, value.Truth(c.Env.Opts.At("test")))
}

// onPath returns the files of a call and a path of it.
func onPath(c *fun.Call, path string) (*FS, string) {
	f := on(c)
	return f, f.Expand(path)
}

// result is what a function returns that has a value or an error.
func result(v value.Value, err error) (fun.Result, error) { return fun.Result{Value: v}, err }
