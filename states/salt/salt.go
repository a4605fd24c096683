// Package salt is Salt's state module "salt": the steps of an orchestration.
package salt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// States returns the rows of the state module "salt".
func States() fun.Module {
	return fun.Module{Name: "salt", Kind: fun.State, Doc: "Run orchestration steps: states, functions and runners on targets.", Specs: specs}
}

// retOrder is the order of the keys in the returns of salt.state and
// salt.function.
func retOrder() []string { return []string{"name", "changes", "comment", "result"} }

// testMode reports whether the step only says what it would do.
func testMode(c *fun.Call, a *stateGiven) bool { return c.Test || a.Test.V }

// returns are what the targets of a step answered.
type returns struct {
	sum fun.Summary
	all []fun.Return // in order of ids
	// notBegun are targets that failhard left out; Salt's returns have none of
	// them.
	notBegun []string
	// halt says why, where the step goes in waves or a number of targets may fail.
	halt *fun.NotBegunError
}

// run runs a job of the step, as the arguments s say, and collects the returns, which judged judges.
func run(ctx context.Context, c *fun.Call, s stepGiven, job fun.Job, judged *judging) (*returns, error) {
	if c.Env.Fleet == nil {
		return nil, fun.Errorf("this machine reaches no targets: orchestrate from a controller, with 'brine orchestrate' or 'brine run state.orchestrate'")
	}
	job.Tgt, job.TgtType = s.Tgt, s.TgtType
	job.Batch = fun.TextOf(s.Batch)
	// Without batches all targets begin at once, whatever becomes of them.
	job.FailHard = job.Batch != "" && (s.Failhard || value.Truth(c.Env.Opts.At("failhard")))
	if job.Subset = int(s.Subset.V); job.Subset < 0 {
		return nil, fun.Errorf("subset must be a number of targets, not %d", job.Subset)
	}
	if err := conflicts(s.jobArgs); err != nil {
		return nil, err
	}
	if err := waves(ctx, c, s, &job, judged); err != nil {
		return nil, err
	}
	if job.Judge == nil {
		job.Judge = func(r fun.Return) (failed, good bool) {
			good = judged.early(ctx, r).good
			return !good, good
		}
	}
	job.Async = s.Asynchronous
	job.Timeout, job.Gather = s.Timeout, s.GatherJobTimeout
	job.MaxWait = s.MaxWait
	job.Metadata, job.Roster = s.Metadata, s.Roster
	job.Fleet = s.Fleet
	job.OrchJID, job.Step = c.Env.JID, c.Low.ID
	job.Published = !value.Truth(c.Low.Low.At("ssh"))
	job.Returner = strings.Join(fun.StringsOf(s.Ret), ",")
	job.RetConfig, job.RetKwargs = s.RetConfig, s.RetKwargs
	fireArgs(c, job)
	r := &returns{}
	sum, err := c.Env.Fleet.Run(ctx, job, func(ret fun.Return) error {
		if errors.Is(ret.Err, fun.ErrNotBegun) {
			r.notBegun = append(r.notBegun, ret.ID)
			r.halt = haltOf(ret.Err)
		} else {
			r.all = append(r.all, ret)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sort.Slice(r.all, func(i, j int) bool { return r.all[i].ID < r.all[j].ID })
	r.sum = sum
	sort.Strings(r.notBegun)
	switch {
	case r.halt != nil:
		r.warnHalt(c)
	case len(r.notBegun) > 0:
		c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: failhard: not begun on %s", c.Low.ID, strings.Join(r.notBegun, ", "))})
	}
	return r, nil
}

// leftOut returns the targets that count as failed beside failed, the ones that
// did: those that failhard left out, where a failure that is tolerated would
// hide them. Of those that waves left out, the step says so itself.
func (r *returns) leftOut(failed []string, allowed int) []string {
	if len(failed) > allowed || r.halt != nil {
		return nil
	}
	return r.notBegun
}

// fault returns the comment of a step that was not begun. An expression that
// is invalid matches nothing in Salt (none is Salt's text for that); what
// is wrong with it goes to stderr.
// Salt: salt/utils/minions.py CkMinions.check_minions.
func fault(c *fun.Call, a *targetArgs, err error, none string) string {
	var bad *fun.TargetError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: %v", c.Low.ID, bad)})
	if text := noGroup(c, a); text != "" {
		return text
	}
	return none
}

// noGroup says that the nodegroup of a step is none; "" where that is not so.
// Salt: salt/client/__init__.py _prep_pub.
func noGroup(c *fun.Call, a *targetArgs) string {
	tgt := value.Str(a.Tgt)
	if a.TgtType != "nodegroup" || c.Env.Opts.Map("nodegroups").Has(tgt) {
		return ""
	}
	return fmt.Sprintf("Node group %s unavailable in %s", tgt, cmp.Or(c.Env.Opts.Str("conf_file"), "the master config file"))
}

// fireArgs tells the bus what a step does. Salt: salt/states/saltmod.py
// _fire_args.
func fireArgs(c *fun.Call, job fun.Job) {
	if c.Env.Bus == nil {
		return
	}
	kind := "function"
	if c.Spec.Name == "state" {
		kind = "state"
	}
	c.Env.Bus.Fire("salt/run/"+c.Env.JID+"/args", value.MapOf(
		"type", kind, "tgt", job.Tgt, "name", c.Name,
		"args", value.MapOf("arg", redact.Hide(value.NewList(job.Args.Pos...)), "kwarg", redact.Hide(withoutPillar(job.Args.Kw)), "tgt_type", job.TgtType),
	))
}

// withoutPillar leaves the pillar out: it may hold secrets, and events reach
// whoever listens.
func withoutPillar(kw *value.Map) *value.Map {
	if !kw.Has("pillar") {
		return kw
	}
	m := kw.Copy()
	m.Delete("pillar")
	return m
}

// failMinions reads the argument fail_minions; bad says that it is neither a
// list nor text.
func failMinions(arg value.Value) (set map[string]bool, bad bool) {
	set = map[string]bool{}
	switch v := arg.(type) {
	case nil:
	case string:
		for s := range strings.SplitSeq(v, ",") {
			set[strings.TrimSpace(s)] = true
		}
	case *value.List:
		for _, x := range v.Items {
			set[value.Str(x)] = true
		}
	default:
		return set, true
	}
	return set, false
}

// unexpected reports whether a target gave no return, and the step says that it
// does not expect one of all: expect_minions: False. Where the step says
// nothing, a target without a return failed; Salt's salt.function then passes it
// over.
func unexpected(c *fun.Call, expectMinions bool, r fun.Return) bool {
	return r.Stage != fun.Returned && c.Low.Low.Has("expect_minions") && !expectMinions
}

const badFailMinions = "'fail_minions' needs to be a list or a comma separated string. Ignored."

// stageText words a target that gave no return.
func stageText(r fun.Return) string {
	if r.Err != nil {
		return fmt.Sprintf("%s: %v", r.Stage, r.Err)
	}
	return r.Stage.String()
}

// warnSilent names the targets that gave no return, and why, on stderr: Salt's
// return has only False for them.
func warnSilent(c *fun.Call, all []fun.Return) {
	for _, r := range all {
		if r.Stage != fun.Returned {
			c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: target %s: %s", c.Low.ID, r.ID, stageText(r))})
		}
	}
}

// noteSilent puts the reason of each target that gave no return into the
// step's own return, where a reader of JSON finds it. Of a target that no roster
// has, the return is Salt's.
func noteSilent(extra *value.Map, all []fun.Return) {
	why := value.NewMap(0)
	for _, r := range all {
		if _, unlisted := errors.AsType[*fun.UnlistedError](r.Err); r.Stage != fun.Returned && !unlisted {
			why.Set(r.ID, stageText(r))
		}
	}
	if why.Len() > 0 {
		extra.Set("no_return", why)
	}
}

// warnNone says that a target means nobody, and which id is nearest.
func warnNone(ctx context.Context, c *fun.Call, a *targetArgs) {
	tgt := value.Str(a.Tgt)
	text := fmt.Sprintf("%s: no target matches %q (%s)", c.Low.ID, tgt, a.TgtType)
	if ids, err := c.Env.Fleet.Match(ctx, "*", "glob"); err == nil {
		switch {
		case len(ids) == 0:
			text += ": the roster has no targets"
		default:
			text += source.DidYouMean(strings.Trim(tgt, "*?"), ids)
		}
	}
	c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: text})
}

// noTargets is the return of a step whose target is an empty list, where the
// configuration has such steps succeed (orchestrate_no_targets), as executions of
// templates do: a template has stepGivens for targets of each kind, and a person may
// choose none of one kind.
func noTargets(c *fun.Call, a *targetArgs) (fun.Ret, bool) {
	l, ok := a.Tgt.(*value.List)
	if !ok || l.Len() > 0 || !value.Truth(c.Env.Opts.At("orchestrate_no_targets")) {
		return fun.Ret{}, false
	}
	return fun.Ret{Result: fun.OK, Comment: "no targets"}, true
}
