package jinja

import (
	"brine/internal/core/fun"
)

type fileArg struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"the file, relative to the file roots"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "import_json", Doc: "Return the result of import_json for a file of the file server.", Src: "modules/jinja.py import_json", Do: importJSON},
	{Name: "import_yaml", Doc: "Return the result of import_yaml for a file of the file server.", Src: "modules/jinja.py import_yaml", Do: importYAML},
	{
		Name: "load_map", Doc: "Return a variable that a template sets.", Src: "modules/jinja.py load_map",
		Do: loadMap,
	},
}
