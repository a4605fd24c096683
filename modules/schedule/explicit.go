package schedule

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/core/schedule"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// singleTimes reads times; fault says why one is none.
func singleTimes(c *fun.Call, a *formatArg, texts ...string) (out []time.Time, fault string) {
	for _, text := range texts {
		t, err := schedule.ReaderOf(c.Env).ParseTime(text, a.TimeFmt)
		if err != nil {
			return nil, "Date string could not be parsed: " + err.Error()
		}
		out = append(out, t)
	}
	return out, ""
}

// noted adds a time to the single times of a job under a key. Those of the day
// before yesterday and older go.
func noted(c *fun.Call, a *formatArg, job *value.Map, key, text string) {
	const keep = 48 * time.Hour
	l := value.NewList()
	if old := job.List(key); old != nil {
		for _, x := range old.Items {
			m, _ := x.(*value.Map)
			t, err := schedule.ReaderOf(c.Env).ParseTime(value.Str(m.At("time")), m.Str("time_fmt"))
			if err == nil && c.Env.Host.Now().Sub(t) < keep {
				l.Append(x)
			}
		}
	}
	l.Append(value.MapOf("time", text, "time_fmt", a.TimeFmt))
	job.Set(key, l)
}

// single changes the single times of a job. Unlike Salt, which has them in the
// memory of its process, it saves them.
func single(ctx context.Context, c *fun.Call, name, verb, state, done string, change func(job *value.Map)) (fun.Result, error) {
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	job, _ := schedule.Merge(b.conf, pillarJobs(c)).At(name).(*value.Map)
	switch {
	case job == nil || isHidden(name):
		return result(false, nil, "Job %s does not exist.", name)
	case dryRun(c, false):
		return result(true, nil, "Job: %s would be %s in schedule.", name, state)
	}
	job = value.Clone(job).(*value.Map)
	change(job)
	fault := check(c, name, job)
	if on, ok := job.Get("enabled"); fault == "" && ok && !value.Truth(on) {
		fault = "it is disabled"
	}
	if fault != "" {
		return result(false, nil, "Failed to %s job %s in schedule. %s", verb, name, fault)
	}
	if err := b.set(ctx, c, name, job, true); err != nil {
		return result(false, nil, "Failed to %s job %s in schedule. %v", verb, name, err)
	}
	return result(true, nil, "%s Job %s in schedule.", done, name)
}

type skipJobArgs struct {
	nameArg
	currentArg
	formatArg
}

// skipJob. Salt: salt/modules/schedule.py skip_job.
func skipJob(ctx context.Context, c *fun.Call, a *skipJobArgs) (fun.Result, error) {
	if f := named(&a.nameArg); f != nil {
		return fun.Value(f)
	}
	if _, fault := singleTimes(c, &a.formatArg, a.CurrentTime); fault != "" {
		return result(false, nil, "%s", fault)
	}
	return single(ctx, c, a.Name, "skip", "skipped", "Added Skip", func(job *value.Map) { noted(c, &a.formatArg, job, "skip_explicit", a.CurrentTime) })
}

type postponeJobArgs struct {
	nameArg
	currentArg
	NewTime string `arg:"new_time,required" doc:"when it runs instead"`
	formatArg
}

// postponeJob. Salt: salt/modules/schedule.py postpone_job.
func postponeJob(ctx context.Context, c *fun.Call, a *postponeJobArgs) (fun.Result, error) {
	if f := named(&a.nameArg); f != nil {
		return fun.Value(f)
	}
	times, fault := singleTimes(c, &a.formatArg, a.CurrentTime, a.NewTime)
	if fault == "" && !times[1].After(c.Env.Host.Now()) {
		fault = fmt.Sprintf("new_time, %s, has passed.", a.NewTime)
	}
	if fault != "" {
		return result(false, nil, "%s", fault)
	}
	if in, err := installer(c); err == nil {
		if kind, _ := in.Kind(); kind == schedule.Crontab {
			return result(false, nil, "Failed to postpone job %s in schedule. A crontab has no years: use schedule.skip_job, and 'at' for the new time", a.Name)
		}
	}
	return single(ctx, c, a.Name, "postpone", "postponed", "Postponed", func(job *value.Map) {
		noted(c, &a.formatArg, job, "skip_explicit", a.CurrentTime)
		noted(c, &a.formatArg, job, "run_explicit", a.NewTime)
	})
}

// copyJob. Salt: salt/modules/schedule.py copy.
func copyJob(ctx context.Context, c *fun.Call, a *sendArgs) (fun.Result, error) {
	res, _, err := send(ctx, c, a, "copied", "Copied Job %s from schedule to minion(s).")
	return res, err
}

// moveJob. Salt: salt/modules/schedule.py move.
func moveJob(ctx context.Context, c *fun.Call, a *sendArgs) (fun.Result, error) {
	res, sent, err := send(ctx, c, a, "moved", "Moved Job %s from schedule.")
	if err != nil || !sent {
		return res, err
	}
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	if err := b.remove(ctx, c, []string{a.Name}, true); err != nil {
		return result(false, nil, "The job %s was added to the targets, but stays here: %v", a.Name, err)
	}
	return res, nil
}

// send adds a job to the schedule of other machines, which are those of the fleet
// that the run has.
func send(ctx context.Context, c *fun.Call, a *sendArgs, state, done string) (res fun.Result, sent bool, err error) {
	if f := named(&a.nameArg); f != nil {
		res, err = fun.Value(f)
		return res, false, err
	}
	b, err := open(c)
	if err != nil {
		return res, false, err
	}
	name := a.Name
	job, _ := b.jobs(c, "").At(name).(*value.Map)
	failed := func(format string, args ...any) (fun.Result, bool, error) {
		res, err := result(false, nil, format, args...)
		return res, false, err
	}
	switch {
	case job == nil || isHidden(name):
		return failed("Job %s does not exist.", name)
	case dryRun(c, a.Test):
		res, err = result(true, nil, "Job: %s would be %s from schedule.", name, state)
		return res, false, err
	}
	args := addArgs(name, job)
	var ids []string
	if c.Env.Fleet != nil {
		if ids, err = c.Env.Fleet.Match(ctx, a.Target, "glob"); err != nil {
			return res, false, err
		}
	}
	if len(ids) == 0 || len(ids) == 1 && ids[0] == c.Env.ID {
		return failed("This run reaches no machine %q. On the controller, run: brine ssh %s schedule.add%s", a.Target, proc.Quote(a.Target), words(c, args))
	}
	var bad []string
	minions := value.NewList()
	_, err = c.Env.Fleet.Run(ctx, fun.Job{Tgt: value.Strings(ids...), TgtType: "list", Fun: "schedule.add", Args: fun.Args{Kw: args}}, func(r fun.Return) error {
		v, err := r.Value()
		if err != nil {
			return err
		}
		minions.Append(r.ID)
		m, ok := v.(*value.Map)
		switch {
		case r.Stage != fun.Returned || !ok:
			bad = append(bad, r.ID+": "+value.Str(v))
		case !value.Truth(m.At("result")):
			bad = append(bad, r.ID+": "+m.Str("comment"))
		}
		return nil
	})
	switch {
	case err != nil:
		return res, false, err
	case minions.Len() == 0:
		return failed("no servers answered the published schedule.add command")
	case len(bad) > 0:
		return failed("the following minions return False: %s", strings.Join(bad, "; "))
	}
	res, err = fun.Value(value.MapOf("comment", fmt.Sprintf(done, name), "result", true, "minions", minions))
	return res, true, err
}

// addArgs are the arguments of schedule.add for a job.
func addArgs(name string, job *value.Map) *value.Map {
	args := value.MapOf("name", name)
	for k, v := range job.All() {
		switch key := value.Str(k); key {
		case "name", "skip_explicit", "run_explicit":
		case "args", "kwargs":
			args.Set("job_"+key, v)
		default:
			args.Set(key, v)
		}
	}
	return args
}

// words are the arguments of schedule.add as a shell has them. Secrets are masked,
// whoever copies the line puts them in.
func words(c *fun.Call, args *value.Map) string {
	args, _ = value.Clone(args).(*value.Map)
	pos, _ := args.At("job_args").(*value.List)
	kw, _ := args.At("job_kwargs").(*value.Map)
	if pos == nil {
		pos = value.NewList()
	}
	var spec *fun.Spec
	if _, found, err := c.Env.Find(fun.Exec, args.Str("function")); err == nil {
		spec = found
	}
	shown := redact.Args(spec.ArgNames(), pos.Items, kw, spec.SecretArgs()...)
	if pos.Len() > 0 {
		args.Set("job_args", value.NewList(shown.Items[:pos.Len()]...))
	}
	if kw.Len() > 0 {
		last := value.NewMap(0)
		if shown.Len() > pos.Len() {
			last = shown.Items[pos.Len()].(*value.Map)
			last.Delete("__kwarg__")
		}
		if kw.Has("pillar") {
			last.Set("pillar", redact.Hidden)
		}
		args.Set("job_kwargs", last)
	}
	var b strings.Builder
	for k, v := range args.All() {
		v = redact.Named(value.Str(k), v)
		text, ok := v.(string)
		if !ok {
			text = string(value.EncodeJSON(v))
		}
		b.WriteString(" " + proc.Quote(value.Str(k)+"="+text))
	}
	return b.String()
}
