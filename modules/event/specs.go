package event

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type tagArg struct {
	_   fun.Arguments
	Tag string `arg:"tag,required" doc:"the tag"`
}

type preloadArg struct {
	_       fun.Arguments
	Preload *value.Map `arg:"preload" doc:"keys to add beside the data"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "fire", Doc: "Send an event on the bus of this run.", Src: "modules/event.py fire",
		Do: fireLocal,
	},
	{
		Name: "fire_master", Doc: "Send an event to the controller; return False if there is none.", Src: "modules/event.py fire_master",
		Do: fireMaster,
	},
	{
		Name: "send", Doc: "Send an event to the controller with data about this machine; return False if there is no controller.", Src: "modules/event.py send",
		Do: send,
	},
}
