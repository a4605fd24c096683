package grains

import "brine/internal/core/fun"

type delimArgs struct {
	_         fun.Arguments
	Delimiter string `arg:"delimiter" default:":" doc:"separator of the parts of a path"`
}

type forceArgs struct {
	_     fun.Arguments
	Force bool `arg:"force" default:"False" doc:"replace mappings and lists too"`
}

var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Src: "states/grains.py absent",
		Doc: "Set a grain to None, or delete it.",
	},
	{
		Name: "append", Do: appendState, Src: "states/grains.py append",
		Doc: "Append a value to a grain that is a list.",
	},
	{
		Name: "exists", Do: exists, Src: "states/grains.py exists",
		Doc: "Fail unless a grain exists.",
	},
	{
		Name: "list_absent", Do: listAbsent, Src: "states/grains.py list_absent",
		Doc: "Remove values from a grain that is a list.",
	},
	{
		Name: "list_present", Do: listPresent, Src: "states/grains.py list_present",
		Doc: "Add values to a grain that is a list; a missing grain is created.",
	},
	{
		Name: "present", Do: present, Src: "states/grains.py present",
		Doc: "Set a grain.",
	},
}
