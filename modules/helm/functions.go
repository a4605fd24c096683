package helm

import (
	"context"
	"errors"
	"slices"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// options are the arguments that become options; the others are words of the command.
var options = []string{"values", "version", "namespace", "set", "output_dir", "flags", "kvflags"}

// wordsOf returns the words of the command that a function is named after: repo_add
// with the arguments name and url is "repo add NAME URL".
func wordsOf(c *fun.Call) []string {
	words := strings.Split(c.Spec.Name, "_")
	for i := range c.Spec.Args {
		name := c.Spec.Args[i].Name
		if !slices.Contains(options, name) && !c.IsNone(name) {
			words = append(words, c.Str(name))
		}
	}
	return words
}

// failed is the return of a command that failed: what it said, as Salt has it, and a
// status that says so.
func failed(err error) (fun.Result, error) {
	if ce, ok := errors.AsType[*fun.CommandError](err); ok {
		return fun.Result{Value: ce.Msg, Retcode: 1}, nil
	}
	return fun.Result{}, err
}

// acts runs the command of a function that returns True.
func acts(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if _, err := (Client{c.Env}).Run(ctx, FlagsOf(c), wordsOf(c)...); err != nil {
		return failed(err)
	}
	return fun.Value(true)
}

// says runs the command of a function that returns what helm prints.
func says(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := Client{c.Env}.Run(ctx, FlagsOf(c), wordsOf(c)...)
	if err != nil {
		return failed(err)
	}
	return fun.Value(out)
}

// tells runs the command of a function that returns data.
func tells(ctx context.Context, c *fun.Call) (fun.Result, error) {
	v, err := Client{c.Env}.Data(ctx, FlagsOf(c), wordsOf(c)...)
	if err != nil {
		return failed(err)
	}
	return fun.Value(v)
}

type repoManageArgs struct {
	_     fun.Arguments
	_     value.Value `arg:"present,list[dict]" doc:"wanted repositories: mappings of name and url"`
	_     value.Value `arg:"absent,list[str]" doc:"names of unwanted repositories"`
	Prune bool        `arg:"prune" default:"False" doc:"remove repositories that are not in present"`
	_     string      `arg:"namespace" doc:"namespace of Kubernetes"`
	_     value.Value `arg:"flags,list[str]" doc:"options without values, with or without dashes"`
	_     value.Value `arg:"kvflags,secret,dict" doc:"options with values"`
}

func repoManage(ctx context.Context, c *fun.Call, a *repoManageArgs) (fun.Result, error) {
	w, err := WishOf(c)
	if err != nil {
		return fun.Result{}, err
	}
	h, f := Client{c.Env}, FlagsOf(c)
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
