package events

import "brine/internal/fun"

var stateSpecs = []fun.Spec{
	{
		Name: "event", Src: "runners/state.py event", Fn: watch,
		Doc: "Print the events of brine runs, one per line: the tag, a tab and the data as JSON.\nIt shows current and future runs of this user on this machine.",
		Args: []fun.Arg{
			{Name: "tagmatch", Type: fun.Str, Default: "*", Doc: "glob or regular expression of the tags to print"},
			{Name: "count", Type: fun.Int, Default: int64(-1), Doc: "stop after this many events; -1 continues until Ctrl-C"},
			{Name: "quiet", Type: fun.Bool, Default: false, Doc: "wait without printing anything"},
			{Name: "sock_dir", Type: fun.Path, Doc: "accepted without effect; every user has their own sockets"},
			{Name: "pretty", Type: fun.Bool, Default: false, Doc: "print indented data with sorted keys"},
			{Name: "node", Type: fun.Str, Default: "master", Doc: "accepted without effect; there is one event bus"},
			{Name: "timeout", Type: fun.Duration, Unit: "s", Doc: "fail if the events do not arrive within this time"},
		},
	},
}

var eventSpecs = []fun.Spec{
	{
		Name: "send", Src: "runners/event.py send", VarKw: true, Fn: send,
		Doc: "Send an event to all runs of this user on this machine, and to listeners.",
		Args: []fun.Arg{
			{Name: "tag", Type: fun.Str, Required: true, Doc: "tag of the event"},
			{Name: "data", Doc: "data of the event, usually a mapping"},
		},
	},
}

var (
	stopArgs = []fun.Arg{
		{Name: "jid", Type: fun.Str, Required: true, Doc: "jid of the job"},
		{Name: "state_id", Type: fun.Str, Doc: "ID of the state; default: the next state"},
	}
	resumeArgs = []fun.Arg{
		{Name: "jid", Type: fun.Str, Required: true, Doc: "jid of the job"},
		{Name: "state_id", Type: fun.Str, Doc: "ID of the state; default: all paused states"},
	}
	pauseGroups = [][]fun.Arg{stopArgs, {
		{Name: "duration", Type: fun.Duration, Unit: "s", Doc: "resume after this time; default: wait for state.resume"},
	}}
)

const (
	pauseDoc    = "Pause a state run or an orchestration before a state."
	resumeDoc   = "Resume a paused run."
	softKillDoc = "Stop a state run or an orchestration before a state; running states finish."
)

var pauseSpecs = []fun.Spec{
	{Name: "pause", Doc: pauseDoc, Src: "modules/state.py pause", Shared: pauseGroups, Fn: pause},
	{Name: "resume", Doc: resumeDoc, Src: "modules/state.py resume", Args: resumeArgs, Fn: resume},
	{Name: "soft_kill", Doc: softKillDoc, Src: "modules/state.py soft_kill", Args: stopArgs, Fn: softKill},
}

var pauseRunnerSpecs = []fun.Spec{
	{Name: "pause", Doc: pauseDoc, Src: "runners/state.py pause", Shared: pauseGroups, Fn: pauseAnywhere},
	{Name: "resume", Doc: resumeDoc, Src: "runners/state.py resume", Args: resumeArgs, Fn: resumeAnywhere},
	{Name: "rm_pause", Doc: resumeDoc, Src: "runners/state.py resume", Args: resumeArgs, Fn: resumeAnywhere},
	{Name: "set_pause", Doc: pauseDoc, Src: "runners/state.py pause", Shared: pauseGroups, Fn: pauseAnywhere},
	{Name: "soft_kill", Doc: softKillDoc, Src: "runners/state.py soft_kill", Args: stopArgs, Fn: softKillAnywhere},
}
