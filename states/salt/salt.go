// Package salt is Salt's state module "salt": the steps of an orchestration.
package salt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/redact"
	"brine/internal/source"
	"brine/internal/value"
)

// targeting are the arguments that salt.state and salt.function share.
func targeting() []fun.Arg {
	return []fun.Arg{
		{Name: "name", Type: fun.Str, Required: true, Doc: "the step; for salt.function the function to run"},
		{Name: "tgt", Required: true, Doc: "the targets"},
		{Name: "ssh", Type: fun.Bool, Default: true, Doc: "accepted: targets are those of the roster"},
		{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "how tgt names them: glob, pcre, list, grain, grain_pcre, pillar, pillar_exact, pillar_pcre, nodegroup, ipcidr, compound"},
		{Name: "ret", Default: "", Doc: "returners to hand each return to"},
		{Name: "ret_config", Type: fun.Str, Doc: "configuration of the returners"},
		{Name: "ret_kwargs", Type: fun.Dict, Doc: "settings of the returners"},
	}
}

func orchestrating() []fun.Arg {
	return []fun.Arg{
		{Name: "fail_minions", Doc: "targets whose failure is tolerated, a list or text with commas"},
		{Name: "batch", Doc: "how many targets work at once: a number or a percentage"},
		{Name: "subset", Type: fun.Int, Doc: "run on this many of the targets, picked at random"},
		{Name: "timeout", Type: fun.Float, Unit: "s", Doc: "ask a silent target after this time whether it still works"},
		{Name: "gather_job_timeout", Type: fun.Float, Unit: "s", Doc: "time that a silent target has to say whether it still works"},
		{Name: "asynchronous", Type: fun.Bool, Default: false, Doc: "start the job and do not wait for it; jobs.lookup_jid fetches what it returned. Not with batch or subset"},
		{Name: "failhard", Type: fun.Bool, Default: false, Doc: "begin no further batch after a failure"},
		{Name: "roster", Type: fun.Str, Doc: "kind of roster"},
		{Name: "metadata", Doc: "data to keep with the job"},
	}
}

// States returns the rows of the state module "salt".
func States() fun.Module {
	stateArgs := append(targeting(),
		fun.Arg{Name: "highstate", Doc: "run the highstate of the targets"},
		fun.Arg{Name: "sls", Doc: "SLS to apply, text with commas or a list"},
		fun.Arg{Name: "top", Doc: "top file to apply"},
		fun.Arg{Name: "saltenv", Type: fun.Str, Doc: "environment of the SLS files"},
		fun.Arg{Name: "test", Doc: "change nothing, say what would change; false runs even where the orchestration is a test"},
		fun.Arg{Name: "pillar", Doc: "pillar to merge over that of the targets"},
		fun.Arg{Name: "pillarenv", Type: fun.Str, Doc: "environment of the pillar"},
		fun.Arg{Name: "expect_minions", Type: fun.Bool, Default: true, Doc: "fail where no target returns, or some do not; False passes over those"},
		fun.Arg{Name: "exclude", Doc: "SLS or IDs to leave out"},
		fun.Arg{Name: "allow_fail", Default: int64(0), Doc: "how many targets may fail"},
		fun.Arg{Name: "concurrent", Default: false, Doc: "accepted: without queue, state runs go side by side"},
		fun.Arg{Name: "queue", Default: false, Doc: "wait for state runs on the target that began before"},
		fun.Arg{Name: "orchestration_jid", Doc: "job that this step belongs to"},
	)
	functionArgs := append(targeting(),
		fun.Arg{Name: "expect_minions", Type: fun.Bool, Default: false, Doc: "False, where it is given, passes over targets that do not return"},
		fun.Arg{Name: "fail_function", Type: fun.Str, Doc: "execution function on the controller that is given each return; false means the target failed"},
		fun.Arg{Name: "arg", Doc: "positional arguments, a list"},
		fun.Arg{Name: "kwarg", Doc: "keyword arguments, a dict"},
	)
	return fun.Module{
		Name: "salt", Kind: fun.State, Doc: "Steps of an orchestration: states, functions and runners on targets.",
		Specs: []fun.Spec{
			{Name: "function", VarKw: true, Doc: "Run an execution function on targets.", Src: "states/saltmod.py function", Args: append(functionArgs, orchestrating()...), Always: true, State: function},
			{
				Name: "parallel_runners", VarKw: true, Doc: "Run several runner functions at once.", Src: "states/saltmod.py parallel_runners", State: parallelRunners, Always: true,
				Args: []fun.Arg{
					{Name: "name", Type: fun.Str, Required: true, Doc: "the step"},
					{Name: "runners", Required: true, Doc: "id to name, arg and kwarg of a runner function"},
				},
			},
			{Name: "runner", Doc: "Run a runner function on the controller.", Src: "states/saltmod.py runner", State: runner, Always: true, VarKw: true, Hands: true, Args: nameArg("the runner function")},
			{Name: "state", VarKw: true, Doc: "Apply states to targets.", Src: "states/saltmod.py state", Args: append(stateArgs, orchestrating()...), Always: true, State: state},
			{
				Name: "wait_for_event", Doc: waitDoc, Src: "states/saltmod.py wait_for_event", State: waitForEvent, Always: true,
				Args: []fun.Arg{
					{Name: "name", Type: fun.Str, Required: true, Doc: "tag of the event, a glob"},
					{Name: "id_list", Type: fun.List, Required: true, Doc: "ids to wait for"},
					{Name: "event_id", Type: fun.Str, Default: "id", Doc: "key of the event's data that has the id, or a list of them"},
					{Name: "timeout", Type: fun.Float, Default: int64(300), Unit: "s", Doc: "fail after this time"},
					{Name: "node", Type: fun.Str, Default: "master", Doc: "accepted: there is one bus"},
				},
			},
			{Name: "wheel", Doc: "Run a wheel function on the controller.", Src: "states/saltmod.py wheel", State: wheel, Always: true, VarKw: true, Hands: true, Args: nameArg("the wheel function")},
		},
	}
}

func nameArg(doc string) []fun.Arg {
	return []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: doc}}
}

// retOrder is the order of the keys in the returns of salt.state and
// salt.function.
func retOrder() []string { return []string{"name", "changes", "comment", "result"} }

// testMode reports whether the step only says what it would do.
func testMode(c *fun.Call) bool { return c.Test || value.Truth(c.Value("test")) }

// returns are what the targets of a step answered.
type returns struct {
	sum fun.Summary
	all []fun.Return // in order of ids
	// notBegun are targets that failhard left out; Salt's returns have none of
	// them.
	notBegun []string
}

// run runs a job of the step and collects the returns.
func run(ctx context.Context, c *fun.Call, job fun.Job) (*returns, error) {
	if c.Env.Fleet == nil {
		return nil, fun.Errorf("this machine reaches no targets: orchestrate from a controller, with 'brine orchestrate' or 'brine run state.orchestrate'")
	}
	job.Tgt, job.TgtType = c.Value("tgt"), c.Str("tgt_type")
	job.Batch = c.Str("batch")
	// Without batches all targets begin at once, whatever becomes of them.
	job.FailHard = job.Batch != "" && (c.Bool("failhard") || value.Truth(c.Env.Opts.At("failhard")))
	if v := c.Value("subset"); value.Truth(v) {
		n, err := strconv.Atoi(value.Str(v))
		if err != nil || n < 0 {
			return nil, fun.Errorf("subset must be a number of targets, not %s", value.Repr(v))
		}
		job.Subset = n
	}
	if err := conflicts(c); err != nil {
		return nil, err
	}
	job.Async = c.Bool("asynchronous")
	job.Timeout, job.Gather = wait(c, "timeout"), wait(c, "gather_job_timeout")
	job.Metadata, job.Roster = c.Value("metadata"), c.Str("roster")
	job.OrchJID, job.Step = c.Env.JID, c.Low.ID
	job.Published = !value.Truth(c.Low.Low.At("ssh"))
	job.Returner = returners(c.Value("ret"))
	job.RetConfig, job.RetKwargs = c.Str("ret_config"), c.Map("ret_kwargs")
	fireArgs(c, job)
	r := &returns{}
	sum, err := c.Env.Fleet.Run(ctx, job, func(ret fun.Return) error {
		if errors.Is(ret.Err, fun.ErrNotBegun) {
			r.notBegun = append(r.notBegun, ret.ID)
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
	if len(r.notBegun) > 0 && c.Env.Warn != nil {
		c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: failhard: not begun on %s", c.Low.ID, strings.Join(r.notBegun, ", "))})
	}
	return r, nil
}

// leftOut returns the targets that count as failed beside failed, the ones that
// did: those that failhard left out, where a failure that is tolerated would
// hide them.
func (r *returns) leftOut(failed []string, allowed int) []string {
	if len(failed) > allowed {
		return nil
	}
	return r.notBegun
}

// fault returns the comment of a step that was not begun. An expression that
// makes no sense matches nothing in Salt (none is Salt's text for that); what
// is wrong with it goes to stderr.
// Salt: salt/utils/minions.py CkMinions.check_minions.
func fault(c *fun.Call, err error, none string) string {
	var bad *fun.TargetError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	if c.Env.Warn != nil {
		c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: %v", c.Low.ID, bad)})
	}
	if text := noGroup(c); text != "" {
		return text
	}
	return none
}

// noGroup says that the nodegroup of a step is none; "" where that is not so.
// Salt: salt/client/__init__.py _prep_pub.
func noGroup(c *fun.Call) string {
	tgt := value.Str(c.Value("tgt"))
	if c.Str("tgt_type") != "nodegroup" || c.Env.Opts.Map("nodegroups").Has(tgt) {
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

func returners(v value.Value) string {
	switch v := v.(type) {
	case *value.List:
		parts := make([]string, v.Len())
		for i, x := range v.Items {
			parts[i] = value.Str(x)
		}
		return strings.Join(parts, ",")
	case nil:
		return ""
	default:
		return value.Str(v)
	}
}

// wait reads how long a step waits for targets. What is no number is passed
// over, as in Salt (salt/client/__init__.py _get_timeout), but not in silence.
func wait(c *fun.Call, name string) time.Duration {
	d, err := value.Seconds(c.Value(name))
	if err != nil && c.Env.Warn != nil {
		c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: %v", c.Low.ID, err)})
	}
	return d
}

// failMinions reads the argument fail_minions; bad says that it is neither a
// list nor text.
func failMinions(c *fun.Call) (set map[string]bool, bad bool) {
	set = map[string]bool{}
	switch v := c.Value("fail_minions").(type) {
	case nil:
	case string:
		for _, s := range strings.Split(v, ",") {
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
func unexpected(c *fun.Call, r fun.Return) bool {
	return r.Stage != fun.Returned && c.Low.Low.Has("expect_minions") && !c.Bool("expect_minions")
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
		if r.Stage != fun.Returned && c.Env.Warn != nil {
			c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: target %s: %s", c.Low.ID, r.ID, stageText(r))})
		}
	}
}

// warnNone says that a target means nobody, and which id is nearest.
func warnNone(ctx context.Context, c *fun.Call) {
	if c.Env.Warn == nil {
		return
	}
	tgt := value.Str(c.Value("tgt"))
	text := fmt.Sprintf("%s: no target matches %q (%s)", c.Low.ID, tgt, c.Str("tgt_type"))
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
