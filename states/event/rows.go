package event

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// dataArgs are what an event has beside its tag.
type dataArgs struct {
	_           fun.Arguments
	Data        value.Value `arg:"data" doc:"data of the event, usually a mapping"`
	Preload     value.Value `arg:"preload,dict" doc:"further keys of the event beside data"`
	WithEnv     value.Value `arg:"with_env,bool|list[str]" default:"False" doc:"add environment variables: True for all, or a list of names"`
	WithGrains  value.Value `arg:"with_grains,bool|list[str]" default:"False" doc:"add grains: True for all, or a list of names"`
	WithPillar  value.Value `arg:"with_pillar,bool|list[str]" default:"False" doc:"add pillar: True for all, or a list of keys"`
	ShowChanged bool        `arg:"show_changed" default:"True" doc:"report the event as a change"`
}

type sendArgs struct {
	_ string `arg:"name,required" doc:"tag of the event"`
	dataArgs
	Rest fun.Kwargs
}

type waitArgs struct {
	_ string `arg:"name,required" doc:"tag of the event"`
	_ string `arg:"sfun" doc:"accepted"`
	dataArgs
}

var specs = []fun.Spec{
	{
		Name: "fire_master", Always: true, Do: send, Src: "states/event.py fire_master",
		Doc: "Send an event to the controller; same as send.",
	},
	{
		Name: "send", Always: true, Do: send, Src: "states/event.py send",
		Doc: "Send an event to the controller.",
	},
	{
		Name: "wait", Do: idle, Src: "states/event.py wait",
		Doc: "Send an event only if a watched state changed.",
	},
}
