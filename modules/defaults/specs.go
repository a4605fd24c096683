package defaults

import (
	"brine/internal/fun"
)

var mergeArgs = []fun.Arg{
	{Name: "in_place", Type: fun.Bool, Default: true, Doc: "change dest itself instead of a copy"},
	{Name: "convert_none", Type: fun.Bool, Default: true, Doc: "treat None as an empty mapping"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "deepcopy", Doc: "Return a deep copy of a value.", Src: "modules/defaults.py deepcopy", Args: []fun.Arg{{Name: "source", Required: true, Doc: "the value"}}, Fn: deepcopy},
	{
		Name: "get", Doc: "Return a value from defaults.yaml or defaults.json of a formula.", Src: "modules/defaults.py get",
		Fn: get,
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str, Required: true, Doc: "formula:key:key; the formula is a directory in file_roots"},
			{Name: "default", Default: "", Doc: "returned if nothing is found"},
		},
	},
	{
		Name: "merge", Doc: "Merge a mapping over another, recursively.", Src: "modules/defaults.py merge",
		Shared: [][]fun.Arg{mergeArgs}, Fn: merge,
		Args: []fun.Arg{
			{Name: "dest", Required: true, Doc: "the lower mapping"},
			{Name: "src", Required: true, Doc: "the upper mapping"},
			{Name: "merge_lists", Type: fun.Bool, Default: false, Doc: "append the items of lists instead of replacing them"},
		},
	},
	{
		Name: "update", Doc: "Merge defaults under each mapping of a mapping.", Src: "modules/defaults.py update",
		Shared: [][]fun.Arg{mergeArgs}, Fn: update,
		Args: []fun.Arg{
			{Name: "dest", Type: fun.Dict, Required: true, Doc: "a mapping of mappings"},
			{Name: "defaults", Type: fun.Dict, Required: true, Doc: "the defaults of each"},
			{Name: "merge_lists", Type: fun.Bool, Default: true, Doc: "append the items of lists instead of replacing them"},
		},
	},
}
