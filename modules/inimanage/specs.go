package inimanage

import "brine/internal/core/fun"

type fileArg struct {
	_        fun.Arguments
	FileName string `arg:"file_name,required,path" doc:"the file"`
}

type sectionArg struct {
	_       fun.Arguments
	Section string `arg:"section,required,str|none" doc:"section; empty is the part above the first section"`
}

type optionArg struct {
	_      fun.Arguments
	Option string `arg:"option,required" doc:"option"`
}

type sepArg struct {
	_         fun.Arguments
	Separator string `arg:"separator" default:"=" doc:"what separates an option and its value"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_ini", Doc: "Return all options and sections of a file.", Src: "modules/ini_manage.py get_ini", Do: getINI},
	{Name: "get_option", Doc: "Return the value of an option, None if there is none.", Src: "modules/ini_manage.py get_option", Do: getOption},
	{Name: "get_section", Doc: "Return the options of a section.", Src: "modules/ini_manage.py get_section", Do: getSection},
	{Name: "remove_option", Doc: "Remove an option and return its value.", Src: "modules/ini_manage.py remove_option", Do: removeOption},
	{Name: "remove_section", Doc: "Remove a section and return its options.", Src: "modules/ini_manage.py remove_section", Do: removeSection},
	{
		Name: "set_option", Doc: "Set options; return what changed.", Src: "modules/ini_manage.py set_option", Do: setOption,
	},
}
