package stateconf

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "context", Do: set, Hands: true, Src: "states/stateconf.py context",
		Doc: "Do nothing, successfully; same as set.",
	},
	{
		Name: "set", Do: set, Hands: true, Src: "states/stateconf.py set",
		Doc: "Hold template variables; does nothing, successfully. Any arguments are accepted.",
	},
}
