package linuxsysctl

import "brine/internal/fun"

// Arguments that several functions have.
var (
	nameArg  = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the parameter, such as net.ipv4.ip_forward"}
	valueArg = fun.Arg{Name: "value", Type: fun.Str, Required: true, Doc: "its value"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "assign", Doc: "Set a parameter of the running kernel.", Src: "modules/linux_sysctl.py assign", Fn: assign,
		Args: []fun.Arg{nameArg, valueArg},
	},
	{Name: "default_config", Doc: "Return the file in which parameters are kept.", Src: "modules/linux_sysctl.py default_config", Fn: defaultConfig},
	{Name: "get", Doc: "Return the value of a parameter.", Src: "modules/linux_sysctl.py get", Fn: get, Args: []fun.Arg{nameArg}},
	{
		Name: "persist", Doc: "Set a parameter and keep it in a file; return Updated or Already set.", Src: "modules/linux_sysctl.py persist", Fn: persist,
		Args: []fun.Arg{nameArg, valueArg, {Name: "config", Type: fun.Path, Doc: "file in which the parameter is kept; default: that of default_config"}},
	},
	{
		Name: "show", Doc: "Return all parameters of the running kernel, or those that a file keeps.", Src: "modules/linux_sysctl.py show", Fn: show,
		Args: []fun.Arg{{Name: "config_file", Type: fun.Path | fun.Bool, Default: false, Doc: "file of parameters; False is the running kernel"}},
	},
}
