//go:build !slim

package salt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// waves reads the arguments that say how many targets begin, and when, into the job
// of a step.
func waves(ctx context.Context, c *fun.Call, s stepGiven, job *fun.Job, j *judging) error {
	job.BatchWait = s.BatchWait
	if s.MaxFailures != nil {
		share, err := fun.ParseShare(s.MaxFailures)
		if err == nil && share.Percent > 100 {
			err = fun.Errorf("%s is more than all targets", share)
		}
		if err != nil {
			return fun.Errorf("max_failures: %v", err)
		}
		job.MaxFailures = &share
		job.FailHard = false // it says how many
	}
	if s.Waves == nil {
		const between = "%s is what comes between waves, and the step has no waves"
		switch {
		case s.WaveWait != nil:
			return fun.Errorf(between, "wave_wait")
		case s.WaveCheck != nil:
			return fun.Errorf(between, "wave_check")
		}
	} else {
		var err error
		if job.Waves, err = fun.ParseWaves(s.Waves); err != nil {
			return err
		}
	}
	k, err := readCheck(s.WaveCheck)
	if err != nil {
		return err
	}
	if len(job.Waves) == 0 && job.MaxFailures == nil {
		return nil
	}
	if c.Test || s.test { // nothing changes that could be checked
		all, _ := fun.ParseShare("100%")
		job.MaxFailures = &all
		return nil
	}
	job.WaveWait = fun.SecondsOf(s.WaveWait)
	if k != nil {
		job.WaveCheck = func(ctx context.Context, w fun.WaveDone) error { return k.run(ctx, c, s.jobArgs, w) }
	}
	if len(job.Waves) > 0 && c.Env.Targets != nil {
		job.Passed = c.Env.Targets.Passed(c.Low.Tag())
	}
	tolerated, _ := failMinions(s.FailMinions)
	job.Judge = func(r fun.Return) (failed, good bool) {
		good = j.early(ctx, r).good
		if good && len(job.Waves) > 0 && c.Env.Targets != nil {
			c.Env.Targets.Pass(c.Low.Tag(), r.ID)
		}
		return !good && !tolerated[r.ID] && !unexpected(c, s.expectMinions, r), good
	}
	return nil
}

// A check is what must succeed between two waves: a function on targets, or a
// runner function.
type check struct {
	name, fail string
	runner     bool
	args       fun.Args
	tgt        value.Value // nil: the targets of the wave
	tgtType    string
	retries    fun.Retries
}

// readCheck reads the argument wave_check; nil is none.
func readCheck(waveCheck value.Value) (*check, error) {
	var m *value.Map
	switch v := waveCheck.(type) {
	case nil:
		return nil, nil
	case string:
		m = value.MapOf("function", v)
	case *value.Map:
		m = v
	default:
		return nil, fun.Errorf("wave_check must be a mapping or the name of a function, not %s", value.Repr(v))
	}
	fault := func(format string, args ...any) (*check, error) {
		return nil, fun.Errorf("wave_check: %s", fmt.Sprintf(format, args...))
	}
	if err := fun.KnownKeys("wave_check", m, "function", "runner", "arg", "kwarg", "tgt", "tgt_type", "fail_function", "retries", "interval"); err != nil {
		return nil, err
	}
	k := &check{
		name: cmp.Or(m.Str("function"), m.Str("runner")), fail: m.Str("fail_function"), runner: m.Str("runner") != "",
		tgt: m.At("tgt"), tgtType: m.Str("tgt_type"), args: fun.Args{Kw: value.NewMap(0)},
	}
	switch {
	case k.name == "":
		return fault("it needs function, an execution function, or runner, a runner function")
	case k.runner && m.Str("function") != "":
		return fault("it is either a function or a runner")
	case k.runner && (k.tgt != nil || k.tgtType != "" || k.fail != ""):
		return fault("a runner runs on the controller: tgt, tgt_type and fail_function are those of a function")
	case k.tgt == nil && k.tgtType != "":
		return fault("tgt_type without tgt")
	}
	switch arg := m.At("arg").(type) {
	case nil:
	case *value.List:
		k.args.Pos = arg.Items
	default:
		return fault("arg must be a list, not %s", value.Repr(arg))
	}
	switch kw := m.At("kwarg").(type) {
	case nil:
	case *value.Map:
		k.args.Kw = kw.Copy()
	default:
		return fault("kwarg must be a mapping, not %s", value.Repr(kw))
	}
	if v := m.At("retries"); v != nil {
		n, ok := value.AsInt(v)
		if !ok || n < 0 {
			return fault("retries must be a number of times, not %s", value.Repr(v))
		}
		k.retries.Times = int(n)
	}
	k.retries.Interval = time.Second
	if v := m.At("interval"); v != nil {
		s, err := value.ToFloat(v)
		if err != nil || !(s >= 0 && s <= 1e6) {
			return fault("interval must be a number of seconds, not %s", value.Repr(v))
		}
		k.retries.Interval = time.Duration(s * float64(time.Second))
	}
	return k, nil
}

// run checks a wave.
func (k *check) run(ctx context.Context, c *fun.Call, a *jobArgs, w fun.WaveDone) error {
	return k.retries.Try(ctx, func() bool { return c.Env.MayStart(ctx, nil) }, func() error {
		if k.runner {
			return k.callRunner(ctx, c, w)
		}
		return k.onTargets(ctx, c, a, w)
	})
}

// callRunner calls the runner function. An orchestration finds the wave in its
// pillar.
func (k *check) callRunner(ctx context.Context, c *fun.Call, w fun.WaveDone) error {
	args := fun.Args{Pos: k.args.Pos, Kw: k.args.Kw.Copy()}
	if k.name == "state.orchestrate" || k.name == "state.orch" {
		pillar, ok := args.Kw.At("pillar").(*value.Map)
		if ok || !args.Kw.Has("pillar") {
			pillar = pillar.Copy()
			pillar.Set("wave", value.MapOf("number", int64(w.Number), "of", int64(w.Of), "targets", value.Strings(w.Good...)))
			args.Kw.Set("pillar", pillar)
		}
	}
	v, jid, ok, err := call(ctx, c, fun.Runner, k.name, args)
	switch {
	case err != nil:
		return err
	case ok && v != false:
		return nil
	}
	if s, isText := v.(string); isText {
		return fmt.Errorf("%s: %s", k.name, s)
	}
	return fmt.Errorf("%s failed (job %s)", k.name, jid)
}

// onTargets runs the function on the targets.
func (k *check) onTargets(ctx context.Context, c *fun.Call, a *jobArgs, w fun.WaveDone) error {
	job := fun.Job{
		Fun: k.name, Args: k.args, Tgt: value.Strings(w.Good...), TgtType: "list", Roster: a.Roster, Fleet: a.Fleet,
		Timeout: a.Timeout, Gather: a.GatherJobTimeout, MaxWait: a.MaxWait,
		OrchJID: c.Env.JID, Step: c.Low.ID + ": wave_check", Published: !value.Truth(c.Low.Low.At("ssh")),
		Peer: true, // no step of its own
	}
	if k.tgt != nil {
		job.Tgt, job.TgtType = k.tgt, cmp.Or(k.tgtType, "glob")
	} else if len(w.Good) == 0 {
		return errors.New("the step succeeded on no target of the wave")
	}
	return fun.RunCheck(ctx, c.Env.Fleet, job, func(r fun.Return) (bool, error) {
		_, good, err := judge(ctx, c, r, k.fail)
		return good, err
	})
}

// noteWaves puts what became of the waves into the step's own return, and returns
// what its comment says of them.
func (r *returns) noteWaves(extra *value.Map) string {
	var said []string
	if halt := r.halt; halt != nil {
		m := value.MapOf("reason", halt.Why.Error(), "targets", value.Strings(r.notBegun...))
		text := "Stopped"
		if halt.Of > 1 {
			m.Set("wave", int64(halt.Wave))
			m.Set("of", int64(halt.Of))
			text += " in " + halt.Where()
		}
		extra.Set("not_begun", m)
		said = append(said, fmt.Sprintf("%s: %v. Not begun: %s.", text, halt.Why, fun.Some(r.notBegun)))
	}
	if passed := r.sum.Passed; len(passed) > 0 {
		extra.Set("passed", value.Strings(passed...))
		said = append(said, fmt.Sprintf("Not run again where the resumed run had succeeded: %s.", fun.Some(passed)))
	}
	return lines(said...)
}

// haltOf returns why a target was left out of a step that goes in waves, or of which
// a number of targets may fail; nil where another reason was given.
func haltOf(err error) *fun.NotBegunError {
	halt, _ := errors.AsType[*fun.NotBegunError](err)
	return halt
}

// warnHalt warns that targets were left out.
func (r *returns) warnHalt(c *fun.Call) {
	c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: %v: %s", c.Low.ID, r.halt, fun.Some(r.notBegun))})
}
