// Package beaconrun is the runner module "beacon": it collects the events of machines.
package beaconrun

import (
	"context"

	"brine/internal/core/beacon"
	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/runner/collect"
)

// Module returns the runner module "beacon".
func Module() fun.Module {
	return fun.Module{Name: "beacon", Kind: fun.Runner, Doc: "Collect the events of beacons.", Specs: []fun.Spec{{
		Name: "collect", Do: run,
		Doc: "Fetch the events that wait on machines, send them as this controller's, and return how many each had.\n" +
			"The machines remove what was fetched. Whoever listens gets the events, and so does event_return.\n" +
			"A worker with --collect puts them into its queue instead, where none gets lost.",
	}}}
}

type args struct {
	_       fun.Arguments
	Tgt     value.Value `arg:"tgt,required,str|list" doc:"target expression"`
	TgtType string      `arg:"tgt_type" default:"glob" doc:"type of tgt"`
}

func run(ctx context.Context, c *fun.Call, a *args) (fun.Result, error) {
	if c.Env.Fleet == nil {
		return fun.Result{}, fun.Errorf("there is no roster to ask: use 'brine run'")
	}
	v := &collect.Visit{Fleet: c.Env.Fleet, Tgt: a.Tgt, TgtType: a.TgtType, Take: func(_ context.Context, e beacon.Event) error {
		collect.Send(c.Env, e)
		return nil
	}}
	found, err := v.Run(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	out, res := value.NewMap(len(found)), fun.Result{}
	for _, m := range found {
		row := value.MapOf("events", int64(m.Events))
		if m.Left > 0 {
			row.Set("left", int64(m.Left))
		}
		if m.Err != nil {
			row.Set("error", m.Err.Error())
			res.Retcode = 1
		}
		out.Set(m.ID, row)
	}
	res.Value = out
	return res, nil
}
