// Package temp is Salt's execution module "temp": files and directories of new names.
package temp

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
)

// Module returns the execution module "temp".
func Module() fun.Module {
	return fun.Module{Name: "temp", Kind: fun.Exec, Doc: "Make temporary files and directories.", Specs: specs}
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "dir", Doc: "Make a temporary directory that only its owner can enter, and return its path.", Src: "modules/temp.py dir", Do: dir},
	{Name: "file", Doc: "Make an empty temporary file that only its owner can read, and return its path.", Src: "modules/temp.py file", Do: file},
}

type args struct {
	_      fun.Arguments
	Suffix string          `arg:"suffix" default:"" doc:"end of the name"`
	Prefix string          `arg:"prefix" default:"tmp" doc:"beginning of the name"`
	Parent fun.Opt[string] `arg:"parent,path" doc:"directory that it is made in; by default the one for temporary files"`
}

func dir(_ context.Context, c *fun.Call, a *args) (fun.Result, error) {
	at, err := place(c.Env.Host, a, "")
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(at)
}

func file(_ context.Context, c *fun.Call, a *args) (fun.Result, error) {
	h := c.Env.Host
	// It gets its name by a link, which never replaces what has that name.
	at, err := place(h, a, ".new")
	if err != nil {
		return fun.Result{}, err
	}
	defer func() { _ = h.RemoveAll(at) }()
	inside, name, mode := path.Join(at, "file"), strings.TrimSuffix(at, ".new"), fs.FileMode(0o600)
	err = h.WriteFile(inside, strings.NewReader(""), host.WriteOptions{Mode: &mode})
	if err == nil {
		err = h.Link(inside, name)
	}
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(name)
}

// place makes a directory of a new name, which ends with more behind the suffix.
func place(h host.Host, a *args, more string) (string, error) {
	if strings.Contains(a.Prefix+a.Suffix, "/") || strings.Contains(a.Suffix, "*") {
		return "", fun.Errorf("prefix and suffix are parts of a name: they cannot have a slash, and a suffix no asterisk")
	}
	return h.MkdirTemp(a.Parent.V, a.Prefix+"*"+a.Suffix+more)
}
