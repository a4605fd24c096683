package grains

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	keyArg  = fun.Arg{Name: "key", Type: fun.Str, Required: true, Doc: "name of the grain; the delimiter separates nested keys"}
	pathArg = fun.Arg{Name: "key", Type: fun.Str | fun.Int | fun.List, Required: true, Doc: "name of the grain; the delimiter separates nested keys"}
	valArg  = fun.Arg{Name: "val", Required: true, Doc: "the value"}
)

var delimiterArgs = []fun.Arg{
	{Name: "delimiter", Type: fun.Str, Default: ":", Doc: "separates nested keys"},
}

var destructiveArgs = []fun.Arg{
	{Name: "destructive", Type: fun.Bool, Default: false, Doc: "delete keys that are set to None"},
}

var refreshArgs = []fun.Arg{
	{Name: "refresh_pillar", Type: fun.Bool, Default: true, Doc: "accepted; the pillar of a run is rendered when it is read"},
}

var forceArgs = []fun.Arg{
	{Name: "force", Type: fun.Bool, Default: false, Doc: "also replace mappings and lists"},
}

var getArgs = []fun.Arg{
	{Name: "key", Type: fun.Str | fun.Int | fun.List, Required: true, Doc: "name of the grain; the delimiter separates nested keys"},
	{Name: "default", Default: "", Doc: "returned if the grain does not exist"},
	{Name: "delimiter", Type: fun.Str, Default: ":", Doc: "separates nested keys"},
	{Name: "ordered", Type: fun.Bool, Default: true, Doc: "False returns the value as JSON would decode it: keys are text"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "append", Doc: "Append a value to a list grain and store it in the grains file.", Src: "modules/grains.py append",
		Shared: [][]fun.Arg{delimiterArgs}, Fn: appendFn,
		Args: []fun.Arg{
			keyArg,
			{Name: "val", Required: true, Doc: "the value; of a list, each item is appended"},
			{Name: "convert", Type: fun.Bool, Default: false, Doc: "convert a grain that is not a list"},
		},
	},
	{Name: "delkey", Doc: "Delete a grain from the grains file.", Src: "modules/grains.py delkey", Args: []fun.Arg{keyArg}, Shared: [][]fun.Arg{forceArgs}, Fn: delkey},
	{Name: "delval", Doc: "Set a grain to None in the grains file.", Src: "modules/grains.py delval", Args: []fun.Arg{keyArg}, Shared: [][]fun.Arg{destructiveArgs, forceArgs}, Fn: delval},
	{
		Name: "equals", Doc: "Return whether a grain has the same text as a value.", Src: "modules/grains.py equals",
		Fn: equals,
		Args: []fun.Arg{
			pathArg,
			{Name: "value", Required: true, Doc: "the value"},
		},
	},
	{Name: "fetch", Doc: "Return a grain; an alias of grains.get.", Src: "modules/grains.py fetch", Args: getArgs, Fn: getFn},
	{
		Name: "filter_by", Doc: "Select from a mapping by a grain.\n\nThe key that matches the grain's value (keys may be globs) gives the result, otherwise the default key.", Src: "modules/grains.py filter_by",
		Fn: filterBy,
		Args: []fun.Arg{
			{Name: "lookup_dict", Type: fun.Dict, Required: true, Doc: "results by value of the grain"},
			{Name: "grain", Type: fun.Str, Default: "os_family", Doc: "name of the grain"},
			{Name: "merge", Doc: "a mapping merged over the result"},
			{Name: "default", Default: "default", Doc: "the key if none matches"},
			{Name: "base", Doc: "a key whose mapping is merged under the result"},
		},
	},
	{Name: "get", Doc: "Return a grain.", Src: "modules/grains.py get", Args: getArgs, Fn: getFn},
	{
		Name: "get_or_set_hash", Doc: "Return a grain; if it does not exist, set it to random text first.", Src: "modules/grains.py get_or_set_hash",
		Fn: getOrSetHash,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the grain; colons separate nested keys"},
			{Name: "length", Type: fun.Int, Default: int64(8), Unit: "characters", Doc: "length of the text"},
			{Name: "chars", Type: fun.Str, Default: "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", Doc: "the characters to choose from"},
		},
	},
	{Name: "has_value", Doc: "Return whether a grain exists.", Src: "modules/grains.py has_value", Args: []fun.Arg{pathArg}, Fn: hasValue},
	{Name: "item", Doc: "Return grains by name.\n\nKeywords: default, delimiter, sanitize.", Src: "modules/grains.py item", VarArg: true, VarKw: true, Fn: item},
	{
		Name: "items", Doc: "Return all grains.", Src: "modules/grains.py items",
		Fn: items,
		Args: []fun.Arg{
			{Name: "sanitize", Type: fun.Bool, Default: false, Doc: "hide names and serial numbers"},
		},
	},
	{Name: "ls", Doc: "Return the names of all grains, sorted.", Src: "modules/grains.py ls", Fn: ls},
	{
		Name: "remove", Doc: "Remove a value from a list grain and store it in the grains file.", Src: "modules/grains.py remove",
		Shared: [][]fun.Arg{delimiterArgs}, Fn: remove,
		Args: []fun.Arg{
			keyArg, valArg,
		},
	},
	{
		Name: "set", Doc: "Set a grain, which may be nested, and store it in the grains file.\n\nMappings and lists are only replaced with force.", Src: "modules/grains.py set",
		Shared: [][]fun.Arg{forceArgs, destructiveArgs, delimiterArgs}, Fn: set,
		Args: []fun.Arg{
			keyArg,
			{Name: "val", Default: "", Doc: "the value"},
		},
	},
	{
		Name: "setval", Doc: "Set a grain and store it in the grains file.", Src: "modules/grains.py setval",
		Shared: [][]fun.Arg{destructiveArgs, refreshArgs}, Fn: setval,
		Args: []fun.Arg{
			keyArg, valArg,
		},
	},
	{
		Name: "setvals", Doc: "Set grains and store them in the grains file.", Src: "modules/grains.py setvals",
		Shared: [][]fun.Arg{destructiveArgs, refreshArgs}, Fn: setvals,
		Args: []fun.Arg{
			{Name: "grains", Required: true, Doc: "the grains, a mapping"},
		},
	},
}
