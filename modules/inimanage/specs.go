package inimanage

import "brine/internal/fun"

// Arguments that several functions have.
var (
	fileArg    = fun.Arg{Name: "file_name", Type: fun.Path, Required: true, Doc: "the file"}
	sectionArg = fun.Arg{Name: "section", Type: fun.Str | fun.None, Required: true, Doc: "section; empty is the part above the first section"}
	optionArg  = fun.Arg{Name: "option", Type: fun.Str, Required: true, Doc: "option"}
	sepArg     = fun.Arg{Name: "separator", Type: fun.Str, Default: "=", Doc: "what separates an option and its value"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_ini", Doc: "Return all options and sections of a file.", Src: "modules/ini_manage.py get_ini", Fn: getINI, Args: []fun.Arg{fileArg, sepArg}},
	{Name: "get_option", Doc: "Return the value of an option, None if there is none.", Src: "modules/ini_manage.py get_option", Fn: getOption, Args: []fun.Arg{fileArg, sectionArg, optionArg, sepArg}},
	{Name: "get_section", Doc: "Return the options of a section.", Src: "modules/ini_manage.py get_section", Fn: getSection, Args: []fun.Arg{fileArg, sectionArg, sepArg}},
	{Name: "remove_option", Doc: "Remove an option and return its value.", Src: "modules/ini_manage.py remove_option", Fn: removeOption, Args: []fun.Arg{fileArg, sectionArg, optionArg, sepArg}},
	{Name: "remove_section", Doc: "Remove a section and return its options.", Src: "modules/ini_manage.py remove_section", Fn: removeSection, Args: []fun.Arg{fileArg, sectionArg, sepArg}},
	{
		Name: "set_option", Doc: "Set options; return what changed.", Src: "modules/ini_manage.py set_option", Fn: setOption,
		Args: []fun.Arg{fileArg, {Name: "sections", Type: fun.Dict, Doc: "options by section; an option outside of a section has its value"}, sepArg},
	},
}
