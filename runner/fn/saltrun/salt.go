// Package saltrun is Salt's runner module "salt": functions from the
// controller.
package saltrun

import (
	"context"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
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

type cmdArgs struct {
	Fun  string `arg:"fun,required" doc:"function to run"`
	More fun.Varargs
	Rest fun.Kwargs
}

// cmd follows salt/runners/salt.py cmd. The pillar is always there, so
// with_pillar, which has it compiled, is no argument of the function.
func cmd(ctx context.Context, c *fun.Call, a *cmdArgs) (fun.Result, error) {
	kw := without(a.Rest.Map)
	kw.Delete("with_pillar")
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, a.Fun, fun.Args{Pos: a.More, Kw: kw})
	res.Out = "" // a function's outputter is for returns by target
	return res, err
}

type executeArgs struct {
	Tgt     value.Value   `arg:"tgt,required,str|list" doc:"target expression"`
	Fun     string        `arg:"fun,required" doc:"function to run"`
	Arg     []value.Value `arg:"arg" doc:"positional arguments of the function"`
	Timeout time.Duration `arg:"timeout" unit:"s" doc:"ask a silent target after this time whether it is still working"`
	TgtType string        `arg:"tgt_type" default:"glob" doc:"type of tgt"`
	Ret     string        `arg:"ret" default:"" doc:"returner"`
	Kwarg   *value.Map    `arg:"kwarg" doc:"keyword arguments of the function"`
	Rest    fun.Kwargs
}

// execute follows salt/runners/salt.py execute.
func execute(ctx context.Context, c *fun.Call, a *executeArgs) (fun.Result, error) {
	kw := without(a.Rest.Map)
	if a.Kwarg != nil {
		kw.Update(a.Kwarg)
	}
	job := fun.Job{Tgt: a.Tgt, TgtType: a.TgtType, Fun: a.Fun, Args: fun.Args{Pos: a.Arg, Kw: kw}, Returner: a.Ret}
	job.Timeout = a.Timeout
	return OnTargets(ctx, c, job)
}

// OnTargets runs a job and returns the results by ID.
func OnTargets(ctx context.Context, c *fun.Call, job fun.Job) (fun.Result, error) {
	if c.Env.Fleet == nil {
		return fun.Result{}, fun.Errorf("there is no roster to run on: use 'brine run'")
	}
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
