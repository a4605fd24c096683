// Package schedule is Salt's state module "schedule": jobs that a machine runs at
// set times.
package schedule

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "schedule".
func States() fun.Module {
	return fun.Module{Name: "schedule", Kind: fun.State, Doc: "Schedule jobs of a machine.", Specs: specs}
}

// call calls an execution function of the module, with the name of the state.
func call(ctx context.Context, c *fun.Call, fn string, kw *value.Map) (*value.Map, error) {
	kw.Set("name", c.Name)
	if c.Test && fn != "build_schedule_item" {
		kw.Set("test", true)
	}
	res, err := c.Env.Exec(ctx, "schedule."+fn, kw)
	if err != nil {
		return nil, err
	}
	m, ok := res.(*value.Map)
	if !ok {
		return nil, fun.Errorf("schedule.%s returned %s", fn, value.TypeName(res))
	}
	return m, nil
}

// scheduled returns the job of the state; nil where there is none.
func scheduled(ctx context.Context, c *fun.Call) (*value.Map, error) {
	res, err := c.Env.Exec(ctx, "schedule.list", value.MapOf("show_all", true, "return_yaml", false))
	if err != nil {
		return nil, err
	}
	all, _ := res.(*value.Map)
	job, _ := all.At(c.Name).(*value.Map)
	return job, nil
}

// given returns the arguments that have a value.
func (a *presentArgs) given() *value.Map {
	kw := value.NewMap(8)
	for k, v := range value.MapOf(
		"job_args", a.JobArgs, "job_kwargs", a.JobKwargs, "seconds", a.Seconds, "minutes", a.Minutes,
		"hours", a.Hours, "days", a.Days, "when", a.When, "cron", a.Cron, "once", a.Once, "once_fmt", a.OnceFmt,
		"run_on_start", a.RunOnStart, "maxrunning", a.Maxrunning, "jid_include", a.JidInclude, "splay", a.Splay,
		"range", a.Range, "skip_during_range", a.SkipDuringRange, "run_after_skip_range", a.RunAfterSkipRange,
		"after", a.After, "until", a.Until, "enabled", a.Enabled, "return_job", a.ReturnJob, "metadata", a.Metadata,
		"returner", a.Returner, "return_config", a.ReturnConfig, "return_kwargs", a.ReturnKwargs,
		"function", a.Function, "persist", a.Persist,
	).All() {
		if v != nil {
			kw.Set(k, v)
		}
	}
	return kw
}

// done words the return of an execution function that changes something.
func done(c *fun.Call, ret *value.Map, err error, text string) fun.Ret {
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case !value.Truth(ret.At("result")):
		return fun.Ret{Comment: ret.At("comment"), Changes: ret.At("changes")}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: ret.At("comment"), Changes: ret.At("changes")}
	}
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf(text, c.Name), Changes: ret.At("changes")}
}

type presentArgs struct {
	nameArg
	Function value.Value `arg:"function,str" doc:"function to run; required for a new job"`
	persistArg
	jobArgs
}

func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	current, err := scheduled(ctx, c)
	if err != nil {
		return fun.Fail("%v", err)
	}
	if current == nil {
		if a.Function == nil {
			return fun.Fail("Job %s has no function", c.Name)
		}
		ret, err := call(ctx, c, "add", a.given())
		return done(c, ret, err, "Adding new job %s to schedule")
	}
	kw := a.given()
	kw.Delete("persist")
	if !kw.Has("function") {
		kw.Set("function", current.At("function"))
	}
	job, err := call(ctx, c, "build_schedule_item", kw)
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case job.Has("result") && !value.Truth(job.At("result")):
		return fun.Ret{Comment: job.At("comment")}
	case value.Equal(job, current):
		return fun.Same("Job %s in correct state", c.Name)
	}
	ret, err := call(ctx, c, "modify", a.given())
	return done(c, ret, err, "Modifying job %s in schedule")
}

// change calls fn for a job unless it is as it should be, which right says.
func change(ctx context.Context, c *fun.Call, a *absentArgs, fn, text string, right func(job *value.Map) bool) fun.Ret {
	job, err := scheduled(ctx, c)
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case job == nil:
		return fun.Same("Job %s not present in schedule", c.Name)
	case right(job):
		return fun.Same(text, c.Name)
	}
	kw := value.NewMap(2)
	if a.Persist != nil {
		kw.Set("persist", a.Persist)
	}
	ret, err := call(ctx, c, fn, kw)
	return done(c, ret, err, text)
}

// absentArgs are the arguments of absent, enabled and disabled.
type absentArgs struct {
	nameArg
	persistArg
}

func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	return change(ctx, c, a, "delete", "Removed job %s from schedule", func(*value.Map) bool { return false })
}

func enabled(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	return change(ctx, c, a, "enable_job", "Enabled job %s from schedule", func(job *value.Map) bool { return value.Truth(job.At("enabled")) })
}

func disabled(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	return change(ctx, c, a, "disable_job", "Disabled job %s from schedule", func(job *value.Map) bool { return !value.Truth(job.At("enabled")) })
}
