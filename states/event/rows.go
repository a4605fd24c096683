package event

import (
	"slices"

	"brine/internal/fun"
)

var sendArgs = []fun.Arg{
	{Name: "name", Type: fun.Str, Required: true, Doc: "tag of the event"},
	{Name: "data", Doc: "data of the event, usually a mapping"},
	{Name: "preload", Type: fun.Dict, Doc: "further keys of the event beside data"},
	{Name: "with_env", Type: fun.Bool | fun.Strs, Default: false, Doc: "add environment variables: True for all, or a list of names"},
	{Name: "with_grains", Type: fun.Bool | fun.Strs, Default: false, Doc: "add grains: True for all, or a list of names"},
	{Name: "with_pillar", Type: fun.Bool | fun.Strs, Default: false, Doc: "add pillar: True for all, or a list of keys"},
	{Name: "show_changed", Type: fun.Bool, Default: true, Doc: "report the event as a change"},
}

var specs = []fun.Spec{
	{
		Name: "fire_master", Always: true, VarKw: true, State: send, Src: "states/event.py fire_master", Args: sendArgs,
		Doc: "Send an event to the controller; same as send.",
	},
	{
		Name: "send", Always: true, VarKw: true, State: send, Src: "states/event.py send", Args: sendArgs,
		Doc: "Send an event to the controller.",
	},
	{
		Name: "wait", State: idle, Src: "states/event.py wait",
		Args: slices.Insert(slices.Clone(sendArgs), 1, fun.Arg{Name: "sfun", Type: fun.Str, Doc: "accepted"}),
		Doc:  "Send an event only if a watched state changed.",
	},
}
