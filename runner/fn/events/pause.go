package events

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/value"
)

// PauseSpecs are the rows that the execution module "state" has for runs under
// way.
func PauseSpecs() []fun.Spec { return pauseSpecs(pause, resume, softKill) }

// PauseRunners are those of the runner module "state", which reach jobs that go
// on without a process of this machine, too.
func PauseRunners() []fun.Spec {
	specs := pauseSpecs(also("pause", pause), also("resume", resume), also("soft_kill", softKill))
	for i := range specs {
		specs[i].Doc = strings.Replace(specs[i].Doc, " of this machine", "", 1)
		specs[i].Src = strings.Replace(specs[i].Src, "modules/", "runners/", 1)
	}
	set, rm := specs[0], specs[1]
	set.Name, rm.Name = "set_pause", "rm_pause"
	return append(specs, set, rm)
}

func pauseSpecs(pause, resume, softKill fun.ExecFn) []fun.Spec {
	args := []fun.Arg{
		{Name: "jid", Type: fun.Str, Required: true, Doc: "the job"},
		{Name: "state_id", Type: fun.Str, Doc: "ID of the state; without it the one that is next"},
	}
	return []fun.Spec{
		{
			Name: "pause", Doc: "Have a state run or an orchestration of this machine wait before a state.", Src: "modules/state.py pause", Fn: pause,
			Args: append(args[:2:2], fun.Arg{Name: "duration", Type: fun.Float, Unit: "s", Doc: "go on after this time; without it when state.resume says so"}),
		},
		{Name: "resume", Doc: "Let a run that waits go on.", Src: "modules/state.py resume", Fn: resume, Args: []fun.Arg{args[0], {Name: "state_id", Type: fun.Str, Doc: "ID of the state; without it all that wait"}}},
		{Name: "soft_kill", Doc: "Have a state run or an orchestration of this machine end before a state; what is under way returns.", Src: "modules/state.py soft_kill", Fn: softKill, Args: args},
	}
}

// also has a wish reach the targets that work on a job which nobody waits for:
// no process here could hand it on.
func also(name string, fn fun.ExecFn) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		res, err := fn(ctx, c)
		if err != nil {
			return res, err
		}
		return tellAway(ctx, c, name, res)
	}
}

// tellAway calls a function of the module "state" on the targets of the job that
// work without a process of this machine.
func tellAway(ctx context.Context, c *fun.Call, name string, res fun.Result) (fun.Result, error) {
	warn := func(format string, args ...any) { c.Env.Warn(fun.Warning{Text: fmt.Sprintf(format, args...)}) }
	jid := c.Str("jid")
	j, err := jobs.NewFiles(c.Env.CacheDir, 0, c.Env.Host.Now).Job(ctx, jid)
	switch {
	case err != nil:
		return res, err
	case j == nil:
		then := "a run that begins with this jid will heed it"
		if name == "resume" {
			then = "what was wished for this jid is taken back"
		}
		warn("there is no job %s in the job cache; %s", jid, then)
		return res, nil
	case j.State == jobs.Complete:
		warn("job %s has ended", jid)
		jobs.NewPauses(c.Env.CacheDir).Forget(jid)
		return res, nil
	}
	open := j.Outstanding()
	if !j.Detached() || c.Env.Fleet == nil || len(open) == 0 {
		return res, nil
	}
	args := fun.Args{Pos: []value.Value{jid}, Kw: value.NewMap(2)}
	for _, k := range []string{"state_id", "duration"} {
		if v, ok := c.Args.Get(k); ok && v != nil {
			args.Kw.Set(k, v)
		}
	}
	_, err = c.Env.Fleet.Run(ctx, fun.Job{Tgt: value.Strings(open...), TgtType: "list", Fun: "state." + name, Args: args}, func(r fun.Return) error {
		if r.Stage != fun.Returned || r.Retcode != 0 {
			res.Retcode = 1
			warn("target %s was not told: %s", r.ID, why(r))
		}
		return nil
	})
	return res, err
}

// why tells how a call on a target failed.
func why(r fun.Return) string {
	if r.Err != nil {
		return r.Err.Error()
	}
	v, err := r.Value()
	if err != nil {
		return err.Error()
	}
	return value.Str(v)
}

func stateID(c *fun.Call) string {
	if id := c.Str("state_id"); id != "" {
		return id
	}
	return jobs.AllStates
}

func pause(_ context.Context, c *fun.Call) (fun.Result, error) {
	var until time.Time
	d, err := seconds(c, "duration")
	if err != nil {
		return fun.Result{}, err
	}
	if d > 0 {
		until = c.Env.Host.Now().Add(d)
	}
	return done(jobs.NewPauses(c.Env.CacheDir).Pause(c.Str("jid"), stateID(c), until))
}

func resume(_ context.Context, c *fun.Call) (fun.Result, error) {
	p, jid, id := jobs.NewPauses(c.Env.CacheDir), c.Str("jid"), stateID(c)
	if err := p.Resume(jid, id); err != nil || id != jobs.AllStates {
		return done(err)
	}
	p.Forget(jid)
	return done(nil)
}

func softKill(_ context.Context, c *fun.Call) (fun.Result, error) {
	return done(jobs.NewPauses(c.Env.CacheDir).Kill(c.Str("jid"), stateID(c)))
}

func done(err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(nil)
}
