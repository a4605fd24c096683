package pillar

import (
	"brine/internal/fun"
	"brine/internal/value"
)

// Arguments that several functions have.
var (
	keyArg = fun.Arg{Name: "key", Type: fun.Str | fun.Int | fun.List, Required: true, Doc: "keys and list indices, separated by colons"}
)

var delimiterArgs = []fun.Arg{
	{Name: "delimiter", Type: fun.Str, Default: value.DefaultDelim, Doc: "separates the parts of the key"},
}

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
		VarArg: true, VarKw: true, Fn: items,
	},
	{
		Name: "ext", Doc: "Render the pillar with an ext_pillar that on_demand_ext_pillar allows.", Src: "modules/pillar.py ext",
		Fn: ext,
		Args: []fun.Arg{
			{Name: "external", Type: fun.Dict | fun.Str, Required: true, Doc: "a mapping of the interface and its arguments, also as YAML text"},
			{Name: "pillar", Type: fun.Dict, Doc: "merged over the pillar"},
		},
	},
	{Name: "fetch", Doc: "Return a part of the pillar; an alias of pillar.get.", Src: "modules/pillar.py get", Args: getArgs, Fn: get},
	{
		Name: "file_exists", Doc: "Return whether a file is in the pillar roots.", Src: "modules/pillar.py file_exists",
		Fn: fileExists,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Required: true, Doc: "path relative to the roots"},
			{Name: "saltenv", Type: fun.Str, Doc: "look only in this environment"},
		},
	},
	{
		Name: "filter_by", Doc: "Select from a mapping by a part of the pillar, as grains.filter_by does by a grain.", Src: "modules/pillar.py filter_by",
		Fn: filterBy,
		Args: []fun.Arg{
			{Name: "lookup_dict", Type: fun.Dict, Required: true, Doc: "the entries, by a glob that the pillar value matches"},
			{Name: "pillar", Type: fun.Str, Required: true, Doc: "key of the value in the pillar"},
			{Name: "merge", Doc: "a mapping merged over the result"},
			{Name: "default", Default: "default", Doc: "the key if nothing matches"},
			{Name: "base", Doc: "a key whose mapping is merged under the result"},
		},
	},
	{Name: "get", Doc: "Return a part of the pillar, or the default.", Src: "modules/pillar.py get", Args: getArgs, Fn: get},
	{Name: "item", Doc: "Return parts of the pillar by their keys.\nKeywords: default, delimiter, pillarenv, saltenv.", Src: "modules/pillar.py item", VarArg: true, VarKw: true, Fn: item},
	{
		Name: "items", Doc: "Render the pillar and return it; with names, as item.\nKeywords: pillar (merged over), pillarenv, saltenv.", Src: "modules/pillar.py items",
		VarArg: true, VarKw: true, Fn: items,
	},
	{Name: "keys", Doc: "Return the keys of a mapping in the pillar.", Src: "modules/pillar.py keys", Args: []fun.Arg{keyArg}, Shared: [][]fun.Arg{delimiterArgs}, Fn: keys},
	{
		Name: "ls", Doc: "Render the pillar and return its keys; with names, as item.\nKeywords: pillar (merged over), pillarenv, saltenv.", Src: "modules/pillar.py ls",
		VarArg: true, VarKw: true, Fn: ls,
	},
	{
		Name: "obfuscate", Doc: "Render the pillar and return it with types instead of values; with names, as item.\nKeywords: pillar (merged over), pillarenv, saltenv.", Src: "modules/pillar.py obfuscate",
		VarArg: true, VarKw: true, Fn: obfuscate,
	},
	{
		Name: "raw", Doc: "Return the pillar, or the value of one key, as it is in memory.", Src: "modules/pillar.py raw",
		Fn: raw,
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str | fun.Int, Doc: "a key; default: all"},
		},
	},
}
