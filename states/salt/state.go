package salt

import (
	"context"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type stateGiven struct {
	targetArgs
	Highstate     bool            `arg:"highstate" doc:"apply the highstate of the targets"`
	SLS           value.Value     `arg:"sls,str|list[str]" doc:"SLS files to apply, as a comma-separated string or a list"`
	Top           value.Value     `arg:"top,str" doc:"top file to apply"`
	Saltenv       fun.Opt[string] `arg:"saltenv" doc:"environment of the SLS files"`
	Test          fun.Opt[bool]   `arg:"test" doc:"run in test mode; False changes targets even if the orchestration runs in test mode"`
	Pillar        value.Value     `arg:"pillar" doc:"pillar to merge over that of the targets"`
	PillarEnv     value.Value     `arg:"pillarenv,str" doc:"environment of the pillar"`
	ExpectMinions bool            `arg:"expect_minions" default:"True" doc:"fail if targets do not return"`
	Exclude       value.Value     `arg:"exclude,str|list" doc:"SLS files or IDs to exclude"`
	AllowFail     value.Value     `arg:"allow_fail" default:"0" doc:"number of targets that may fail"`
	Concurrent    value.Value     `arg:"concurrent" default:"False" doc:"run beside other state runs on the target"`
	Queue         value.Value     `arg:"queue,bool|int" default:"False" doc:"wait for other state runs on the target instead of failing"`
	_             string          `arg:"orchestration_jid" doc:"job that this step belongs to"`
	jobArgs
	_ fun.Kwargs
}

// state applies SLS files, a top file or the highstate to targets.
// Salt: salt/states/saltmod.py state.
func state(ctx context.Context, c *fun.Call, a *stateGiven) fun.Ret {
	allowFail, ok := allowed(a.AllowFail)
	if !ok {
		return fun.Fail("Passed invalid value for 'allow_fail', must be an int")
	}
	if ret, none := noTargets(c, &a.targetArgs); none {
		return ret
	}
	job := fun.Job{Args: fun.Args{Kw: value.NewMap(8)}}
	switch {
	case a.Highstate:
		job.Fun = "state.highstate"
	case value.Truth(a.Top):
		job.Fun = "state.top"
		job.Args.Pos = []value.Value{a.Top}
	case value.Truth(a.SLS):
		job.Fun = "state.sls"
		job.Args.Pos = []value.Value{strings.Join(fun.StringsOf(a.SLS), ",")}
	default:
		return fun.Fail("No highstate or sls specified, no execution made")
	}
	kw := job.Args.Kw
	if a.Test.Given {
		kw.Set("test", a.Test.V) // false, too: it stands against the targets' own setting
	} else if c.Test {
		kw.Set("test", true)
	}
	for _, further := range [...]struct {
		name  string
		value value.Value
	}{{"pillar", a.Pillar}, {"pillarenv", a.PillarEnv}, {"exclude", a.Exclude}} {
		if value.Truth(further.value) {
			kw.Set(further.name, further.value)
		}
	}
	if a.Saltenv.Given {
		kw.Set("saltenv", a.Saltenv.V)
	}
	// Targets have environments of their own, whatever those of the
	// orchestration, but for one that is this machine itself.
	if masterless(c) {
		if c.Low.SaltEnv != "" && !kw.Has("saltenv") {
			kw.Set("saltenv", c.Low.SaltEnv)
		}
		if v := c.Env.Opts.At("pillarenv"); v != nil && !kw.Has("pillarenv") {
			kw.Set("pillarenv", v)
		}
	}
	if v := a.Queue; value.Truth(v) {
		kw.Set("queue", v)
	}
	concurrent, ok := a.Concurrent.(bool)
	if !ok {
		return fun.Fail("Must pass in boolean for value of 'concurrent'")
	}
	if concurrent {
		kw.Set("concurrent", true)
	}
	judged := &judging{judge: func(_ context.Context, r fun.Return) verdict {
		v, good := minionReturn(r)
		return verdict{v: v, good: good}
	}}
	rets, err := run(ctx, c, stepGiven{targetArgs: &a.targetArgs, jobArgs: &a.jobArgs, expectMinions: a.ExpectMinions, test: a.Test.V}, job, judged)
	if err != nil {
		comment := fault(c, &a.targetArgs, err, "No minions returned")
		if group := noGroup(c, &a.targetArgs); group != "" && comment == group {
			return fun.Raise(&value.PyError{Type: "salt.exceptions.SaltClientError", Msg: group})
		}
		return fun.Ret{Comment: comment}
	}
	if ret, passed := rets.passedOver(); passed {
		return ret
	}
	if a.Asynchronous {
		return submitted(c, &a.jobArgs, "State", rets, value.NewMap(1))
	}
	if rets.nobody() {
		warnNone(ctx, c, &a.targetArgs)
	}
	return judgeStates(ctx, c, a, rets, allowFail, judged)
}

// masterless reports whether the target is this machine itself, whatever the
// step says: its states are called, not published as a job.
func masterless(c *fun.Call) bool { return c.Env.Opts.Str("__role") == "minion" }

// allowed reads allow_fail.
func allowed(v value.Value) (int, bool) {
	switch v := v.(type) {
	case string:
		n, err := strconv.Atoi(strings.TrimSpace(v))
		return n, err == nil
	case float64:
		return int(v), true
	}
	n, ok := value.AsInt(v)
	return int(n), ok
}

// judgeStates makes the step's return of what the targets returned.
func judgeStates(ctx context.Context, c *fun.Call, a *stateGiven, rets *returns, allowFail int, judged *judging) fun.Ret {
	ret := fun.Ret{Result: fun.OK, Extra: value.NewMap(2), Order: retOrder()}
	if rets.sum.JID != "" && a.Batch == nil && !masterless(c) {
		ret.Extra.Set("__jid__", rets.sum.JID)
	}
	tolerated, bad := failMinions(a.FailMinions)
	if bad {
		ret.Extra.Set("warnings", value.Strings(badFailMinions))
	}
	if rets.nobody() && a.ExpectMinions {
		return fun.Ret{Comment: "No minions returned", Extra: ret.Extra}
	}
	warnSilent(c, rets.all)
	noteSilent(ret.Extra, rets.all)
	changes := value.NewMap(len(rets.all))
	var failed, changed, same, lost []string
	for _, r := range rets.all {
		verdict := judged.of(ctx, r)
		mret, good := verdict.v, verdict.good
		if r.Stage != fun.Returned && mret != false {
			lost = append(lost, r.ID+" "+r.Stage.String()+" "+r.Progress())
		}
		if !good {
			if !tolerated[r.ID] && !unexpected(c, a.ExpectMinions, r) {
				failed = append(failed, r.ID)
			}
			changes.Set(r.ID, mret)
			changed = append(changed, r.ID)
			continue
		}
		if anyChanges(mret) {
			changes.Set(r.ID, mret)
			changed = append(changed, r.ID)
		} else {
			same = append(same, r.ID)
		}
	}
	if changes.Len() > 0 {
		ret.Changes = value.MapOf("out", "highstate", "ret", changes)
	}
	left := rets.leftOut(failed, allowFail)
	comment := updated(changed, same)
	if failed = append(failed, left...); len(failed) > allowFail || len(left) > 0 {
		ret.Result = fun.Failed
		comment = "Run failed on minions: " + strings.Join(failed, ", ")
	}
	if rets.halt != nil {
		ret.Result, comment = fun.Failed, ""
		if len(failed) > 0 {
			comment = "Run failed on minions: " + strings.Join(failed, ", ")
		}
	}
	ret.Comment = lines(comment, rets.noteWaves(ret.Extra), rets.noteOutside(ret.Extra))
	if len(lost) > 0 {
		ret.Comment = value.Str(ret.Comment) + "\n" + strings.Join(lost, "\n")
	}
	if testMode(c, a) && ret.Result == fun.OK && changes.Len() > 0 {
		ret.Result = fun.WouldChange
	}
	return ret
}

// minionReturn returns the states of a minion and whether all succeeded: those
// that it told of before it was lost, False if there are none.
func minionReturn(r fun.Return) (value.Value, bool) {
	if r.Stage == fun.Returned {
		v, err := r.Value()
		if err != nil {
			v = err.Error()
		}
		return v, r.Success() && fun.CheckStates(v)
	}
	if states := r.States(); states != nil {
		return states, false
	}
	return false, false
}

// updated is the comment of a run that did not fail.
func updated(changed, same []string) string {
	comment := "States ran successfully."
	if len(changed) > 0 {
		comment += " Updating " + strings.Join(changed, ", ") + "."
	}
	if len(same) > 0 {
		comment += " No changes made to " + strings.Join(same, ", ") + "."
	}
	return comment
}

func anyChanges(ret value.Value) bool {
	m, ok := ret.(*value.Map)
	if !ok {
		return false
	}
	for _, v := range m.All() {
		if s, ok := v.(*value.Map); ok && value.Truth(s.At("changes")) {
			return true
		}
	}
	return false
}
