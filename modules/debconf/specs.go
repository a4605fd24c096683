package debconf

import "brine/internal/fun"

var (
	pathArg = fun.Arg{Name: "path", Type: fun.Str, Required: true, Doc: "path or URL of a file with selections"}
	envArg  = fun.Arg{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "get_selections", Doc: "Return the answers for all packages: by package, a list of question, type and value.", Src: "modules/debconfmod.py get_selections", Fn: getSelections,
		Args: []fun.Arg{{Name: "fetchempty", Type: fun.Bool, Default: true, Doc: "also return empty answers"}},
	},
	{
		Name: "set", Doc: "Answer a question for a package.\nFurther arguments are added to the value, with a blank before each.", Src: "modules/debconfmod.py set_", Fn: set,
		VarArg: true,
		Args: []fun.Arg{
			{Name: "package", Type: fun.Str, Required: true, Doc: "name of the package"},
			{Name: "question", Type: fun.Str, Required: true, Doc: "name of the question"},
			{Name: "type", Type: fun.Str, Required: true, Doc: "type of the question: string, boolean, select, multiselect, password, note, text, error or title"},
			{Name: "value", Type: fun.Str, Required: true, Secret: true, Doc: "the answer"},
		},
	},
	{
		Name: "set_file", Doc: "Set the answers of a file.\nReturn False if there is no such file.", Src: "modules/debconfmod.py set_file", Fn: setFile,
		VarKw: true,
		Args:  []fun.Arg{pathArg, envArg},
	},
	{
		Name: "set_template", Doc: "Set the answers of a file that is a template.", Src: "modules/debconfmod.py set_template", Fn: setTemplate,
		VarKw: true,
		Args: []fun.Arg{
			pathArg,
			{Name: "template", Type: fun.Str, Required: true, Doc: "template engine"},
			{Name: "context", Type: fun.Dict | fun.None, Required: true, Doc: "variables of the template"},
			{Name: "defaults", Type: fun.Dict | fun.None, Required: true, Doc: "variables that context does not set"},
			envArg,
		},
	},
	{
		Name: "show", Doc: "Return the answers for a package: a list of question, type and value.\nReturn None if there are none.", Src: "modules/debconfmod.py show", Fn: show,
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"}},
	},
}
