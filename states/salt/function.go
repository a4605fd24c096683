package salt

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// function runs an execution function on targets.
//
// Salt: salt/states/saltmod.py function. Difference: fail_minions tolerates
// every kind of failure, as its documentation says.
func function(ctx context.Context, c *fun.Call) fun.Ret {
	if ret, none := noTargets(c); none {
		return ret
	}
	name := c.Name
	ret := fun.Ret{Result: fun.OK, Extra: value.NewMap(2), Order: retOrder()}
	var warnings []string
	pos := c.List("arg")
	if s, ok := c.Value("arg").(string); ok {
		warnings = append(warnings, "Please specify 'arg' as a list of arguments.")
		ret.Extra.Set("warnings", value.Strings(warnings...))
		pos = nil
		for w := range strings.FieldsSeq(s) {
			pos = append(pos, w)
		}
	}
	if c.Test {
		ret.Result, ret.Comment = fun.WouldChange, fmt.Sprintf("Function %s would be executed on target %s", name, value.Str(c.Value("tgt")))
		return ret
	}
	kw, ok := c.Value("kwarg").(*value.Map)
	if !ok {
		// Salt hands over nothing of what is no dict (salt/utils/args.py
		// condition_input).
		if v := c.Value("kwarg"); value.Truth(v) {
			c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: kwarg must be a mapping, not %s: the function gets none of it", c.Low.ID, value.Kind(v))})
		}
		kw = value.NewMap(0)
	}
	tolerated, bad := failMinions(c)
	if bad {
		warnings = append(warnings, badFailMinions)
	}
	if len(warnings) > 0 {
		ret.Extra.Set("warnings", value.Strings(warnings...))
	}
	judged := &judging{judge: func(ctx context.Context, r fun.Return) verdict {
		v, good, err := judge(ctx, c, r, c.Str("fail_function"))
		return verdict{v: v, good: good, err: err}
	}}
	rets, err := run(ctx, c, fun.Job{Fun: name, Args: fun.Args{Pos: pos, Kw: kw}}, judged)
	if err != nil {
		return fun.Ret{Comment: fault(c, err, "No minions responded"), Extra: ret.Extra}
	}
	if c.Bool("asynchronous") {
		return submitted(c, "Function", rets, ret.Extra)
	}
	if rets.nobody() {
		warnNone(ctx, c)
		return fun.Ret{Comment: "No minions responded", Extra: ret.Extra}
	}
	if rets.sum.JID != "" && c.IsNone("batch") {
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
		if !judged.good && !tolerated[r.ID] && !unexpected(c, r) {
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
	ret.Comment = lines(strings.TrimSpace(comment), rets.noteWaves(ret.Extra))
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
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, fail, fun.Args{Pos: []value.Value{v}, Kw: value.NewMap(0)})
	if err != nil {
		return v, false, fmt.Errorf("fail_function %s: %w", fail, err)
	}
	return v, value.Truth(res.Value) && v != false, nil
}
