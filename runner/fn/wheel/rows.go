package wheel

import (
	"brine/internal/core/fun"
	"brine/runner/fn/saltrun"
)

var keySpecs = []fun.Spec{
	{
		Name: "list", Src: "wheel/key.py list_", Do: list,
		Doc: "List the keys with a status; the targets of the roster are the accepted keys.",
	},
	{
		Name: "list_all", Src: "wheel/key.py list_all", Do: listAll,
		Doc: "List all keys by status.",
	},
	{
		Name: "name_match", Src: "wheel/key.py name_match", Do: nameMatch,
		Doc: "List the keys whose ID matches a glob.",
	},
}

var configSpecs = []fun.Spec{
	{
		Name: "values", Src: "wheel/config.py values", Do: configValues,
		Doc: "Return the configuration.",
	},
}

var errorSpecs = []fun.Spec{
	{
		Name: "error", Src: "wheel/error.py error", Do: saltrun.Fail,
		Doc: saltrun.ErrorDoc,
	},
}

var minionsSpecs = []fun.Spec{
	{
		Name: "connected", Src: "wheel/minions.py connected", Do: connected,
		Doc: "List the targets of the roster.",
	},
}
