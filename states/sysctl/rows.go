package sysctl

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "present", Do: present, Files: true, Src: "states/sysctl.py present",
		Doc: "Set a kernel parameter and keep it in a file.",
	},
}
