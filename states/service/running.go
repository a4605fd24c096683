package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/systemd"
	"brine/states/dryrun"
)

// readEnable makes a boolean, or None, of the text of enable.
//
// Difference: for Salt all text but true and numbers is False, so that 'yes' and None,
// which is text in YAML, disable the service.
func (a *bootArgs) readEnable() (fault string) {
	text, ok := a.Enable.(string)
	if !ok {
		return ""
	}
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		a.Enable = true
	case "false", "no", "off", "0":
		a.Enable = false
	case "none", "":
		a.Enable = nil
	default:
		return "enable must be True, False or None, not " + value.Repr(text)
	}
	return ""
}

type runningArgs struct {
	nameArg
	bootArgs
	timeoutArgs
	unmaskArgs
	Wait time.Duration `arg:"wait" default:"3" unit:"s" doc:"systemd, with no_block: wait this long for the service to start"`
	enableArgs
	Reload      bool `arg:"reload" default:"False" doc:"with watch: reload the service instead of restarting it"`
	FullRestart bool `arg:"full_restart" default:"False" doc:"with watch: stop and start the service, where its provider can"`
	Force       bool `arg:"force" default:"False" doc:"with watch and reload: restart the service if it cannot reload"`
	Rest        fun.Kwargs
}

// options are the arguments that the functions share.
func (a *runningArgs) options() options {
	return options{bootArgs: a.bootArgs, timeoutArgs: a.timeoutArgs, unmaskArgs: a.unmaskArgs, enableArgs: a.enableArgs, wait: a.Wait, rest: a.Rest}
}

// running starts the service. Salt: salt/states/service.py running.
func running(ctx context.Context, c *fun.Call, a *runningArgs) fun.Ret {
	j := newJob(c, a.options())
	if a.Rest.Has("enabled") {
		return j.misnamed()
	}
	if fault := j.readEnable(); fault != "" {
		return fun.Fail("%s", fault)
	}
	if ret, is := j.offline(ctx); is {
		return ret
	}
	there, err := j.available(ctx)
	if err != nil {
		return j.failed(err)
	}
	if !there {
		return j.notThere(fun.Failed, "started")
	}
	runs, err := j.status(ctx)
	if err != nil {
		return j.failed(err)
	}
	var bare fun.Ret // of unmasking
	unmasking := ""
	if value.Truth(a.Unmask) {
		bare = newJob(c, options{}).mask(ctx, false, value.Truth(a.UnmaskRuntime))
		if bare.Err != nil || bare.Result == fun.Failed {
			return bare
		}
		unmasking = value.Str(bare.Comment)
	}
	switch {
	case runs:
		return j.alreadyRunning(ctx, bare, unmasking)
	case c.Test:
		if why := j.cannotStart(ctx); why != "" {
			return j.ret(fun.Failed, "%s", why)
		}
		return j.ret(fun.WouldChange, "%s", lines(fmt.Sprintf("Service %s is set to start", c.Name), unmasking))
	}
	ret := j.start(ctx)
	if ret.Err == nil && unmasking != "" && ret.Result != fun.Failed {
		ret.Comment = value.Str(ret.Comment) + "\n" + unmasking
	}
	return ret
}

// alreadyRunning is the return for a service that runs, after its start at boot
// was looked to. What unmasking changed is reported.
func (j *job) alreadyRunning(ctx context.Context, bare fun.Ret, unmasking string) fun.Ret {
	if ret, is := j.boot(ctx); is {
		return ret
	}
	ret := j.ret(fun.OK, "%s", lines(fmt.Sprintf("The service %s is already running", j.c.Name), unmasking))
	if bare.Changes != nil && value.Truth(bare.Changes) {
		ret.Changes, ret.Result = bare.Changes, bare.Result
	}
	return ret
}

// boot enables or disables a service that is in the state it should be in. It
// returns false where nothing is asked or due.
func (j *job) boot(ctx context.Context) (fun.Ret, bool) {
	if j.Enable == nil {
		return fun.Ret{}, false
	}
	want := value.Truth(j.Enable)
	is, err := j.boots(ctx, want)
	if err != nil {
		return j.failed(err), true
	}
	if is == want {
		return fun.Ret{}, false
	}
	return j.toggle(ctx, want, steady, fun.OK), true
}

// cannotStart says why systemd will refuse to start the unit, as far as a dry run
// can know.
func (j *job) cannotStart(ctx context.Context) string {
	u := j.unit(ctx)
	if u == nil || j.unmasks() || !dryrun.Certain(j.c) {
		return ""
	}
	switch u.Load {
	case "masked":
		return fmt.Sprintf("Failed to start %s: Unit %s is masked.", u.ID, u.ID)
	case "bad-setting":
		return fmt.Sprintf("Failed to start %s: Unit %s has a bad unit file setting.\nSee system logs and 'systemctl status %s' for details.", u.ID, u.ID, u.ID)
	}
	return ""
}

// start starts the service, and says why where it does not.
func (j *job) start(ctx context.Context) fun.Ret { return j.withCause(ctx, j.tryStart(ctx)) }

// tryStart starts the service, looks whether it runs, and has it start at boot or not.
func (j *job) tryStart(ctx context.Context) fun.Ret {
	c := j.c
	ok, err := j.timed(ctx, "start")
	if err != nil {
		return j.failed(err)
	}
	if !ok {
		return j.withBoot(ctx, j.ret(fun.Failed, "Service %s failed to start", c.Name), stopped)
	}
	if err := j.delay(ctx); err != nil {
		return fun.Raise(err)
	}
	if value.Truth(j.NoBlock) && j.systemd {
		if err := systemd.Settle(ctx, c.Env, c.Name, j.wait); err != nil {
			return j.failed(err)
		}
	}
	runs, err := j.status(ctx)
	if err != nil {
		return j.failed(err)
	}
	ret, ph := j.ret(fun.OK, "Started service %s", c.Name), started
	if u := j.unit(ctx); !runs && u != nil && u.Ran() {
		j.changes.Set(c.Name, true)
		return j.ranToItsEnd(ctx)
	}
	if runs {
		j.changes.Set(c.Name, true)
	} else {
		ret, ph = j.ret(fun.Failed, "Service %s failed to start", c.Name), stopped
		if j.systemd {
			systemd.ShowJournal(ctx, c.Env, j.pos(), c.Name, j.began)
		}
	}
	ret = j.withBoot(ctx, ret, ph)
	if ret.Err == nil && fun.SecondsOf(j.InitDelay) > 0 {
		ret.Comment = fmt.Sprintf("%s\nDelayed return for %s seconds", value.Str(ret.Comment), value.Str(j.InitDelay))
	}
	return ret
}

// ranToItsEnd is the return for a unit that does one thing and ends, and has done
// so.
func (j *job) ranToItsEnd(ctx context.Context) fun.Ret {
	text := fmt.Sprintf("Service %s ran and ended, as a oneshot unit does", j.c.Name)
	changes := j.changes
	ret, is := j.boot(ctx)
	if !is {
		return j.ret(fun.OK, "%s", text)
	}
	if ret.Err == nil {
		ret.Changes, ret.Comment = changes, text+"\n"+value.Str(ret.Comment)
	}
	return ret
}

// withBoot has a service that was started or stopped, or failed to, start at boot
// or not, where the state asks for it; ret is the return without that.
func (j *job) withBoot(ctx context.Context, ret fun.Ret, ph phase) fun.Ret {
	if j.Enable == nil {
		ret.Changes = j.changes
		return ret
	}
	return j.toggle(ctx, value.Truth(j.Enable), ph, ret.Result)
}

type deadArgs struct {
	nameArg
	bootArgs
	timeoutArgs
	enableArgs
	Rest fun.Kwargs
}

// dead stops the service. Salt: salt/states/service.py dead.
func dead(ctx context.Context, c *fun.Call, a *deadArgs) fun.Ret {
	j := newJob(c, options{bootArgs: a.bootArgs, timeoutArgs: a.timeoutArgs, enableArgs: a.enableArgs, rest: a.Rest})
	if a.Rest.Has("enabled") {
		return j.misnamed()
	}
	if fault := j.readEnable(); fault != "" {
		return fun.Fail("%s", fault)
	}
	if ret, is := j.offline(ctx); is {
		return ret
	}
	there, err := j.available(ctx)
	if err != nil {
		return j.failed(err)
	}
	if !there {
		return j.notThere(fun.OK, "stopped")
	}
	runs, err := j.status(ctx)
	if err != nil {
		return j.failed(err)
	}
	switch {
	case !runs:
		if ret, is := j.boot(ctx); is {
			return ret
		}
		return j.ret(fun.OK, "The service %s is already dead", c.Name)
	case c.Test:
		return j.ret(fun.WouldChange, "Service %s is set to be killed", c.Name)
	}
	ok, err := j.timed(ctx, "stop")
	if err != nil {
		return j.failed(err)
	}
	if !ok {
		return j.withCause(ctx, j.withBoot(ctx, j.ret(fun.Failed, "Service %s failed to die", c.Name), started))
	}
	if err := j.delay(ctx); err != nil {
		return fun.Raise(err)
	}
	if runs, err = j.status(ctx); err != nil {
		return j.failed(err)
	}
	if runs {
		return j.withCause(ctx, j.withBoot(ctx, j.ret(fun.Failed, "Service %s failed to die", c.Name), started))
	}
	j.changes.Set(c.Name, false)
	return j.withBoot(ctx, j.ret(fun.OK, "Service %s was killed", c.Name), stopped)
}
