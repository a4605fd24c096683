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
	row := func(name, doc string, fn fun.ExecFn, first ...fun.Arg) fun.Spec {
		args := append(first,
			fun.Arg{Name: "tgt", Default: "*", Doc: "the targets"},
			fun.Arg{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "how tgt names them"},
			fun.Arg{Name: "timeout", Type: fun.Float, Unit: "s", Doc: "ask a silent target after this time whether it still works"},
			fun.Arg{Name: "gather_job_timeout", Type: fun.Float, Unit: "s", Doc: "time that a silent target has to say whether it still works"},
		)
		return fun.Spec{Name: name, Doc: doc, Src: "runners/manage.py " + name, Args: args, Fn: fn}
	}
	return fun.Module{
		Name: "manage", Kind: fun.Runner, Doc: "Which targets of the roster answer.",
		Specs: []fun.Spec{
			row("down", "List the targets that do not answer test.ping.", down, fun.Arg{Name: "removekeys", Type: fun.Bool, Default: false, Doc: "accepted: targets have no keys"}),
			row("status", "List the targets that answer test.ping, and those that do not.", status, fun.Arg{Name: "output", Type: fun.Bool, Default: true, Doc: "accepted: the return is printed"}),
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
	job := fun.Job{Tgt: c.Value("tgt"), TgtType: c.Str("tgt_type"), Fun: "test.ping", Args: fun.Args{Kw: value.NewMap(0)}}
	job.Timeout, job.Gather = c.Seconds("timeout"), c.Seconds("gather_job_timeout")
	sum, err := c.Env.Fleet.Run(ctx, job,
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
