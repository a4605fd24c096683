// Package publish is Salt's execution module "publish": functions that this machine
// calls on other machines of its run, where the controller's configuration allows it.
package publish

import (
	"context"
	"math"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Module returns the execution module "publish".
func Module() fun.Module {
	return fun.Module{Name: "publish", Kind: fun.Exec, Doc: "Call functions on other machines, and runner functions on the controller.", Specs: specs}
}

// words are the arguments of the function to call: a list, or one; text is read as
// YAML first. Salt: salt/modules/publish.py _parse_args.
func words(v value.Value) []value.Value {
	if s, ok := v.(string); ok {
		if read, err := yamlsalt.LoadString(s); err == nil {
			switch read.(type) {
			case *value.List, *value.Map, bool, int64, float64:
				v = read
			}
		}
	}
	switch x := v.(type) {
	case nil:
		return nil
	case *value.List:
		return x.Items
	}
	return []value.Value{v}
}

func ask(ctx context.Context, c *fun.Call, arg value.Value, argFun string, timeout value.Value, req fun.PublishRequest) (fun.Result, error) {
	if c.Env.Publisher == nil {
		return fun.Result{}, fun.Errorf("there are no other machines here: publish works in a run of a controller, as 'brine ssh' is one")
	}
	seconds := timeout
	if s, err := value.ToFloat(seconds); err == nil && s > 0 {
		req.Timeout = time.Duration(math.Min(s, 86400) * float64(time.Second))
	}
	req.ID, req.JID, req.Fun, req.Args = c.Env.ID, c.Env.JID, argFun, words(arg)
	v, err := c.Env.Publisher.Publish(ctx, req)
	if err != nil && ctx.Err() == nil {
		err = fun.Errorf("%v", err) // also what the controller of an agent says
	}
	return fun.Result{Value: v}, err
}

func publish(ctx context.Context, c *fun.Call, a *called) (fun.Result, error) {
	return ask(ctx, c, a.Arg, a.Fun, a.Timeout, fun.PublishRequest{Tgt: a.Tgt, TgtType: a.TgtType, Returner: a.Returner})
}

func fullData(ctx context.Context, c *fun.Call, a *called) (fun.Result, error) {
	return ask(ctx, c, a.Arg, a.Fun, a.Timeout, fun.PublishRequest{Tgt: a.Tgt, TgtType: a.TgtType, Returner: a.Returner, Full: true})
}

type runnerArgs struct {
	_       fun.Arguments
	Fun     string      `arg:"fun,required" doc:"runner function"`
	Arg     value.Value `arg:"arg" doc:"its argument, or a list of them; key=value is one by name"`
	Timeout value.Value `arg:"timeout,str|int|float" default:"5" unit:"s" doc:"not used: the call is waited for"`
}

func runner(ctx context.Context, c *fun.Call, a *runnerArgs) (fun.Result, error) {
	return ask(ctx, c, a.Arg, a.Fun, a.Timeout, fun.PublishRequest{Runner: true})
}
