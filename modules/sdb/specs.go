package sdb

import "brine/internal/fun"

var uriArg = fun.Arg{Name: "uri", Required: true, Doc: "sdb://PROFILE/KEY"}

var setArgs = []fun.Arg{uriArg, {Name: "value", Required: true, Secret: true, Doc: "what is stored"}}

var hashArgs = []fun.Arg{
	uriArg,
	{Name: "length", Type: fun.Int, Default: int64(8), Doc: "number of characters"},
	{Name: "chars", Type: fun.Str, Default: "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", Doc: "characters to choose from"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "delete", Doc: "Delete a value.", Src: "modules/sdb.py delete", Args: []fun.Arg{uriArg}, Fn: remove},
	{
		Name: "get", Doc: "Return a value, or the argument itself if it does not name a profile.", Src: "modules/sdb.py get", Fn: get,
		Args: []fun.Arg{uriArg, {Name: "strict", Type: fun.Bool, Default: false, Doc: "a URI that does not name a profile is an error"}},
	},
	{
		Name: "get_or_set_hash", Doc: "Return a value; if there is none, store a random string and return it.", Src: "modules/sdb.py get_or_set_hash",
		Args: hashArgs, Fn: getOrSetHash,
	},
	{Name: "set", Doc: "Store a value.", Src: "modules/sdb.py set_", Args: setArgs, Fn: set},
}

// runnerSpecs are the functions of the runner, alphabetically.
var runnerSpecs = []fun.Spec{
	{Name: "delete", Doc: "Delete a value.", Src: "runners/sdb.py delete", Args: []fun.Arg{uriArg}, Fn: remove},
	{Name: "get", Doc: "Return a value, or the argument itself if it does not name a profile.", Src: "runners/sdb.py get", Args: []fun.Arg{uriArg}, Fn: get},
	{
		Name: "get_or_set_hash", Doc: "Return a value; if there is none, store a random string and return it.", Src: "runners/sdb.py get_or_set_hash",
		Args: hashArgs, Fn: getOrSetHash,
	},
	{Name: "set", Doc: "Store a value.", Src: "runners/sdb.py set_", Args: setArgs, Fn: set},
}
