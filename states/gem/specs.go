package gem

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "installed", Doc: "Make sure that a gem is installed.", Src: "states/gem.py installed", Do: installed,
	},
	{
		Name: "removed", Doc: "Make sure that no version of a gem is installed.", Src: "states/gem.py removed", Do: removed,
	},
	{
		Name: "sources_add", Doc: "Make sure that a source of gems is configured.", Src: "states/gem.py sources_add", Do: sourcesAdd,
	},
	{
		Name: "sources_remove", Doc: "Make sure that a source of gems is not configured.", Src: "states/gem.py sources_remove", Do: sourcesRemove,
	},
}
