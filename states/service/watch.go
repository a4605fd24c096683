package service

import (
	"context"
	"strings"

	"brine/internal/core/fun"
)

// watch is mod_watch: it restarts, reloads or starts a service that runs or is to
// run, and stops one that is to be dead. A state that only says whether a service
// starts at boot has nothing more to do.
// Salt: salt/states/service.py mod_watch.
func watch(ctx context.Context, c *fun.Call, a *runningArgs) fun.Ret {
	j := newJob(c, a.options())
	sfun := c.Spec.Name
	if c.Low != nil && c.Low.Low != nil && c.Low.Low.At("sfun") != nil {
		sfun = c.Low.Low.Str("sfun")
	}
	switch sfun {
	case "running", "dead":
	case "enabled", "disabled", "masked", "unmasked":
		return c.Spec.State(ctx, c)
	default:
		return j.ret(fun.Failed, "Unable to trigger watch for service.%s", sfun)
	}
	runs, err := j.status(ctx)
	if err != nil {
		return j.failed(err)
	}
	fn, verb := "stop", "stopp"
	if sfun == "running" {
		fn, verb = j.refresh(ctx, a, runs)
	} else if !runs {
		return j.ret(fun.OK, "Service is already stopped")
	}
	if c.Test {
		return j.ret(fun.WouldChange, "Service is set to be %sed", verb)
	}
	if fn == "start" && j.has("stop") {
		if _, err := j.call(ctx, "stop"); err != nil {
			return j.failed(err)
		}
	}
	ok, err := j.timed(ctx, fn)
	if err != nil {
		return j.withCause(ctx, j.failed(err))
	}
	if err := j.delay(ctx); err != nil {
		return fun.Raise(err)
	}
	j.changes.Set(c.Name, ok)
	if !ok {
		return j.withCause(ctx, j.ret(fun.Failed, "Failed to %s the service", strings.TrimSuffix(verb, "p")))
	}
	return j.ret(fun.OK, "Service %sed", verb)
}

// refresh returns the function that a change calls for, and the stem of its verb.
func (j *job) refresh(ctx context.Context, a *runningArgs, runs bool) (fn, verb string) {
	if !runs {
		return "start", "start"
	}
	reload := a.Reload && j.has("reload")
	if u := j.unit(ctx); reload && u != nil && !u.Reloads && !a.Force {
		j.c.Env.Warnf(j.pos(), "%s cannot reload: it is restarted", j.c.Name)
		reload = false
	}
	switch {
	case reload && a.Force && j.has("force_reload"):
		return "force_reload", "forcefully reload"
	case reload:
		return "reload", "reload"
	case a.FullRestart && j.has("full_restart"):
		return "full_restart", "fully restart"
	}
	return "restart", "restart"
}
