package virtualenv

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "manage", Doc: "Make sure that a Python environment exists: the same as managed.", Src: "states/virtualenv_mod.py manage", Do: managed,
	},
	{
		Name: "managed", Doc: "Make sure that a Python environment exists, with packages.", Src: "states/virtualenv_mod.py managed", Do: managed,
	},
}
