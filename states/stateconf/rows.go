package stateconf

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "context", Do: set, Hands: true, Src: "states/stateconf.py context",
		Doc: "Do nothing, successfully; same as set. Further arguments may be any.",
	},
	{
		Name: "set", Do: set, Hands: true, Src: "states/stateconf.py set",
		Doc: "Hold template variables; does nothing, successfully. Further arguments may be any.",
	},
}
