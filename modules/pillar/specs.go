package pillar

import (
	"brine/internal/fun"
	"brine/internal/value"
)

var getArgs = []fun.Arg{
	{Name: "key", Type: fun.Str | fun.Int | fun.List, Required: true, Doc: "keys and list indices, separated by colons"},
	{Name: "default", Default: unset{}, Doc: "returned if nothing is found; '' if not given"},
	{Name: "merge", Type: fun.Bool, Default: false, Doc: "merge the value over the default, a mapping or a list"},
	{Name: "merge_nested_lists", Type: fun.Bool, Doc: "with merge, append the items of nested lists; default: the option pillar_merge_lists"},
	{Name: "delimiter", Type: fun.Str, Default: value.DefaultDelim, Doc: "separates the parts of the key"},
	{Name: "pillarenv", Type: fun.Str, Doc: "render the pillar of this environment and read that"},
	{Name: "saltenv", Type: fun.Str, Doc: "as pillarenv, with pillarenv_from_saltenv"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "data", Doc: "Render the pillar and return it; with names, as item.\nKeywords: pillar (merged over), pillarenv, saltenv.", Src: "modules/pillar.py items",
		Do: items,
	},
	{
		Name: "ext", Doc: "Render the pillar with an ext_pillar that on_demand_ext_pillar allows.", Src: "modules/pillar.py ext",
		Do: ext,
	},
	{Name: "fetch", Doc: "Return a part of the pillar; an alias of pillar.get.", Src: "modules/pillar.py get", Args: getArgs, Fn: get},
	{
		Name: "file_exists", Doc: "Return whether a file is in the pillar roots.", Src: "modules/pillar.py file_exists",
		Do: fileExists,
	},
	{
		Name: "filter_by", Doc: "Select from a mapping by a part of the pillar, as grains.filter_by does by a grain.", Src: "modules/pillar.py filter_by",
		Do: filterBy,
	},
	{Name: "get", Doc: "Return a part of the pillar, or the default.", Src: "modules/pillar.py get", Args: getArgs, Fn: get},
	{Name: "item", Doc: "Return parts of the pillar by their keys.\nKeywords: default, delimiter, pillarenv, saltenv.", Src: "modules/pillar.py item", Do: item},
	{
		Name: "items", Doc: "Render the pillar and return it; with names, as item.\nKeywords: pillar (merged over), pillarenv, saltenv.", Src: "modules/pillar.py items",
		Do: items,
	},
	{Name: "keys", Doc: "Return the keys of a mapping in the pillar.", Src: "modules/pillar.py keys", Do: keys},
	{
		Name: "ls", Doc: "Render the pillar and return its keys; with names, as item.\nKeywords: pillar (merged over), pillarenv, saltenv.", Src: "modules/pillar.py ls",
		Do: ls,
	},
	{
		Name: "obfuscate", Doc: "Render the pillar and return it with types instead of values; with names, as item.\nKeywords: pillar (merged over), pillarenv, saltenv.", Src: "modules/pillar.py obfuscate",
		Do: obfuscate,
	},
	{
		Name: "raw", Doc: "Return the pillar, or the value of one key, as it is in memory.", Src: "modules/pillar.py raw",
		Do: raw,
	},
}
