package debconf

import "brine/internal/core/fun"

type pathArg struct {
	_    fun.Arguments
	Path string `arg:"path,required" doc:"path or URL of a file with selections"`
}

type envArg struct {
	_       fun.Arguments
	Saltenv string `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "get_selections", Doc: "Return the answers for all packages: by package, a list of question, type and value.", Src: "modules/debconfmod.py get_selections", Do: getSelections,
	},
	{
		Name: "set", Doc: "Answer a question for a package.\nFurther arguments are added to the value, with a blank before each.", Src: "modules/debconfmod.py set_", Do: set,
	},
	{
		Name: "set_file", Doc: "Set the answers of a file.\nReturn False if there is no such file.", Src: "modules/debconfmod.py set_file", Do: setFile,
	},
	{
		Name: "set_template", Doc: "Set the answers of a file that is a template.", Src: "modules/debconfmod.py set_template", Do: setTemplate,
	},
	{
		Name: "show", Doc: "Return the answers for a package: a list of question, type and value.\nReturn None if there are none.", Src: "modules/debconfmod.py show", Do: show,
	},
}
