package selinux

import "brine/internal/core/fun"

type specArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"regular expression of paths, as in the policy"`
}

type filetypeArg struct {
	_        fun.Arguments
	Filetype string `arg:"filetype" default:"a" oneof:"a|f|d|c|b|s|l|p" doc:"letter of the type of files: all, regular file, directory, character or block device, socket, symbolic link, named pipe"`
}

type typeArg struct {
	_       fun.Arguments
	SelType string `arg:"sel_type" doc:"only a policy with this type"`
}

type userArg struct {
	_       fun.Arguments
	SelUser string `arg:"sel_user" doc:"SELinux user of the context"`
}

type levelArg struct {
	_        fun.Arguments
	SelLevel string `arg:"sel_level" doc:"level of the context"`
}

type portNameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"protocol and port or range, such as tcp/8080, or any name"`
}

type protocolArg struct {
	_        fun.Arguments
	Protocol string `arg:"protocol" doc:"tcp or udp, unless name says it"`
}

type portArg struct {
	_    fun.Arguments
	Port string `arg:"port" doc:"port or range, unless name says it"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "boolean", Do: boolean, Src: "states/selinux.py boolean",
		Doc: "Set a boolean of the policy.",
	},
	{
		Name: "fcontext_policy_absent", Do: fcontextAbsent, Src: "states/selinux.py fcontext_policy_absent",
		Doc: "Delete a local policy for files.",
	},
	{
		Name: "fcontext_policy_applied", Do: fcontextApplied, Src: "states/selinux.py fcontext_policy_applied",
		Doc: "Give files the contexts of the policy.",
	},
	{
		Name: "fcontext_policy_present", Do: fcontextPresent, Src: "states/selinux.py fcontext_policy_present",
		Doc: "Add or change a policy for files.",
	},
	{
		Name: "mode", Do: mode, Src: "states/selinux.py mode",
		Doc: "Set the mode of the running system and of the configuration.\nTo or from disabled it changes with the next boot.",
	},
	{
		Name: "module", Do: module, Src: "states/selinux.py module",
		Doc: "Enable or disable a module of the policy, or install or remove it.",
	},
	{
		Name: "module_install", Do: moduleInstall, Always: true, Src: "states/selinux.py module_install",
		Doc: "Install a module of the policy from a file.\nIt acts on every run; changes name the modules that came with it.",
	},
	{
		Name: "module_remove", Do: moduleRemove, Src: "states/selinux.py module_remove",
		Doc: "Remove a module of the policy.",
	},
	{
		Name: "port_policy_absent", Do: portAbsent, Src: "states/selinux.py port_policy_absent",
		Doc: "Delete the local policy of a port.",
	},
	{
		Name: "port_policy_present", Do: portPresent, Src: "states/selinux.py port_policy_present",
		Doc: "Give a port a type.",
	},
}
