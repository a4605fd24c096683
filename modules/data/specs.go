package data

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	keyArg   = fun.Arg{Name: "key", Type: fun.Str, Required: true, Doc: "the key"}
	valueArg = fun.Arg{Name: "value", Required: true, Doc: "the value"}
)

var defaultArg = fun.Arg{Name: "default", Doc: "returned if the key does not exist"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cas", Doc: "Replace a value if it is the expected one.", Src: "modules/data.py cas",
		Fn: cas,
		Args: []fun.Arg{
			keyArg, valueArg,
			{Name: "old_value", Required: true, Doc: "the expected value"},
		},
	},
	{Name: "clear", Doc: "Remove all values.", Src: "modules/data.py clear", Fn: clearAll},
	{Name: "dump", Doc: "Replace the whole store.", Src: "modules/data.py dump", Args: []fun.Arg{{Name: "new_data", Required: true, Doc: "the new content, a mapping or the text of one"}}, Fn: dump},
	{Name: "get", Doc: "Return a value, or a default; of a list of keys, a list of the values.", Src: "modules/data.py get", Args: []fun.Arg{{Name: "key", Type: fun.Str | fun.List, Required: true, Doc: "the key, or a list of keys"}, defaultArg}, Fn: get},
	{Name: "has_key", Doc: "Return whether a key exists.", Src: "modules/data.py has_key", Args: []fun.Arg{keyArg}, Fn: hasKey},
	{Name: "items", Doc: "Return all keys and values.", Src: "modules/data.py items", Fn: items},
	{Name: "keys", Doc: "Return all keys.", Src: "modules/data.py keys", Fn: keys},
	{Name: "load", Doc: "Return the whole store.", Src: "modules/data.py load", Fn: items},
	{Name: "pop", Doc: "Remove a value and return it.", Src: "modules/data.py pop", Args: []fun.Arg{keyArg, defaultArg}, Fn: pop},
	{Name: "update", Doc: "Store a value.", Src: "modules/data.py update", Args: []fun.Arg{keyArg, valueArg}, Fn: update},
	{Name: "values", Doc: "Return all values.", Src: "modules/data.py values", Fn: values},
}
