package environ

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Names and values of other types are answered with False, as in Salt.
type keyArg struct {
	_   fun.Arguments
	Key value.Value `arg:"key,required" doc:"name of the variable"`
}

type defaultArgs struct {
	_       fun.Arguments
	Default value.Value `arg:"default" default:"''" doc:"returned if the variable is not set"`
}

type permanentArgs struct {
	_         fun.Arguments
	Permanent value.Value `arg:"permanent,str|bool" default:"False" doc:"Windows only: store the variable in the registry"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get", Doc: "Return a variable.", Src: "modules/environ.py get", Do: get},
	{
		Name: "has_value", Doc: "Return whether a variable is set, and has the value if one is given.", Src: "modules/environ.py has_value",
		Do: hasValue,
	},
	{
		Name: "item", Doc: "Return variables by name.", Src: "modules/environ.py item",
		Do: item,
	},
	{Name: "items", Doc: "Return all variables.", Src: "modules/environ.py items", Do: items},
	{
		Name: "setenv", Doc: "Set variables from a mapping.", Src: "modules/environ.py setenv",
		Do: setenv,
	},
	{
		Name: "setval", Doc: "Set a variable.", Src: "modules/environ.py setval",
		Do: setval,
	},
}
