package salt

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type functionGiven struct {
	targetArgs
	ExpectMinions bool        `arg:"expect_minions" default:"False" doc:"an explicit False ignores targets that do not return"`
	FailFunction  string      `arg:"fail_function" doc:"execution function on the controller that checks each return; False marks the target as failed"`
	Arg           value.Value `arg:"arg" doc:"list of positional arguments"`
	Kwarg         value.Value `arg:"kwarg" doc:"mapping of keyword arguments"`
	jobArgs
	_ fun.Kwargs
}

// function runs an execution function on targets.
//
// Salt: salt/states/saltmod.py function. Difference: fail_minions tolerates
// every kind of failure, as its documentation says.
func function(ctx context.Context, c *fun.Call, a *functionGiven) fun.Ret {
	if ret, none := noTargets(c, &a.targetArgs); none {
		return ret
	}
	name := c.Name
	ret := fun.Ret{Result: fun.OK, Extra: value.NewMap(2), Order: retOrder()}
	var warnings []string
	pos := fun.ItemsOf(a.Arg)
	if s, ok := a.Arg.(string); ok {
		warnings = append(warnings, "Please specify 'arg' as a list of arguments.")
		ret.Extra.Set("warnings", value.Strings(warnings...))
		pos = nil
		for w := range strings.FieldsSeq(s) {
			pos = append(pos, w)
		}
	}
	if c.Test {
		ret.Result, ret.Comment = fun.WouldChange, fmt.Sprintf("Function %s would be executed on target %s", name, value.Str(a.Tgt))
		return ret
	}
	kw, ok := a.Kwarg.(*value.Map)
	if !ok {
		// Salt hands over nothing of what is not a dict (salt/utils/args.py
		// condition_input).
		if v := a.Kwarg; value.Truth(v) {
			c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: kwarg must be a mapping, not %s: the function gets none of it", c.Low.ID, value.Kind(v))})
		}
		kw = value.NewMap(0)
	}
	tolerated, bad := failMinions(a.FailMinions)
	if bad {
		warnings = append(warnings, badFailMinions)
	}
	if len(warnings) > 0 {
		ret.Extra.Set("warnings", value.Strings(warnings...))
	}
	judged := &judging{judge: func(ctx context.Context, r fun.Return) verdict {
		v, good, err := judge(ctx, c, r, a.FailFunction)
		return verdict{v: v, good: good, err: err}
	}}
	rets, err := run(ctx, c, stepGiven{targetArgs: &a.targetArgs, jobArgs: &a.jobArgs, expectMinions: a.ExpectMinions}, fun.Job{Fun: name, Args: fun.Args{Pos: pos, Kw: kw}}, judged)
	if err != nil {
		return fun.Ret{Comment: fault(c, &a.targetArgs, err, "No minions responded"), Extra: ret.Extra}
	}
	if ret, passed := rets.passedOver(); passed {
		return ret
	}
	if a.Asynchronous {
		return submitted(c, &a.jobArgs, "Function", rets, ret.Extra)
	}
	if rets.nobody() {
		warnNone(ctx, c, &a.targetArgs)
		return fun.Ret{Comment: "No minions responded", Extra: ret.Extra}
	}
	if rets.sum.JID != "" && a.Batch == nil {
		ret.Extra.Set("__jid__", rets.sum.JID)
	}
	warnSilent(c, rets.all)
	noteSilent(ret.Extra, rets.all)
	changes := value.NewMap(len(rets.all))
	var failed, ran []string
	for _, r := range rets.all {
		judged := judged.of(ctx, r)
		if judged.err != nil {
			return fun.Ret{Comment: judged.err.Error(), Extra: ret.Extra}
		}
		if !judged.good && !tolerated[r.ID] && !unexpected(c, a.ExpectMinions, r) {
			failed = append(failed, r.ID)
		}
		changes.Set(r.ID, judged.v)
		ran = append(ran, r.ID)
	}
	failed = append(failed, rets.leftOut(failed, 0)...)
	if changes.Len() > 0 {
		ret.Changes = value.MapOf("ret", changes)
	}
	comment := "Function ran successfully."
	if rets.halt != nil {
		ret.Result, comment = fun.Failed, ""
	}
	if len(failed) > 0 {
		ret.Result = fun.Failed
		comment = fmt.Sprintf("Running function %s failed on minions: %s", name, strings.Join(failed, ", "))
	}
	if len(ran) > 0 {
		comment += fmt.Sprintf(" Function %s ran on %s.", name, strings.Join(ran, ", "))
	}
	ret.Comment = lines(strings.TrimSpace(comment), rets.noteWaves(ret.Extra), rets.noteOutside(ret.Extra))
	return ret
}

// judge decides whether one target succeeded: by its return code, then by the
// function fail, where that is not "".
func judge(ctx context.Context, c *fun.Call, r fun.Return, fail string) (v value.Value, good bool, err error) {
	if r.Stage != fun.Returned {
		return false, false, nil
	}
	v, err = r.Value()
	if err != nil {
		return err.Error(), false, nil
	}
	if r.Retcode != 0 {
		return v, false, nil
	}
	if fail == "" {
		// A plain False is a failure, as a minion's return code says.
		b, isBool := v.(bool)
		return v, !isBool || b, nil
	}
	res, err := c.Env.Exec(ctx, fail, value.NewMap(0), v)
	if err != nil {
		return v, false, fmt.Errorf("fail_function %s: %w", fail, err)
	}
	return v, value.Truth(res) && v != false, nil
}
