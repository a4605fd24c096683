// Package manage is Salt's runner module "manage": which targets answer.
package manage

import (
	"context"
	"sort"

	"brine/internal/fun"
	"brine/internal/value"
)

// Runners returns the rows of the runner module "manage".
func Runners() fun.Module {
	args := []fun.Arg{
		{Name: "tgt", Default: "*", Doc: "the targets"},
		{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "how tgt names them"},
	}
	row := func(name, doc string, fn fun.ExecFn) fun.Spec {
		return fun.Spec{Name: name, Doc: doc, Src: "runners/manage.py " + name, Args: args, Fn: fn}
	}
	return fun.Module{
		Name: "manage", Kind: fun.Runner, Doc: "Which targets of the roster answer.",
		Specs: []fun.Spec{
			row("down", "List the targets that do not answer test.ping.", down),
			row("status", "List the targets that answer test.ping, and those that do not.", status),
			row("up", "List the targets that answer test.ping.", up),
		},
	}
}

// ask pings the targets. Salt: salt/runners/manage.py _ping.
func ask(ctx context.Context, c *fun.Call) (yes, no *value.List, err error) {
	if c.Env.Fleet == nil {
		return nil, nil, fun.Errorf("there is no roster to ask: use 'brine run'")
	}
	var answered []string
	sum, err := c.Env.Fleet.Run(ctx, fun.Job{Tgt: c.Value("tgt"), TgtType: c.Str("tgt_type"), Fun: "test.ping", Args: fun.Args{Kw: value.NewMap(0)}},
		func(r fun.Return) error {
			if r.Stage == fun.Returned {
				answered = append(answered, r.ID)
			}
			return nil
		})
	if err != nil {
		return nil, nil, err
	}
	sort.Strings(answered)
	return value.Strings(answered...), value.Strings(sum.Missing...), nil
}

func status(ctx context.Context, c *fun.Call) (fun.Result, error) {
	yes, no, err := ask(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("up", yes, "down", no))
}

func up(ctx context.Context, c *fun.Call) (fun.Result, error) {
	yes, _, err := ask(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(yes)
}

func down(ctx context.Context, c *fun.Call) (fun.Result, error) {
	_, no, err := ask(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(no)
}
