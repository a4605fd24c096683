// Package service is Salt's state module "service": services that run, start at
// boot, or may not be started.
//
// It works with every provider of the execution module "service". Where that is
// systemd's, it also tells what only systemd knows: see job.unit.
package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/modules/systemd"
	"brine/states/dryrun"
)

// States returns the rows of the state module "service".
func States() fun.Module {
	return fun.Module{Name: "service", Kind: fun.State, Doc: "Manage services.", Avail: provided, Watch: fun.StateFunc(watch).State, Specs: specs}
}

// provided reports whether there is a provider of the execution module.
func provided(env *fun.Env) (bool, string) {
	mod, why := env.Provider(fun.Exec, "service")
	return mod != nil, why
}

// A job is one state in progress.
type job struct {
	c       *fun.Call
	systemd bool
	changes *value.Map
	began   time.Time
	options
	passed *value.Map // what goes on to the provider's functions, where they take it
}

// options are the arguments of the functions, as far as the one that is called has
// them.
type options struct {
	bootArgs
	timeoutArgs
	unmaskArgs
	enableArgs
	root value.Value
	wait time.Duration
	rest fun.Kwargs
}

func newJob(c *fun.Call, o options) *job {
	return &job{c: c, systemd: systemd.Serves(c.Env), changes: value.NewMap(1), began: c.Env.Host.Now(), options: o, passed: o.handedOn()}
}

// handedOn returns the arguments that go on to the provider's functions. Also those
// that the called function does not declare do.
func (o *options) handedOn() *value.Map {
	m := value.NewMap(5)
	for _, p := range [...]struct {
		name  string
		given value.Value
	}{{"no_block", o.NoBlock}, {"unmask", o.Unmask}, {"unmask_runtime", o.UnmaskRuntime}, {"root", o.root}, {"runlevels", o.Runlevels}} {
		if p.given == nil {
			p.given = o.rest.At(p.name)
		}
		if p.given != nil {
			m.Set(p.name, p.given)
		}
	}
	return m
}

// ret is the job's return.
func (j *job) ret(result fun.Outcome, format string, a ...any) fun.Ret {
	return fun.Ret{Result: result, Changes: j.changes, Comment: fmt.Sprintf(format, a...)}
}

// failed is the return for an error of an execution function.
func (j *job) failed(err error) fun.Ret {
	if said, ok := errors.AsType[*fun.CommandError](err); ok {
		return j.ret(fun.Failed, "%s", said.Msg)
	}
	return fun.Raise(err)
}

// withCause adds the cause to a return that failed, beside Salt's comment: what systemd
// and the journal say of the unit.
func (j *job) withCause(ctx context.Context, ret fun.Ret) fun.Ret {
	if ret.Err != nil || ret.Result != fun.Failed || !j.systemd || ctx.Err() != nil {
		return ret
	}
	status, output := systemd.Why(ctx, j.c.Env, j.c.Name, j.began)
	if status == 0 && output == "" {
		return ret
	}
	if ret.Extra == nil {
		ret.Extra = value.NewMap(1)
	}
	ret.Extra.Set(cause.Key, cause.Beside(status, output))
	return ret
}

// pos is where the state was written.
func (j *job) pos() source.Pos {
	if j.c.Low == nil {
		return source.Pos{}
	}
	return j.c.Low.Pos
}

// unmasks reports whether a mask is to be removed first.
func (j *job) unmasks() bool {
	return value.Truth(j.passed.At("unmask")) || value.Truth(j.passed.At("unmask_runtime"))
}

// has reports whether the provider has a function.
func (j *job) has(fn string) bool {
	_, _, err := j.c.Env.Find(fun.Exec, "service."+fn)
	return err == nil
}

// call calls a function of the provider for the service, with the arguments of
// the state that it takes.
func (j *job) call(ctx context.Context, fn string, more ...value.Value) (value.Value, error) {
	_, spec, err := j.c.Env.Find(fun.Exec, "service."+fn)
	if err != nil {
		return nil, err
	}
	kw := value.NewMap(4)
	for k, v := range j.passed.All() {
		name := value.Str(k)
		if spec.Declares(name) || spec.VarKw && name == "runlevels" {
			kw.Set(name, v)
		} else if value.Truth(v) && (fn == "start" || fn == "stop") && (name == "no_block" || name == "unmask" || name == "unmask_runtime") && !j.systemd {
			j.c.Env.Warnf(j.pos(), "the argument %s is for systemd, which does not manage the services here", name)
		}
	}
	pos := append([]value.Value{j.c.Name}, more...)
	return j.c.Env.Exec(ctx, "service."+fn, kw, pos...)
}

// yes calls a function that returns a truth.
func (j *job) yes(ctx context.Context, fn string, more ...value.Value) (bool, error) {
	v, err := j.call(ctx, fn, more...)
	return err == nil && value.Truth(v), err
}

// status returns whether the service runs.
func (j *job) status(ctx context.Context) (bool, error) {
	if j.Sig != nil {
		return j.yes(ctx, "status", j.Sig)
	}
	return j.yes(ctx, "status")
}

// available reports whether there is such a service.
func (j *job) available(ctx context.Context) (bool, error) {
	if j.has("available") {
		return j.yes(ctx, "available")
	}
	res, err := j.c.Env.Exec(ctx, "service.get_all", nil)
	if err != nil {
		return false, err
	}
	switch all := res.(type) {
	case *value.List:
		for _, n := range all.Items {
			if value.Str(n) == j.c.Name {
				return true, nil
			}
		}
	case value.Mapping:
		_, ok := all.Get(j.c.Name)
		return ok, nil
	}
	return false, nil
}

// unit returns what systemd knows of the service, nil where systemd does not
// manage it.
func (j *job) unit(ctx context.Context) *systemd.Unit {
	if !j.systemd {
		return nil
	}
	u, err := systemd.Look(ctx, j.c.Env, j.c.Name)
	if err != nil {
		return nil
	}
	return u
}

// notThere is the return for a service that there is not. without is the outcome
// then; done says what would happen to one that a state before this one brings.
func (j *job) notThere(without fun.Outcome, done string) fun.Ret {
	if j.c.Test && !dryrun.Certain(j.c) {
		ret := j.ret(fun.WouldChange, "Service %s not present; if created in this state run, it would have been %s", j.c.Name, done)
		if j.c.Env.Plan {
			ret = ret.Planned(fun.PlanUnsure, "there is no such service now, and a state before it may bring it")
		}
		return ret
	}
	return j.ret(without, "The named service %s is not available", j.c.Name)
}

// misnamed is the return for an argument that is likely meant to be enable.
func (j *job) misnamed() fun.Ret {
	return j.ret(fun.Failed, `Service %s uses non-existent option "enabled".  Perhaps "enable" option was intended?`, j.c.Name)
}

// offline is the return where systemd's tools are there, but no systemd runs.
func (j *job) offline(ctx context.Context) (fun.Ret, bool) {
	if !j.has("offline") {
		return fun.Ret{}, false
	}
	res, err := j.c.Env.Exec(ctx, "service.offline", nil)
	if err != nil || !value.Truth(res) {
		return fun.Ret{}, false
	}
	return j.ret(fun.OK, "Running in OFFLINE mode. Nothing to do"), true
}

// delay waits as init_delay says.
func (j *job) delay(ctx context.Context) error {
	d := fun.SecondsOf(j.InitDelay)
	if d <= 0 {
		return ctx.Err()
	}
	err := j.c.Env.Host.Sleep(ctx, d)
	if j.systemd {
		systemd.Forget(j.c.Env)
	}
	return err
}

// timed calls a function of the provider, for the time at most that timeout allows.
func (j *job) timed(ctx context.Context, fn string) (bool, error) {
	limit := fun.SecondsOf(j.Timeout)
	if limit <= 0 {
		return j.yes(ctx, fn)
	}
	short, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ok, err := j.yes(short, fn)
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		return false, fun.Errorf("Service %s did not %s within %s seconds", j.c.Name, fn, value.Str(j.Timeout))
	}
	return ok, err
}

// boots reports whether the service starts at boot, as far as enable=want is
// concerned: a static unit is fine either way.
func (j *job) boots(ctx context.Context, want bool) (bool, error) {
	if !j.has("enabled") {
		return true, nil
	}
	if j.static(ctx) {
		if want {
			j.c.Env.Warnf(j.pos(), "%s is a static unit: it has no [Install] section, so it cannot be enabled; what needs it starts it", j.c.Name)
		}
		return want, nil
	}
	return j.yes(ctx, "enabled")
}

// static reports whether the service is a unit that can be neither enabled nor
// disabled.
func (j *job) static(ctx context.Context) bool {
	if !j.systemd || j.passed.Has("root") {
		return false
	}
	word, err := systemd.FileState(ctx, j.c.Env, j.c.Name)
	return err == nil && word == "static"
}

// lines joins what is not empty.
func lines(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n")
}
