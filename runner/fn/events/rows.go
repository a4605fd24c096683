package events

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

var eventSpecs = []fun.Spec{
	{
		Name: "send", Src: "runners/event.py send", Do: send,
		Doc: "Send an event to all runs of this user on this machine, and to listeners.",
	},
}

type stopArgs struct {
	_       fun.Arguments
	JID     string `arg:"jid,required" doc:"jid of the job"`
	StateID string `arg:"state_id" doc:"ID of the state; default: the next state"`
}

type pauseArgs struct {
	stopArgs
	Duration value.Value `arg:"duration,duration" unit:"s" doc:"resume after this time; default: wait for state.resume"`
}

type resumeArgs struct {
	_       fun.Arguments
	JID     string `arg:"jid,required" doc:"jid of the job"`
	StateID string `arg:"state_id" doc:"ID of the state; default: all paused states"`
}

const (
	pauseDoc    = "Pause a state run or an orchestration before a state."
	resumeDoc   = "Resume a paused run."
	softKillDoc = "Stop a state run or an orchestration before a state; running states finish."
)

var pauseSpecs = []fun.Spec{
	{Name: "pause", Doc: pauseDoc, Src: "modules/state.py pause", Do: pause},
	{Name: "resume", Doc: resumeDoc, Src: "modules/state.py resume", Do: resume},
	{Name: "soft_kill", Doc: softKillDoc, Src: "modules/state.py soft_kill", Do: softKill},
}

var pauseRunnerSpecs = []fun.Spec{
	{Name: "pause", Doc: pauseDoc, Src: "runners/state.py pause", Do: pauseAnywhere},
	{Name: "resume", Doc: resumeDoc, Src: "runners/state.py resume", Do: resumeAnywhere},
	{Name: "rm_pause", Doc: resumeDoc, Src: "runners/state.py resume", Do: resumeAnywhere},
	{Name: "set_pause", Doc: pauseDoc, Src: "runners/state.py pause", Do: pauseAnywhere},
	{Name: "soft_kill", Doc: softKillDoc, Src: "runners/state.py soft_kill", Do: softKillAnywhere},
}
