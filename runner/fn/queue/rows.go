package queuerun

import "brine/internal/core/fun"

type jidArgs struct {
	_   fun.Arguments
	JID string `arg:"jid,required" doc:"jid of the entry, as 'brine orchestrate --queue' prints it"`
}

type listArgs struct {
	_     fun.Arguments
	Queue string `arg:"queue" doc:"only entries of this queue"`
	State string `arg:"state" doc:"only entries in this state: queued, running, done, failed, poisoned, refused, cancelled"`
	Limit int64  `arg:"limit" default:"50" doc:"maximum number; 0: all"`
}

type statsArgs struct {
	_     fun.Arguments
	Queue string `arg:"queue" doc:"only this queue"`
}

// Runners returns the rows of the runner module "queue". open opens the queue.
func Runners(open Opener) fun.Module {
	m := &module{open}
	return fun.Module{Name: "queue", Kind: fun.Runner, Doc: "Look at queued orchestrations, and change them.", Specs: []fun.Spec{
		{
			Name: "cancel", Do: m.cancel,
			Doc: "Take an orchestration out of its queue.\nOne that is running ends before its next step.",
		},
		{
			Name: "list", Lookup: true, Do: m.list,
			Doc: "Return queued orchestrations, the newest first.",
		},
		{
			Name: "retry", Do: m.retry,
			Doc: "Queue an orchestration again that failed or was set aside.",
		},
		{
			Name: "show", Lookup: true, Do: m.show,
			Doc: "Return a queued orchestration with its arguments.",
		},
		{
			Name: "sinks", Lookup: true, Do: m.sinks,
			Doc: "Return what became of the events for each sink: how many wait, were sent and are lost.",
		},
		{
			Name: "stats", Lookup: true, Do: m.stats,
			Doc: "Return how many orchestrations each queue has, by state, and the workers that run one now.",
		},
	}}
}
