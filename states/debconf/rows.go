package debconf

import "brine/internal/fun"

var specs = []fun.Spec{
	{
		Name: "set", State: set, Src: "states/debconfmod.py set",
		Doc:   "Answer questions of a package.\nThis sets what debconf knows. A package that is installed already has to be configured again to see it: dpkg-reconfigure.",
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"},
			{Name: "data", Type: fun.Dict, Required: true, Secret: true, Doc: "mapping of a question to a mapping with its type and the value; a multiselect may have a list"},
		},
	},
	{
		Name: "set_file", State: setFile, Src: "states/debconfmod.py set_file", Always: true,
		Doc:   "Set the answers that a file has.\nThe file has lines as debconf-get-selections prints them: package, question, type, value. The state does not report changes.",
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "any text"},
			{Name: "source", Type: fun.Str, Required: true, Doc: "path or URL of the file"},
			{Name: "template", Type: fun.Str, Doc: "template engine that renders the file, such as jinja; default: none"},
			{Name: "context", Type: fun.Any, Doc: "mapping of variables of the template"},
			{Name: "defaults", Type: fun.Any, Doc: "mapping of variables that context does not set"},
		},
	},
}
