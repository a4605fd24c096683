package data

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type keyArg struct {
	_   fun.Arguments
	Key string `arg:"key,required" doc:"the key"`
}

type valueArg struct {
	_     fun.Arguments
	Value value.Value `arg:"value,required" doc:"the value"`
}

type defaultArg struct {
	_       fun.Arguments
	Default value.Value `arg:"default" doc:"returned if the key does not exist"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cas", Doc: "Replace a value if it is the expected one.", Src: "modules/data.py cas",
		Do: cas,
	},
	{Name: "clear", Doc: "Remove all values.", Src: "modules/data.py clear", Do: clearAll},
	{Name: "dump", Doc: "Replace the whole store.", Src: "modules/data.py dump", Do: dump},
	{Name: "get", Doc: "Return a value, or a default; of a list of keys, a list of the values.", Src: "modules/data.py get", Do: get},
	{Name: "has_key", Doc: "Return whether a key exists.", Src: "modules/data.py has_key", Do: hasKey},
	{Name: "items", Doc: "Return all keys and values.", Src: "modules/data.py items", Do: items},
	{Name: "keys", Doc: "Return all keys.", Src: "modules/data.py keys", Do: keys},
	{Name: "load", Doc: "Return the whole store.", Src: "modules/data.py load", Do: items},
	{Name: "pop", Doc: "Remove a value and return it.", Src: "modules/data.py pop", Do: pop},
	{Name: "update", Doc: "Store a value.", Src: "modules/data.py update", Do: update},
	{Name: "values", Doc: "Return all values.", Src: "modules/data.py values", Do: values},
}
