package inimanage

import "brine/internal/fun"

// Arguments that several functions have.
var (
	nameArg = fun.Arg{Name: "name", Type: fun.Path, Required: true, Doc: "the file"}
	sepArg  = fun.Arg{Name: "separator", Type: fun.Str, Default: "=", Doc: "what separates an option and its value"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "options_absent", State: optionsAbsent, Src: "states/ini_manage.py options_absent",
		Doc:  "Remove options from an INI file.",
		Args: []fun.Arg{nameArg, {Name: "sections", Type: fun.Dict, Doc: "lists of options by section"}, sepArg},
	},
	{
		Name: "options_present", State: optionsPresent, Src: "states/ini_manage.py options_present",
		Doc: "Set options in an INI file.",
		Args: []fun.Arg{
			nameArg,
			{Name: "sections", Type: fun.Dict, Doc: "options by section; an option outside of a section has its value"},
			sepArg,
			{Name: "strict", Type: fun.Bool, Default: false, Doc: "remove other options from these sections"},
		},
	},
	{
		Name: "sections_absent", State: sectionsAbsent, Src: "states/ini_manage.py sections_absent",
		Doc:  "Remove sections from an INI file.",
		Args: []fun.Arg{nameArg, {Name: "sections", Type: fun.List | fun.Dict, Doc: "sections, as a list or as the keys of a mapping"}, sepArg},
	},
	{
		Name: "sections_present", State: sectionsPresent, Src: "states/ini_manage.py sections_present",
		Doc:  "Create sections in an INI file.",
		Args: []fun.Arg{nameArg, {Name: "sections", Type: fun.List | fun.Dict, Doc: "sections, as a list or as the keys of a mapping"}, sepArg},
	},
}
