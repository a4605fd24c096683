package historyrun

import "brine/internal/fun"

var (
	hostArgs = []fun.Arg{
		{Name: "host", Type: fun.Str, Required: true, Doc: "ID of the target"},
	}
	actionArgs = []fun.Arg{
		{Name: "action", Type: fun.Str, Required: true, Doc: "ID of the action, as the metadata of the step has it"},
	}
	nameArgs = []fun.Arg{
		{Name: "name", Type: fun.Str, Doc: "only executions of the chain, template or SLS with this name, a glob"},
	}
	searchArgs = []fun.Arg{
		{Name: "since", Type: fun.Str, Doc: "only executions since this time, UTC, such as '2026-11-20 14:00'"},
		{Name: "until", Type: fun.Str, Doc: "only executions until this time, UTC"},
		{Name: "status", Type: fun.Str, Doc: "only executions with this status: failed, interrupted, killed, running, succeeded, unfinished"},
		{Name: "kind", Type: fun.Str, Doc: "only executions of this kind: chain, orchestration, template"},
		{Name: "user", Type: fun.Str, Doc: "only executions of this user, a glob"},
		{Name: "limit", Type: fun.Int, Default: int64(50), Doc: "maximum number; 0: all"},
	}
)

type sourceArgs struct {
	_         fun.Arguments
	ExtSource string `arg:"ext_source" doc:"returner to read instead of where the history is kept; local_cache is the file of this machine"`
}

type jidArgs struct {
	_ fun.Arguments
	_ string `arg:"jid,required" doc:"jid of the execution"`
}

// Runners returns the rows of the runner module "history". open opens the history.
func Runners(open Opener) fun.Module {
	m := &module{open}
	const src = "none: brine's own"
	search := [][]fun.Arg{nameArgs, searchArgs, fun.ArgsOf((*sourceArgs)(nil))}
	return fun.Module{Name: "history", Kind: fun.Runner, Doc: "Search executions of orchestrations, chains and templates.", Specs: []fun.Spec{
		{
			Name: "action", Lookup: true, Src: src, Args: actionArgs, Shared: search, Fn: m.action,
			Doc: "Return the newest executions of an action.",
		},
		{
			Name: "diff", Lookup: true, Src: src, Do: m.diff,
			Doc: "Return how two executions differ: in their definitions, targets and results.",
		},
		{
			Name: "host", Lookup: true, Src: src, Args: hostArgs, Shared: search, Fn: m.host,
			Doc: "Return what the newest executions did on a target.",
		},
		{
			Name: "list", Lookup: true, Src: src, Shared: search, Fn: m.list,
			Doc: "Return the newest executions.",
		},
		{
			Name: "show", Lookup: true, Src: src, Do: m.show,
			Doc: "Return an execution with its definition.",
		},
		{
			Name: "stats", Lookup: true, Src: src, Shared: search, Fn: m.stats,
			Doc: "Return success rates, durations and flaky targets of executions.\nExecutions in test mode do not count.",
		},
		{
			Name: "steps", Lookup: true, Src: src, Do: m.steps,
			Doc: "Return the steps of an execution with the results of their targets.",
		},
	}}
}
