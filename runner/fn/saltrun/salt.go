// Package saltrun is Salt's runner module "salt": functions from the
// controller.
package saltrun

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// Runners returns the rows of the runner module "salt".
func Runners() fun.Module {
	return fun.Module{Name: "salt", Kind: fun.Runner, Doc: "Run execution functions from the controller.", Specs: saltSpecs}
}

// without returns kw less what belongs to the call itself.
func without(kw *value.Map) *value.Map {
	m := value.NewMap(kw.Len())
	for k, v := range kw.All() {
		if !strings.HasPrefix(value.Str(k), "__") {
			m.Set(k, v)
		}
	}
	return m
}

// cmd follows salt/runners/salt.py cmd. The pillar is always there, so
// with_pillar, which has it compiled, is no argument of the function.
func cmd(ctx context.Context, c *fun.Call) (fun.Result, error) {
	kw := without(c.Kw)
	kw.Delete("with_pillar")
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, c.Str("fun"), fun.Args{Pos: c.Pos, Kw: kw})
	res.Out = "" // a function's outputter is for returns by target
	return res, err
}

// execute follows salt/runners/salt.py execute.
func execute(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if c.Env.Fleet == nil {
		return fun.Result{}, fun.Errorf("there is no roster to run on: use 'brine run'")
	}
	kw := without(c.Kw)
	if m := c.Map("kwarg"); m != nil {
		kw.Update(m)
	}
	job := fun.Job{Tgt: c.Value("tgt"), TgtType: c.Str("tgt_type"), Fun: c.Str("fun"), Args: fun.Args{Pos: c.List("arg"), Kw: kw}, Returner: c.Str("ret")}
	job.Timeout = c.Seconds("timeout")
	out := value.NewMap(8)
	retcode := 0
	_, err := c.Env.Fleet.Run(ctx, job, func(r fun.Return) error {
		v, err := r.Value()
		if err != nil {
			return err
		}
		if r.Stage != fun.Returned || r.Retcode != 0 {
			retcode = 1
		}
		out.Set(r.ID, v)
		return nil
	})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: out, Retcode: retcode}, nil
}
