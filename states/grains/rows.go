package grains

import "brine/internal/fun"

const nameDoc = "name of the grain; a path of nested grains is split at delimiter"

var delimArgs = []fun.Arg{
	{Name: "delimiter", Type: fun.Str, Default: ":", Doc: "separator of the parts of a path"},
}

var forceArgs = []fun.Arg{
	{Name: "force", Type: fun.Bool, Default: false, Doc: "replace mappings and lists too"},
}

var specs = []fun.Spec{
	{
		Name: "absent", State: absent, Src: "states/grains.py absent",
		Doc: "Set a grain to None, or delete it.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: nameDoc},
			{Name: "destructive", Type: fun.Bool, Default: false, Doc: "delete the grain instead of setting it to None"},
		},
		Shared: [][]fun.Arg{delimArgs, forceArgs},
	},
	{
		Name: "append", State: appendState, Src: "states/grains.py append",
		Doc: "Append a value to a grain that is a list.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: nameDoc},
			{Name: "value", Required: true, Doc: "value to append"},
			{Name: "convert", Type: fun.Bool, Default: false, Doc: "turn a grain that is not a list into one"},
		},
		Shared: [][]fun.Arg{delimArgs},
	},
	{
		Name: "exists", State: exists, Src: "states/grains.py exists",
		Doc: "Fail unless a grain exists.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: nameDoc},
		},
		Shared: [][]fun.Arg{delimArgs},
	},
	{
		Name: "list_absent", State: listAbsent, Src: "states/grains.py list_absent",
		Doc: "Remove values from a grain that is a list.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: nameDoc},
			{Name: "value", Required: true, Doc: "value or list of values to remove"},
		},
		Shared: [][]fun.Arg{delimArgs},
	},
	{
		Name: "list_present", State: listPresent, Src: "states/grains.py list_present",
		Doc: "Add values to a grain that is a list; a missing grain is created.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: nameDoc},
			{Name: "value", Required: true, Doc: "value or list of values to add"},
		},
		Shared: [][]fun.Arg{delimArgs},
	},
	{
		Name: "present", State: present, Src: "states/grains.py present",
		Doc: "Set a grain.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: nameDoc},
			{Name: "value", Required: true, Doc: "value to set"},
		},
		Shared: [][]fun.Arg{delimArgs, forceArgs},
	},
}
