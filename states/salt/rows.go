package salt

import "brine/internal/fun"

// targetArgs are the first arguments of state and function.
var targetArgs = []fun.Arg{
	{Name: "name", Type: fun.Str, Required: true, Doc: "name of the step; for salt.function the function to run"},
	{Name: "tgt", Type: fun.Str | fun.List, Required: true, Doc: "target expression"},
	{Name: "ssh", Type: fun.Bool, Default: true, Doc: "accepted without effect; targets come from the roster"},
	{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "type of tgt: glob, pcre, list, grain, grain_pcre, pillar, pillar_exact, pillar_pcre, nodegroup, ipcidr, compound"},
	{Name: "ret", Type: fun.Str | fun.Strs, Default: "", Doc: "returners for the returns"},
	{Name: "ret_config", Type: fun.Str, Doc: "configuration profile of the returners"},
	{Name: "ret_kwargs", Type: fun.Dict, Doc: "settings of the returners"},
}

var stateArgs = []fun.Arg{
	{Name: "highstate", Type: fun.Bool, Doc: "apply the highstate of the targets"},
	{Name: "sls", Type: fun.Str | fun.Strs, Doc: "SLS files to apply, as a comma-separated string or a list"},
	{Name: "top", Type: fun.Str, Doc: "top file to apply"},
	{Name: "saltenv", Type: fun.Str, Doc: "environment of the SLS files"},
	{Name: "test", Type: fun.Bool, Doc: "run in test mode; False changes targets even if the orchestration runs in test mode"},
	{Name: "pillar", Doc: "pillar to merge over that of the targets"},
	{Name: "pillarenv", Type: fun.Str, Doc: "environment of the pillar"},
	{Name: "expect_minions", Type: fun.Bool, Default: true, Doc: "fail if targets do not return"},
	{Name: "exclude", Type: fun.Str | fun.List, Doc: "SLS files or IDs to exclude"},
	{Name: "allow_fail", Default: int64(0), Doc: "number of targets that may fail"},
	{Name: "concurrent", Default: false, Doc: "run beside other state runs on the target"},
	{Name: "queue", Type: fun.Bool | fun.Int, Default: false, Doc: "wait for other state runs on the target instead of failing"},
	{Name: "orchestration_jid", Type: fun.Str, Doc: "job that this step belongs to"},
}

var functionArgs = []fun.Arg{
	{Name: "expect_minions", Type: fun.Bool, Default: false, Doc: "an explicit False ignores targets that do not return"},
	{Name: "fail_function", Type: fun.Str, Doc: "execution function on the controller that checks each return; False marks the target as failed"},
	{Name: "arg", Doc: "list of positional arguments"},
	{Name: "kwarg", Doc: "mapping of keyword arguments"},
}

// jobArgs are the last arguments of state and function.
var jobArgs = []fun.Arg{
	{Name: "fail_minions", Doc: "targets that may fail, as a list or a comma-separated string"},
	{Name: "batch", Type: fun.Str | fun.Int, Doc: "number or percentage of targets that run at once"},
	{Name: "subset", Type: fun.Int, Doc: "run on this many of the targets, chosen at random"},
	{Name: "timeout", Type: fun.Duration, Unit: "s", Doc: "ask a silent target after this time whether it is still working"},
	{Name: "gather_job_timeout", Type: fun.Duration, Unit: "s", Doc: "how long a silent target may take to respond"},
	{Name: "max_wait", Type: fun.Duration, Unit: "s", Doc: "how long a target may work on the job before it counts as failed; default: the option max_wait, 24 hours"},
	{Name: "asynchronous", Type: fun.Bool, Default: false, Doc: "start the job without waiting for it; jobs.lookup_jid shows its returns. Not with batch, subset, waves or max_failures"},
	{Name: "failhard", Type: fun.Bool, Default: false, Doc: "start no further batch after a failure"},
	{Name: "roster", Type: fun.Str, Doc: "type of roster"},
	{Name: "fleet", Type: fun.Str, Doc: "only the targets of this fleet; default: those of all"},
	{Name: "metadata", Doc: "data to store with the job"},
	{Name: "batch_wait", Type: fun.Duration, Unit: "s", Doc: "with batch: how long to wait after each return before the next target starts"},
	{Name: "waves", Doc: "start on a few targets first: a list of how many targets have started with each wave, as numbers, percentages or groups of targets"},
	{Name: "wave_wait", Type: fun.Duration, Unit: "s", Doc: "how long to wait between two waves"},
	{Name: "wave_check", Doc: "health check between two waves: a mapping with function or runner, and arg, kwarg, tgt, tgt_type, fail_function, retries, interval"},
	{Name: "max_failures", Type: fun.Str | fun.Int, Doc: "number or percentage of targets that may fail before nothing further starts; default with waves: 0"},
}

// fleetArg is the last argument of runner and wheel.
var fleetArg = fun.Arg{Name: "fleet", Type: fun.Str, Doc: "fleet whose Salt master runs the function; default: this controller does"}

var specs = []fun.Spec{
	{
		Name: "function", VarKw: true, Always: true, State: function, Src: "states/saltmod.py function",
		Doc:    "Run an execution function on targets.",
		Shared: [][]fun.Arg{targetArgs, functionArgs, jobArgs},
	},
	{
		Name: "parallel_runners", VarKw: true, Always: true, State: parallelRunners, Src: "states/saltmod.py parallel_runners",
		Doc: "Run several runner functions in parallel.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the step"},
			{Name: "runners", Required: true, Doc: "mapping of IDs to name, arg and kwarg of a runner function"},
		},
	},
	{
		Name: "runner", VarKw: true, Hands: true, Always: true, State: runner, Src: "states/saltmod.py runner",
		Doc:  "Run a runner function on the controller, or on the Salt master of a fleet.",
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "runner function"}, fleetArg},
	},
	{
		Name: "state", VarKw: true, Always: true, State: state, Src: "states/saltmod.py state",
		Doc:    "Apply states to targets.",
		Shared: [][]fun.Arg{targetArgs, stateArgs, jobArgs},
	},
	{
		Name: "wait_for_event", Always: true, State: waitForEvent, Src: "states/saltmod.py wait_for_event",
		Doc: waitDoc,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "glob for the tag of the event"},
			{Name: "id_list", Type: fun.List | fun.None, Required: true, Doc: "IDs to wait for"},
			{Name: "event_id", Type: fun.Str, Default: "id", Doc: "key of the event data that holds the ID"},
			{Name: "timeout", Type: fun.Duration, Default: int64(300), Unit: "s", Doc: "fail after this time"},
			{Name: "node", Type: fun.Str, Default: "master", Doc: "accepted without effect; there is one event bus"},
		},
	},
	{
		Name: "wheel", VarKw: true, Hands: true, Always: true, State: wheel, Src: "states/saltmod.py wheel",
		Doc:  "Run a wheel function on the controller, or on the Salt master of a fleet.",
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "wheel function"}, fleetArg},
	},
}
