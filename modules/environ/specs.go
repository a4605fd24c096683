package environ

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	// Names and values of other types are answered with False, as in Salt.
	keyArg = fun.Arg{Name: "key", Required: true, Doc: "name of the variable"}
)

var defaultArgs = []fun.Arg{
	{Name: "default", Default: "", Doc: "returned if the variable is not set"},
}

var permanentArgs = []fun.Arg{
	{Name: "permanent", Type: fun.Str | fun.Bool, Default: false, Doc: "Windows only: store the variable in the registry"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get", Doc: "Return a variable.", Src: "modules/environ.py get", Args: []fun.Arg{keyArg}, Shared: [][]fun.Arg{defaultArgs}, Fn: get},
	{
		Name: "has_value", Doc: "Return whether a variable is set, and has the value if one is given.", Src: "modules/environ.py has_value",
		Fn: hasValue,
		Args: []fun.Arg{
			keyArg,
			{Name: "value", Doc: "the expected value"},
		},
	},
	{
		Name: "item", Doc: "Return variables by name.", Src: "modules/environ.py item",
		Shared: [][]fun.Arg{defaultArgs}, Fn: item,
		Args: []fun.Arg{
			{Name: "keys", Type: fun.Str | fun.List, Required: true, Doc: "a name or a list of names"},
		},
	},
	{Name: "items", Doc: "Return all variables.", Src: "modules/environ.py items", Fn: items},
	{
		Name: "setenv", Doc: "Set variables from a mapping.", Src: "modules/environ.py setenv",
		Shared: [][]fun.Arg{permanentArgs}, Fn: setenv,
		Args: []fun.Arg{
			{Name: "environ", Required: true, Doc: "values by name: strings, or False"},
			{Name: "false_unsets", Type: fun.Bool, Default: false, Doc: "the value False unsets the variable instead of emptying it"},
			{Name: "clear_all", Type: fun.Bool, Default: false, Doc: "treat all other variables as False"},
			{Name: "update_minion", Type: fun.Bool, Default: false, Doc: "send an event environ_setenv"},
		},
	},
	{
		Name: "setval", Doc: "Set a variable.", Src: "modules/environ.py setval",
		Shared: [][]fun.Arg{permanentArgs}, Fn: setval,
		Args: []fun.Arg{
			keyArg,
			{Name: "val", Required: true, Doc: "a string, or False"},
			{Name: "false_unsets", Type: fun.Bool, Default: false, Doc: "the value False unsets the variable instead of emptying it"},
		},
	},
}
