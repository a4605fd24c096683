package queuerun

import "brine/internal/fun"

var (
	jidArgs = []fun.Arg{
		{Name: "jid", Type: fun.Str, Required: true, Doc: "jid of the entry, as 'brine orchestrate --queue' prints it"},
	}
	listArgs = []fun.Arg{
		{Name: "queue", Type: fun.Str, Doc: "only entries of this queue"},
		{Name: "state", Type: fun.Str, Doc: "only entries in this state: queued, running, done, failed, poisoned, refused, cancelled"},
		{Name: "limit", Type: fun.Int, Default: int64(50), Doc: "maximum number; 0: all"},
	}
	retryArgs = []fun.Arg{
		{Name: "fresh", Type: fun.Bool, Default: false, Doc: "begin again with the first step, instead of after the steps that succeeded"},
	}
	statsArgs = []fun.Arg{
		{Name: "queue", Type: fun.Str, Doc: "only this queue"},
	}
)

// Runners returns the rows of the runner module "queue". open opens the queue.
func Runners(open Opener) fun.Module {
	m := &module{open}
	const src = "none: brine's own"
	return fun.Module{Name: "queue", Kind: fun.Runner, Doc: "Look at queued orchestrations, and change them.", Specs: []fun.Spec{
		{
			Name: "cancel", Src: src, Args: jidArgs, Fn: m.cancel,
			Doc: "Take an orchestration out of its queue.\nOne that is running ends before its next step.",
		},
		{
			Name: "list", Lookup: true, Src: src, Args: listArgs, Fn: m.list,
			Doc: "Return queued orchestrations, the newest first.",
		},
		{
			Name: "retry", Src: src, Args: jidArgs, Shared: [][]fun.Arg{retryArgs}, Fn: m.retry,
			Doc: "Queue an orchestration again that failed or was set aside.",
		},
		{
			Name: "show", Lookup: true, Src: src, Args: jidArgs, Fn: m.show,
			Doc: "Return a queued orchestration with its arguments.",
		},
		{
			Name: "stats", Lookup: true, Src: src, Args: statsArgs, Fn: m.stats,
			Doc: "Return how many orchestrations each queue has, by state, and the workers that run one now.",
		},
	}}
}
