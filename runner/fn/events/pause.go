package events

import (
	"context"
	"time"

	"brine/internal/fun"
	"brine/internal/jobs"
)

// PauseSpecs are the rows that the modules "state", of runners and of execution
// functions, have for runs under way.
func PauseSpecs() []fun.Spec {
	args := []fun.Arg{
		{Name: "jid", Type: fun.Str, Required: true, Doc: "the job"},
		{Name: "state_id", Type: fun.Str, Doc: "ID of the state; without it the one that is next"},
	}
	return []fun.Spec{
		{
			Name: "pause", Doc: "Have a state run or an orchestration of this machine wait before a state.", Src: "modules/state.py pause", Fn: pause,
			Args: append(args[:2:2], fun.Arg{Name: "duration", Type: fun.Float, Unit: "s", Doc: "go on after this time; without it when state.resume says so"}),
		},
		{Name: "resume", Doc: "Let a run that waits go on.", Src: "modules/state.py resume", Fn: resume, Args: args},
		{Name: "soft_kill", Doc: "Have a state run or an orchestration of this machine end before a state; what is under way returns.", Src: "modules/state.py soft_kill", Fn: softKill, Args: args},
	}
}

func stateID(c *fun.Call) string {
	if id := c.Str("state_id"); id != "" {
		return id
	}
	return jobs.AllStates
}

func pause(_ context.Context, c *fun.Call) (fun.Result, error) {
	var until time.Time
	d := time.Duration(0)
	switch v := c.Value("duration").(type) {
	case int64:
		d = time.Duration(v) * time.Second
	case float64:
		d = time.Duration(v * float64(time.Second))
	}
	if d > 0 {
		until = c.Env.Host.Now().Add(d)
	}
	return done(jobs.NewPauses(c.Env.CacheDir).Pause(c.Str("jid"), stateID(c), until))
}

func resume(_ context.Context, c *fun.Call) (fun.Result, error) {
	return done(jobs.NewPauses(c.Env.CacheDir).Resume(c.Str("jid"), stateID(c)))
}

func softKill(_ context.Context, c *fun.Call) (fun.Result, error) {
	return done(jobs.NewPauses(c.Env.CacheDir).Kill(c.Str("jid"), stateID(c)))
}

func done(err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(true)
}
