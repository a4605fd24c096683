package service

import (
	"context"
	"errors"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/states/dryrun"
)

// A phase is what a service does while it is enabled or disabled, which Salt's
// comments say.
type phase int

const (
	steady  phase = iota // it was not started or stopped
	started              // it runs
	stopped              // it is dead
)

// texts are the ends of comments by phase.
var texts = [...]struct{ done, failed string }{
	steady:  {"and is in the desired state", "but the service was already running"},
	started: {"and is running", "but the service is running"},
	stopped: {"and is dead", "and the service is dead"},
}

// toggle enables or disables the service, after it was started or stopped or
// neither. result is the outcome so far. Salt: salt/states/service.py _enable,
// _disable.
func (j *job) toggle(ctx context.Context, on bool, ph phase, result fun.Outcome) fun.Ret {
	name := j.c.Name
	action, past := "enable", "enabled"
	if !on {
		action, past = "disable", "disabled"
	}
	there, err := j.available(ctx)
	switch {
	case err != nil:
		return j.failed(err)
	case !there && on:
		return j.ret(fun.Failed, "The named service %s is not available", name)
	case !there:
		return j.ret(fun.OK, "The named service %s is not available", name)
	case !j.has(action) || !j.has(past):
		end := map[phase]string{steady: ", service " + name + " is in the desired state", started: ", service " + name + " started", stopped: ", service " + name + " is dead"}[ph]
		return j.ret(result, "%s is not available on this minion%s", title(action), end)
	}
	is, err := j.boots(ctx, on)
	if err != nil {
		return j.failed(err)
	}
	if is == on {
		if ph == steady {
			j.changes = value.NewMap(0)
		}
		if !on && j.static(ctx) {
			return j.ret(result, "Service %s is static and cannot be disabled, %s", name, texts[ph].done)
		}
		return j.ret(result, "Service %s is already %s, %s", name, past, texts[ph].done)
	}
	if j.c.Test {
		if why := j.cannotEnable(ctx, on); why != "" {
			return j.unable(on, ph, errors.New(why))
		}
		return j.ret(fun.WouldChange, "Service %s set to be %s", name, past)
	}
	ok, err := j.yes(ctx, action)
	var said *fun.CommandError
	if err != nil && !errors.As(err, &said) {
		return fun.Raise(err)
	}
	if err != nil || !ok {
		return j.unable(on, ph, err)
	}
	now, err := j.boots(ctx, on)
	if err != nil {
		return j.failed(err)
	}
	j.changes = value.NewMap(1)
	if now == on {
		j.changes.Set(name, true)
	}
	return j.ret(result, "Service %s has been %s, %s", name, past, texts[ph].done)
}

// unable is the return for a service that could not be enabled or disabled.
func (j *job) unable(on bool, ph phase, err error) fun.Ret {
	not, end := "", texts[ph].failed
	if !on {
		not = "not "
		if ph == started {
			end = "and is running"
		}
	}
	text := fmt.Sprintf("Failed when setting service %s to %sstart at boot, %s", j.c.Name, not, end)
	if err != nil {
		text += ". Additional information follows:\n\n" + err.Error()
	}
	return j.ret(fun.Failed, "%s", text)
}

// cannotEnable says why systemd will refuse to enable the unit, as far as a dry
// run can know.
func (j *job) cannotEnable(ctx context.Context, on bool) string {
	if !on || j.unmasks() || j.passed.Has("root") {
		return ""
	}
	if u := j.unit(ctx); u != nil && u.Load == "masked" && dryrun.Certain(j.c) {
		return fmt.Sprintf("Failed to enable unit: Unit file %s is masked.", u.ID)
	}
	return ""
}

func title(word string) string { return string(word[0]-'a'+'A') + word[1:] }

type enabledArgs struct {
	nameArg
	bootOnlyArgs
	unmaskArgs
	enableArgs
	Rest fun.Kwargs
}

// enabled makes the service start at boot.
func enabled(ctx context.Context, c *fun.Call, a *enabledArgs) fun.Ret {
	j := newJob(c, options{bootArgs: bootArgs{NoBlock: a.NoBlock}, unmaskArgs: a.unmaskArgs, enableArgs: a.enableArgs, root: a.Root, rest: a.Rest})
	if ret, absent := j.absentInTest(ctx, fun.Failed, "enabled"); absent {
		return ret
	}
	return j.toggle(ctx, true, steady, fun.OK)
}

type disabledArgs struct {
	nameArg
	bootOnlyArgs
	enableArgs
	Rest fun.Kwargs
}

// disabled keeps the service from starting at boot.
func disabled(ctx context.Context, c *fun.Call, a *disabledArgs) fun.Ret {
	return newJob(c, options{bootArgs: bootArgs{NoBlock: a.NoBlock}, enableArgs: a.enableArgs, root: a.Root, rest: a.Rest}).toggle(ctx, false, steady, fun.OK)
}

// absentInTest returns what a dry run says of a service that is not there.
func (j *job) absentInTest(ctx context.Context, without fun.Outcome, done string) (fun.Ret, bool) {
	if !j.c.Test {
		return fun.Ret{}, false
	}
	there, err := j.available(ctx)
	if err != nil || there {
		return fun.Ret{}, false
	}
	return j.notThere(without, done), true
}

// maskedArgs are the arguments of masked and unmasked.
type maskedArgs struct {
	nameArg
	runtimeArgs
}

// masked masks the unit.
func masked(ctx context.Context, c *fun.Call, a *maskedArgs) fun.Ret {
	j := newJob(c, options{})
	if u := j.unit(ctx); u != nil && !u.Available() {
		c.Env.Warnf(j.pos(), "there is no unit %s yet; a mask keeps one that comes from being started", c.Name)
	}
	return j.mask(ctx, true, a.Runtime)
}

// unmasked removes the unit's mask.
func unmasked(ctx context.Context, c *fun.Call, a *maskedArgs) fun.Ret {
	return newJob(c, options{}).mask(ctx, false, a.Runtime)
}

// mask masks the unit, or removes its mask. Salt: salt/states/service.py masked,
// unmasked.
func (j *job) mask(ctx context.Context, on, runtime bool) fun.Ret {
	name := j.c.Name
	if !j.has("masked") {
		return j.ret(fun.Failed, "Service masking not available on this minion")
	}
	kind := ""
	if runtime {
		kind = "runtime "
	}
	verb, past, already := "mask", kind+"masked", "is already"
	if !on {
		verb, past, already = "unmask", kind+"unmasked", "was already"
	}
	is, err := j.plainCall(ctx, "masked", runtime)
	if err != nil {
		return j.failed(err)
	}
	if is == on {
		return j.ret(fun.OK, "Service %s %s %s", name, already, past)
	}
	due := value.MapOf(kind+"masked", value.MapOf("old", !on, "new", on))
	if j.c.Test {
		j.changes.Update(due)
		return j.ret(fun.WouldChange, "Service %s would be %s", name, past)
	}
	if _, err := j.plainCall(ctx, verb, runtime); err != nil {
		return j.failed(err)
	}
	is, err = j.plainCall(ctx, "masked", runtime)
	if err != nil {
		return j.failed(err)
	}
	if is != on {
		return j.ret(fun.Failed, "Failed to %s service %s", verb, name)
	}
	j.changes.Update(due)
	return j.ret(fun.OK, "Service %s was %s", name, past)
}

// plainCall calls a function with the name and one more argument.
func (j *job) plainCall(ctx context.Context, fn string, arg value.Value) (bool, error) {
	res, err := j.c.Env.Exec(ctx, "service."+fn, nil, j.c.Name, arg)
	return err == nil && value.Truth(res), err
}
