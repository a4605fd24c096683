package historyrun

import "brine/internal/core/fun"

// findArgs are the arguments of functions that search executions.
type findArgs struct {
	Name   string `arg:"name" doc:"only executions of the chain, template or SLS with this name, a glob"`
	Since  string `arg:"since" doc:"only executions since this time, UTC, such as '2026-11-20 14:00'"`
	Until  string `arg:"until" doc:"only executions until this time, UTC"`
	Status string `arg:"status" doc:"only executions with this status: failed, interrupted, killed, running, succeeded, unfinished"`
	Kind   string `arg:"kind" doc:"only executions of this kind: chain, orchestration, template"`
	User   string `arg:"user" doc:"only executions of this user, a glob"`
	Limit  int64  `arg:"limit" default:"50" doc:"maximum number; 0: all"`
	sourceArgs
}

type sourceArgs struct {
	_         fun.Arguments
	ExtSource string `arg:"ext_source" doc:"returner to read instead of where the history is kept; local_cache is the file of this machine"`
}

// Runners returns the rows of the runner module "history". open opens the history.
func Runners(open Opener) fun.Module {
	m := &module{open}
	return fun.Module{Name: "history", Kind: fun.Runner, Doc: "Search executions of orchestrations, chains and templates.", Specs: []fun.Spec{
		{
			Name: "action", Lookup: true, Do: m.action,
			Doc: "Return the newest executions of an action.",
		},
		{
			Name: "diff", Lookup: true, Do: m.diff,
			Doc: "Return how two executions differ: in their definitions, targets and results.",
		},
		{
			Name: "host", Lookup: true, Do: m.host,
			Doc: "Return what the newest executions did on a target.",
		},
		{
			Name: "list", Lookup: true, Do: m.list,
			Doc: "Return the newest executions.",
		},
		{
			Name: "show", Lookup: true, Do: m.show,
			Doc: "Return an execution with its definition.",
		},
		{
			Name: "stats", Lookup: true, Do: m.stats,
			Doc: "Return success rates, durations and flaky targets of executions.\nExecutions in test mode do not count.",
		},
		{
			Name: "steps", Lookup: true, Do: m.steps,
			Doc: "Return the steps of an execution with the results of their targets.",
		},
	}}
}
