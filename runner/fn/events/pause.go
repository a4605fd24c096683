package events

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// PauseSpecs are the rows that the execution module "state" has for runs under
// way.
func PauseSpecs() []fun.Spec { return pauseSpecs }

// PauseRunners are those of the runner module "state", which also reach jobs
// that go on without a process of this machine.
func PauseRunners() []fun.Spec { return pauseRunnerSpecs }

// pauseAnywhere, resumeAnywhere and softKillAnywhere also reach the targets of a
// job that nobody waits for: no process here could tell them.
func pauseAnywhere(ctx context.Context, c *fun.Call, a *pauseArgs) (fun.Result, error) {
	res, err := pause(ctx, c, a)
	if err != nil {
		return res, err
	}
	return callDetached(ctx, c, stateCall{"pause", a.JID, a.StateID, a.Duration}, res)
}

func resumeAnywhere(ctx context.Context, c *fun.Call, a *resumeArgs) (fun.Result, error) {
	res, err := resume(ctx, c, a)
	if err != nil {
		return res, err
	}
	return callDetached(ctx, c, stateCall{name: "resume", jid: a.JID, stateID: a.StateID}, res)
}

func softKillAnywhere(ctx context.Context, c *fun.Call, a *stopArgs) (fun.Result, error) {
	res, err := softKill(ctx, c, a)
	if err != nil {
		return res, err
	}
	return callDetached(ctx, c, stateCall{name: "soft_kill", jid: a.JID, stateID: a.StateID}, res)
}

// A stateCall is a call of a function of the module "state" for a job.
type stateCall struct {
	name, jid, stateID string
	duration           value.Value
}

// callDetached makes a call on the targets of the job that work without a process of
// this machine.
func callDetached(ctx context.Context, c *fun.Call, w stateCall, res fun.Result) (fun.Result, error) {
	warn := func(format string, args ...any) { c.Env.Warn(fun.Warning{Text: fmt.Sprintf(format, args...)}) }
	jid := w.jid
	j, err := jobs.NewFiles(c.Env.CacheDir, 0, c.Env.Host.Now).Job(ctx, jid)
	switch {
	case err != nil:
		return res, err
	case j == nil:
		then := "a run that begins with this jid will follow it"
		if w.name == "resume" {
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
	if w.stateID != "" {
		args.Kw.Set("state_id", w.stateID)
	}
	if w.duration != nil {
		args.Kw.Set("duration", w.duration)
	}
	_, err = c.Env.Fleet.Run(ctx, fun.Job{Tgt: value.Strings(open...), TgtType: "list", Fun: "state." + w.name, Args: args}, func(r fun.Return) error {
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

// stateID returns the ID of a state, or what stands for all of them where none is given.
func stateID(id string) string {
	if id != "" {
		return id
	}
	return jobs.AllStates
}

// noStates warns that a request for the states of a job has no effect, because
// the function of the job runs none.
func noStates(ctx context.Context, c *fun.Call, jid, name string) {
	var load *value.Map
	if j, err := jobs.NewFiles(c.Env.CacheDir, 0, c.Env.Host.Now).Job(ctx, jid); err == nil && j != nil {
		if load = j.Load; j.State == jobs.Complete {
			return
		}
	} else if load = jobs.ProcOf(c.Env).Find(jid); load == nil {
		return
	}
	var names []string
	switch f := load.At("fun").(type) {
	case string:
		names = []string{f}
	case *value.List:
		for _, x := range f.Items {
			names = append(names, value.Str(x))
		}
	}
	for _, f := range names {
		short := strings.TrimPrefix(f, "runner.")
		kind := fun.Exec
		if short != f {
			kind = fun.Runner
		}
		// What brine does not have is a module of the tree, or of a Salt master.
		spec := c.Env.Table.Spec(kind, short)
		if strings.HasPrefix(short, "state.") || spec == nil && f != "ssh._raw" {
			return
		}
	}
	if len(names) > 0 {
		c.Env.Warn(fun.Warning{Text: fmt.Sprintf("job %s runs %s, which has no states: state.%s does nothing; saltutil.kill_job ends a job", jid, strings.Join(names, ", "), name)})
	}
}

func pause(ctx context.Context, c *fun.Call, a *pauseArgs) (fun.Result, error) {
	noStates(ctx, c, a.JID, "pause")
	var until time.Time
	if d := fun.SecondsOf(a.Duration); d > 0 {
		until = c.Env.Host.Now().Add(d)
	}
	return done(jobs.NewPauses(c.Env.CacheDir).Pause(a.JID, stateID(a.StateID), until))
}

func resume(_ context.Context, c *fun.Call, a *resumeArgs) (fun.Result, error) {
	p, jid, id := jobs.NewPauses(c.Env.CacheDir), a.JID, stateID(a.StateID)
	if err := p.Resume(jid, id); err != nil || id != jobs.AllStates {
		return done(err)
	}
	p.Forget(jid)
	return done(nil)
}

func softKill(ctx context.Context, c *fun.Call, a *stopArgs) (fun.Result, error) {
	noStates(ctx, c, a.JID, "soft_kill")
	return done(jobs.NewPauses(c.Env.CacheDir).Kill(a.JID, stateID(a.StateID)))
}

func done(err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(nil)
}
