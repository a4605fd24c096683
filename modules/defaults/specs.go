package defaults

import (
	"brine/internal/core/fun"
)

type mergeArgs struct {
	_           fun.Arguments
	InPlace     bool `arg:"in_place" default:"True" doc:"change dest itself instead of a copy"`
	ConvertNone bool `arg:"convert_none" default:"True" doc:"treat None as an empty mapping"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "deepcopy", Doc: "Return a deep copy of a value.", Src: "modules/defaults.py deepcopy", Do: deepcopy},
	{
		Name: "get", Doc: "Return a value from defaults.yaml or defaults.json of a formula.", Src: "modules/defaults.py get",
		Do: get,
	},
	{
		Name: "merge", Doc: "Merge a mapping over another, recursively.", Src: "modules/defaults.py merge",
		Do: merge,
	},
	{
		Name: "update", Doc: "Merge defaults under each mapping of a mapping.", Src: "modules/defaults.py update",
		Do: update,
	},
}
