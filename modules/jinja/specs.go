package jinja

import (
	"brine/internal/fun"
)

var fileArg = fun.Arg{Name: "path", Type: fun.Path, Required: true, Doc: "the file, relative to the file roots"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "import_json", Doc: "Return the result of import_json for a file of the file server.", Src: "modules/jinja.py import_json", Args: []fun.Arg{fileArg}, Fn: importJSON},
	{Name: "import_yaml", Doc: "Return the result of import_yaml for a file of the file server.", Src: "modules/jinja.py import_yaml", Args: []fun.Arg{fileArg}, Fn: importYAML},
	{
		Name: "load_map", Doc: "Return a variable that a template sets.", Src: "modules/jinja.py load_map",
		Fn: loadMap,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Required: true, Doc: "the template, relative to the file roots"},
			{Name: "value", Type: fun.Str, Required: true, Doc: "the variable"},
		},
	},
}
