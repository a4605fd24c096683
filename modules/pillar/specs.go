package pillar

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// getArgs are the arguments of get and fetch.
type getArgs struct {
	_                fun.Arguments
	Key              value.Value   `arg:"key,required,str|int|list" doc:"keys and list indices, separated by colons"`
	Default          value.Value   `arg:"default" doc:"returned if nothing is found; '' if not given"`
	Merge            bool          `arg:"merge" default:"False" doc:"merge the value over the default, a mapping or a list"`
	MergeNestedLists fun.Opt[bool] `arg:"merge_nested_lists" doc:"with merge, append the items of nested lists; default: the option pillar_merge_lists"`
	Delimiter        string        `arg:"delimiter" default:":" doc:"separates the parts of the key"`
	Pillarenv        value.Value   `arg:"pillarenv,str" doc:"render the pillar of this environment and read that"`
	Saltenv          value.Value   `arg:"saltenv,str" doc:"as pillarenv, with pillarenv_from_saltenv"`
}

// Defaults tells a default that was given from none.
func (*getArgs) Defaults() map[string]value.Value { return map[string]value.Value{"default": unset{}} }

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "data", Doc: "Render the pillar and return it; with names, as item.", Src: "modules/pillar.py items",
		Do: items,
	},
	{
		Name: "ext", Doc: "Render the pillar with an ext_pillar that on_demand_ext_pillar allows.", Src: "modules/pillar.py ext",
		Do: ext,
	},
	{Name: "fetch", Doc: "Return a part of the pillar; an alias of pillar.get.", Src: "modules/pillar.py get", Do: get},
	{
		Name: "file_exists", Doc: "Return whether a file is in the pillar roots.", Src: "modules/pillar.py file_exists",
		Do: fileExists,
	},
	{
		Name: "filter_by", Doc: "Select from a mapping by a part of the pillar, as grains.filter_by does by a grain.", Src: "modules/pillar.py filter_by",
		Do: filterBy,
	},
	{Name: "get", Doc: "Return a part of the pillar, or the default.", Src: "modules/pillar.py get", Do: get},
	{Name: "item", Doc: "Return parts of the pillar by their keys.", Src: "modules/pillar.py item", Do: item},
	{
		Name: "items", Doc: "Render the pillar and return it; with names, as item.", Src: "modules/pillar.py items",
		Do: items,
	},
	{Name: "keys", Doc: "Return the keys of a mapping in the pillar.", Src: "modules/pillar.py keys", Do: keys},
	{
		Name: "ls", Doc: "Render the pillar and return its keys; with names, as item.", Src: "modules/pillar.py ls",
		Do: ls,
	},
	{
		Name: "obfuscate", Doc: "Render the pillar and return it with types instead of values; with names, as item.", Src: "modules/pillar.py obfuscate",
		Do: obfuscate,
	},
	{
		Name: "raw", Doc: "Return the pillar, or the value of one key, as it is in memory.", Src: "modules/pillar.py raw",
		Do: raw,
	},
}
