package inimanage

import "brine/internal/core/fun"

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required,path" doc:"the file"`
}

type sepArg struct {
	_         fun.Arguments
	Separator string `arg:"separator" default:"=" doc:"what separates an option and its value"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "options_absent", Do: optionsAbsent, Files: true, Src: "states/ini_manage.py options_absent",
		Doc: "Remove options from an INI file.",
	},
	{
		Name: "options_present", Do: optionsPresent, Files: true, Src: "states/ini_manage.py options_present",
		Doc: "Set options in an INI file.",
	},
	{
		Name: "sections_absent", Do: sectionsAbsent, Files: true, Src: "states/ini_manage.py sections_absent",
		Doc: "Remove sections from an INI file.",
	},
	{
		Name: "sections_present", Do: sectionsPresent, Files: true, Src: "states/ini_manage.py sections_present",
		Doc: "Create sections in an INI file.",
	},
}
