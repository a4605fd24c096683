package helm

import (
	"context"
	"errors"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// failed is the return of a command that failed: what it printed, as in Salt, and a
// status that says so.
func failed(err error) (fun.Result, error) {
	if ce, ok := errors.AsType[*fun.CommandError](err); ok {
		return fun.Result{Value: ce.Msg, Retcode: 1}, nil
	}
	return fun.Result{}, err
}

// commandLine returns the words of the command that a function is named after: repo_add
// with the arguments name and url is "repo add NAME URL".
func commandLine(c *fun.Call, a command) []string {
	return append(strings.Split(c.Spec.Name, "_"), a.words()...)
}

// acts runs the command of a function that returns True.
func acts[A command](ctx context.Context, c *fun.Call, a A) (fun.Result, error) {
	if _, err := (Client{c.Env}).Run(ctx, a.Options(), commandLine(c, a)...); err != nil {
		return failed(err)
	}
	return fun.Value(true)
}

// text runs the command of a function that returns what helm prints.
func text[A command](ctx context.Context, c *fun.Call, a A) (fun.Result, error) {
	out, err := Client{c.Env}.Run(ctx, a.Options(), commandLine(c, a)...)
	if err != nil {
		return failed(err)
	}
	return fun.Value(out)
}

// data runs the command of a function that returns data.
func data[A command](ctx context.Context, c *fun.Call, a A) (fun.Result, error) {
	v, err := Client{c.Env}.Data(ctx, a.Options(), commandLine(c, a)...)
	if err != nil {
		return failed(err)
	}
	return fun.Value(v)
}

type repoManageArgs struct {
	Present []value.Value `arg:"present,list[dict]" doc:"wanted repositories: mappings of name and url"`
	Absent  []string      `arg:"absent" doc:"names of unwanted repositories"`
	Prune   bool          `arg:"prune" default:"False" doc:"remove repositories that are not in present"`
	NamespaceArgs
}

func repoManage(ctx context.Context, c *fun.Call, a *repoManageArgs) (fun.Result, error) {
	w, err := DesiredOf(a.Present, a.Absent)
	if err != nil {
		return fun.Result{}, err
	}
	h, f := Client{c.Env}, a.Options()
	p, err := h.Plan(ctx, f, w, a.Prune)
	if err != nil {
		return fun.Result{}, err
	}
	m, said, err := h.Apply(ctx, f, p)
	for _, s := range said {
		c.Env.Log().Error(s)
	}
	if err != nil {
		return fun.Result{}, err
	}
	retcode := 0
	if value.Truth(m.At("failed")) {
		retcode = 1
	}
	return fun.Result{Value: m, Retcode: retcode}, nil
}
