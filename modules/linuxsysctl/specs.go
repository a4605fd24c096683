package linuxsysctl

import "brine/internal/core/fun"

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the parameter, such as net.ipv4.ip_forward"`
}

type valueArg struct {
	_     fun.Arguments
	Value string `arg:"value,required" doc:"its value"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "assign", Doc: "Set a parameter of the running kernel.", Src: "modules/linux_sysctl.py assign", Do: assign,
	},
	{Name: "default_config", Doc: "Return the file in which parameters are kept.", Src: "modules/linux_sysctl.py default_config", Do: defaultConfig},
	{Name: "get", Doc: "Return the value of a parameter.", Src: "modules/linux_sysctl.py get", Do: get},
	{
		Name: "persist", Doc: "Set a parameter and keep it in a file; return Updated or Already set.", Src: "modules/linux_sysctl.py persist", Do: persist,
	},
	{
		Name: "show", Doc: "Return all parameters of the running kernel, or those that a file keeps.", Src: "modules/linux_sysctl.py show", Do: show,
	},
}
