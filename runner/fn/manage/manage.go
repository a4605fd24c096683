// Package manage is Salt's runner module "manage": which targets answer.
package manage

import (
	"context"
	"errors"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Runners returns the rows of the runner module "manage".
func Runners() fun.Module {
	return fun.Module{Name: "manage", Kind: fun.Runner, Doc: "Show which targets of the roster respond.", Specs: slices.Concat(specs, presenceSpecs())}
}

// ask runs a job on targets, hands over their returns and returns the job's summary.
func ask(ctx context.Context, c *fun.Call, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	if c.Env.Fleet == nil {
		return fun.Summary{}, fun.Errorf("there is no roster to ask: use 'brine run'")
	}
	job.Args.Kw = value.NewMap(0)
	return c.Env.Fleet.Run(ctx, job, each)
}

// ping asks the targets. An ID of a list that no target has is an error: nobody knows
// whether it is down. Salt: salt/runners/manage.py _ping.
func ping(ctx context.Context, c *fun.Call, a *pingArgs) (yes, no *value.List, err error) {
	var answered []string
	job := fun.Job{Tgt: a.Tgt, TgtType: a.TgtType, Fun: "test.ping", Timeout: a.Timeout, Gather: a.GatherJobTimeout}
	sum, err := ask(ctx, c, job, func(r fun.Return) error {
		if e, ok := errors.AsType[*fun.UnlistedError](r.Err); ok {
			return fun.Errorf("%v", e)
		}
		if r.Stage == fun.Returned {
			answered = append(answered, r.ID)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(answered)
	return value.Strings(answered...), value.Strings(sum.Missing...), nil
}

type statusArgs struct {
	_ bool `arg:"output" default:"True" doc:"accepted without effect; the return is printed"`
	pingArgs
}

func status(ctx context.Context, c *fun.Call, a *statusArgs) (fun.Result, error) {
	yes, no, err := ping(ctx, c, &a.pingArgs)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("up", yes, "down", no))
}

func up(ctx context.Context, c *fun.Call, a *pingArgs) (fun.Result, error) {
	yes, _, err := ping(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(yes)
}

type downArgs struct {
	_ bool `arg:"removekeys" default:"False" doc:"accepted without effect; targets have no keys"`
	pingArgs
}

func down(ctx context.Context, c *fun.Call, a *downArgs) (fun.Result, error) {
	_, no, err := ping(ctx, c, &a.pingArgs)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(no)
}
