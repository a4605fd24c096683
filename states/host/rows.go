package host

import "brine/internal/core/fun"

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"host name"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Files: true, Src: "states/host.py absent",
		Doc: "Remove a host name from addresses.",
	},
	{
		Name: "only", Do: only, Files: true, Src: "states/host.py only",
		Doc: "Give an address the given host names and no others.",
	},
	{
		Name: "present", Do: present, Files: true, Src: "states/host.py present",
		Doc: "Give addresses a host name.",
	},
}
