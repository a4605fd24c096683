package sysctl

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "present", State: present, Src: "states/sysctl.py present",
		Doc: "Set a kernel parameter and keep it in a file.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the parameter"},
			{Name: "value", Type: fun.Str | fun.Int | fun.Float | fun.Bool, Required: true, Doc: "its value"},
			{Name: "config", Type: fun.Path, Doc: "file in which the parameter is kept; default: /etc/sysctl.d/99-salt.conf with systemd, else /etc/sysctl.conf"},
		},
	},
}
