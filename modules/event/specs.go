package event

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	tagArg = fun.Arg{Name: "tag", Type: fun.Str, Required: true, Doc: "the tag"}
)

var preloadArg = fun.Arg{Name: "preload", Type: fun.Dict, Doc: "keys to add beside the data"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "fire", Doc: "Send an event on the bus of this run.", Src: "modules/event.py fire",
		Fn: fireLocal,
		Args: []fun.Arg{
			{Name: "data", Required: true, Doc: "the data, a mapping"},
			tagArg,
			{Name: "timeout", Type: fun.Duration, Unit: "s", Doc: "accepted; an event does not wait"},
		},
	},
	{
		Name: "fire_master", Doc: "Send an event to the controller; return False if there is none.", Src: "modules/event.py fire_master",
		Fn: fireMaster,
		Args: []fun.Arg{
			{Name: "data", Required: true, Doc: "the data, a mapping"},
			tagArg, preloadArg,
		},
	},
	{
		Name: "send", Doc: "Send an event to the controller with data about this machine; return False if there is no controller.", Src: "modules/event.py send",
		VarKw: true, Fn: send,
		Args: []fun.Arg{
			tagArg,
			{Name: "data", Doc: "the data, a mapping"},
			preloadArg,
			{Name: "with_env", Type: fun.Bool | fun.Strs, Default: false, Doc: "add environment variables: True for all, or a list of names"},
			{Name: "with_grains", Type: fun.Bool | fun.Strs, Default: false, Doc: "add grains: True for all, or a list of names"},
			{Name: "with_pillar", Type: fun.Bool | fun.Strs, Default: false, Doc: "add pillar: True for all, or a list of keys"},
			{Name: "with_env_opts", Type: fun.Bool, Default: false, Doc: "add the options saltenv and pillarenv"},
			{Name: "show_changed", Type: fun.Bool, Default: true, Doc: "accepted"},
			{Name: "changed", Type: fun.Bool, Default: false, Doc: "accepted"},
		},
	},
}
