// Package status is Salt's state module "status": whether the load is within limits,
// and a process runs.
package status

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "status".
func States() fun.Module {
	return fun.Module{Name: "status", Kind: fun.State, Doc: "Check the load and processes.", Specs: specs}
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "loadavg", Doc: "Check a load average.", Src: "states/status.py loadavg", Do: loadavg,
	},
	{
		Name: "process", Doc: "Check that a process runs.", Src: "states/status.py process", Do: process,
	},
}

// ret reports with the keys of Salt's order.
func ret(result fun.Outcome, comment string, data value.Value) fun.Ret {
	return fun.Ret{
		Result: result, Comment: comment, Extra: value.MapOf("data", data),
		Order: []string{"name", "result", "comment", "changes", "data"},
	}
}

type loadavgArgs struct {
	_       fun.Arguments
	_       string      `arg:"name,required" doc:"1-min, 5-min or 15-min"`
	Maximum value.Value `arg:"maximum,float" doc:"what it may be at most"`
	Minimum value.Value `arg:"minimum,float" doc:"what it has to be at least"`
}

func loadavg(ctx context.Context, c *fun.Call, a *loadavgArgs) fun.Ret {
	res, err := c.Env.Exec(ctx, "status.loadavg", nil)
	if err != nil {
		return fun.Raise(err)
	}
	none := value.NewMap(0)
	m, _ := res.(*value.Map)
	if m == nil || !m.Has(c.Name) {
		return ret(fun.Failed, fmt.Sprintf("Requested load average %s not available ", c.Name), none)
	}
	low, high := a.Minimum, a.Maximum
	if value.Truth(low) && value.Truth(high) && fun.FloatOf(a.Minimum) >= fun.FloatOf(a.Maximum) {
		return ret(fun.Failed, "Min must be less than max", none)
	}
	data := m.At(c.Name)
	now, err := value.ToFloat(data)
	if err != nil {
		return fun.Raise(err)
	}
	switch {
	case value.Truth(low) && now < fun.FloatOf(a.Minimum):
		return ret(fun.Failed, fmt.Sprintf("Load avg is below minimum of %s at %s", value.Str(low), value.Str(now)), data)
	case value.Truth(high) && now > fun.FloatOf(a.Maximum):
		return ret(fun.Failed, fmt.Sprintf("Load avg above maximum of %s at %s", value.Str(high), value.Str(now)), data)
	}
	return ret(fun.OK, "Load avg in acceptable range", data)
}

type processArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"a regular expression for its line in ps"`
}

func process(ctx context.Context, c *fun.Call, _ *processArgs) fun.Ret {
	res, err := c.Env.Exec(ctx, "status.pid", nil, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if !value.Truth(res) {
		return ret(fun.Failed, fmt.Sprintf("Process signature \"%s\" not found ", c.Name), value.NewMap(0))
	}
	return ret(fun.OK, fmt.Sprintf("Process signature \"%s\" was found ", c.Name), res)
}
