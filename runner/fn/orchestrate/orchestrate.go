// Package orchestrate is Salt's runner module "state" and its execution
// functions of the same names: orchestrations.
package orchestrate

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/pillar"
	"brine/internal/py/value"
)

// Specs are the rows that the execution module "state" has besides its own:
// masterless orchestration.
func Specs() []fun.Spec { return execSpecs }

// Runners returns the rows of the runner module "state".
func Runners() fun.Module {
	return fun.Module{Name: "state", Kind: fun.Runner, Doc: "Run orchestrations.", Specs: runnerSpecs}
}

// Orchestrate runs SLS files on this controller and wraps the returns as Salt's
// runner does: data by the id of the controller, the outputter, a retcode that
// is 1 if anything failed.
//
// It returns a *fun.CommandError for a pillar that is not a mapping. Salt:
// salt/runners/state.py orchestrate.
func Orchestrate(ctx context.Context, c *fun.Call, a *orchestrateArgs) (fun.Result, error) {
	if err := checkPillar(c, a.Pillar); err != nil {
		return fun.Result{}, err
	}
	return wrap(ctx, c, "state.sls", fun.Args{Pos: []value.Value{a.Mods}, Kw: given(
		"test", a.Test, "exclude", a.Exclude, "pillar", a.Pillar, "pillarenv", a.PillarEnv, "pillar_enc", a.PillarEnc, "saltenv", a.Saltenv,
	)})
}

// checkPillar returns an error for a pillar that is not a mapping.
func checkPillar(c *fun.Call, p value.Value) error {
	if _, ok := p.(*value.Map); p == nil || ok {
		return nil
	}
	if slip := pillar.Mistake(p); slip != nil {
		c.Env.Fault(slip)
	}
	return fun.Errorf("Pillar data must be formatted as a dictionary, not %s: pillar='{\"key\": \"value\"}'", value.TypeName(p))
}

// given returns those of names and values that are not None, as keyword arguments for
// the execution module "state".
func given(args ...value.Value) *value.Map {
	kw := value.MapOf(args...)
	for _, name := range kw.Keys() {
		if kw.At(value.Str(name)) == nil {
			kw.Delete(name)
		}
	}
	return kw
}

// invoke calls a function of the execution module "state". What pillar= gave to
// an orchestration does not reach one within it, which compiles its own.
func invoke(ctx context.Context, c *fun.Call, name string, a fun.Args) (fun.Result, error) {
	env := c.Env
	if env.PillarOverride != nil {
		env = env.Fork(func(e *fun.Env) {
			req := fun.PillarRequest{SaltEnv: e.SaltEnv, PillarEnv: e.Opts.Str("pillarenv"), Grains: e.Grains}
			up := e.Up
			e.PillarOverride = nil
			e.Pillar = value.NewLazyMap(func() *value.Map {
				m, err := up.Pillar(ctx, req)
				if err != nil {
					return value.MapOf("_errors", value.Strings(err.Error()))
				}
				return m
			})
		})
	}
	return env.Invoker.Invoke(jobs.WithoutTurn(ctx, env.JID), fun.Exec, name, a)
}

func wrap(ctx context.Context, c *fun.Call, name string, a fun.Args) (fun.Result, error) {
	if m, ok := c.Env.Fleet.(fun.Masters); ok {
		m.Follow() // a step may wait for an event that an earlier one brings about
	}
	res, err := invoke(ctx, c, name, a)
	if err != nil && !some(res) {
		return fun.Result{}, err
	}
	retcode := int64(0)
	if err != nil || !fun.CheckResult(value.MapOf(c.Env.ID, res.Value)) || res.Retcode != 0 {
		retcode = 1
	}
	data := value.MapOf("data", value.MapOf(c.Env.ID, res.Value), "outputter", "highstate", "retcode", retcode)
	return fun.Result{Value: data, Retcode: int(retcode), Out: "highstate"}, err
}

// some reports whether a run that was cancelled has returns of its steps.
func some(res fun.Result) bool {
	m, ok := res.Value.(*value.Map)
	return ok && m.Len() > 0
}

type singleArgs struct {
	Fun  value.Value `arg:"fun,required,str" doc:"state function, such as salt.function"`
	Name value.Value `arg:"name,required,str" doc:"name of the step"`
	stepArgs
	Rest fun.Kwargs
}

// single runs one step. Salt: salt/runners/state.py orchestrate_single.
func single(ctx context.Context, c *fun.Call, a *singleArgs) (fun.Result, error) {
	return states(ctx, c, "state.single", &a.stepArgs, a.Rest, a.Fun, a.Name)
}

type highArgs struct {
	Data value.Value `arg:"data,required,dict" doc:"high data"`
	stepArgs
	Rest fun.Kwargs
}

// high runs high data. Salt: salt/runners/state.py orchestrate_high.
func high(ctx context.Context, c *fun.Call, a *highArgs) (fun.Result, error) {
	if a.Pillar != nil && fun.MapOf(a.Pillar) == nil {
		return fun.Result{}, fun.Errorf("Pillar data must be formatted as a dictionary, not %s", value.TypeName(a.Pillar))
	}
	return states(ctx, c, "state.high", &a.stepArgs, a.Rest, a.Data)
}

// states runs an execution function whose return is that of states.
func states(ctx context.Context, c *fun.Call, name string, a *stepArgs, rest fun.Kwargs, pos ...value.Value) (fun.Result, error) {
	kw := rest.Copy()
	kw.Update(given("test", a.Test, "pillar", a.Pillar))
	res, err := invoke(ctx, c, name, fun.Args{Pos: pos, Kw: kw})
	if err != nil {
		return fun.Result{}, err
	}
	data := value.MapOf(c.Env.ID, res.Value)
	retcode := 0
	if !fun.CheckResult(data) || res.Retcode != 0 {
		retcode = 1
	}
	return fun.Result{Value: data, Retcode: retcode, Out: "highstate"}, nil
}

// showSLS shows high data. Salt: salt/runners/state.py orchestrate_show_sls.
func showSLS(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	if err := checkPillar(c, a.Pillar); err != nil {
		return fun.Result{}, err
	}
	res, err := invoke(ctx, c, "state.show_sls", fun.Args{Pos: []value.Value{a.Mods}, Kw: given(
		"test", a.Test, "pillar", a.Pillar, "pillarenv", a.PillarEnv, "pillar_enc", a.PillarEnc, "saltenv", a.Saltenv,
	)})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: value.MapOf(c.Env.ID, res.Value), Retcode: res.Retcode}, nil
}
