package host

import "brine/internal/fun"

var nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "host name"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", State: absent, Src: "states/host.py absent",
		Doc:  "Remove a host name from addresses.",
		Args: []fun.Arg{nameArg, {Name: "ip", Type: fun.Strs, Required: true, Doc: "IP address, or a list of them"}},
	},
	{
		Name: "only", State: only, Src: "states/host.py only",
		Doc: "Give an address the given host names and no others.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "IP address"},
			{Name: "hostnames", Type: fun.Strs | fun.Str | fun.None, Required: true, Doc: "host name, or a list of them in their order; without any the address is removed"},
		},
	},
	{
		Name: "present", State: present, Src: "states/host.py present",
		Doc: "Give addresses a host name.",
		Args: []fun.Arg{
			nameArg,
			{Name: "ip", Type: fun.Strs, Required: true, Doc: "IP address, or a list of them"},
			{Name: "comment", Type: fun.Str, Default: "", Doc: "comment behind the host names of the address"},
			{Name: "clean", Type: fun.Bool, Default: false, Doc: "remove the host name from other addresses"},
		},
	},
}
