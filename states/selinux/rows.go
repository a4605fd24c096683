package selinux

import "brine/internal/fun"

// Arguments that several functions have.
var (
	specArg     = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "regular expression of paths, as in the policy"}
	filetypeArg = fun.Arg{Name: "filetype", Type: fun.Str, Default: "a", OneOf: []string{"a", "f", "d", "c", "b", "s", "l", "p"}, Doc: "letter of the type of files: all, regular file, directory, character or block device, socket, symbolic link, named pipe"}
	typeArg     = fun.Arg{Name: "sel_type", Type: fun.Str, Doc: "only a policy with this type"}
	userArg     = fun.Arg{Name: "sel_user", Type: fun.Str, Doc: "SELinux user of the context"}
	levelArg    = fun.Arg{Name: "sel_level", Type: fun.Str, Doc: "level of the context"}
	portNameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "protocol and port or range, such as tcp/8080, or any name"}
	protocolArg = fun.Arg{Name: "protocol", Type: fun.Str, Doc: "tcp or udp, unless name says it"}
	portArg     = fun.Arg{Name: "port", Type: fun.Str, Doc: "port or range, unless name says it"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "boolean", State: boolean, Src: "states/selinux.py boolean",
		Doc: "Set a boolean of the policy.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the boolean"},
			{Name: "value", Type: fun.Str, Required: true, Doc: "on or off, or another word for that"},
			{Name: "persist", Type: fun.Bool, Default: false, Doc: "keep the value over a boot"},
		},
	},
	{
		Name: "fcontext_policy_absent", State: fcontextAbsent, Src: "states/selinux.py fcontext_policy_absent",
		Doc:  "Delete a local policy for files.",
		Args: []fun.Arg{specArg, filetypeArg, typeArg, userArg, levelArg},
	},
	{
		Name: "fcontext_policy_applied", State: fcontextApplied, Src: "states/selinux.py fcontext_policy_applied",
		Doc: "Give files the contexts of the policy.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "path of a file or directory"},
			{Name: "recursive", Type: fun.Bool, Default: false, Doc: "with all below a directory"},
		},
	},
	{
		Name: "fcontext_policy_present", State: fcontextPresent, Src: "states/selinux.py fcontext_policy_present",
		Doc: "Add or change a policy for files.",
		Args: []fun.Arg{
			specArg,
			{Name: "sel_type", Type: fun.Str, Required: true, Doc: "type of the context"},
			filetypeArg, userArg, levelArg,
		},
	},
	{
		Name: "mode", State: mode, Src: "states/selinux.py mode",
		Doc:  "Set the mode of the running system and of the configuration.\nTo or from disabled it changes with the next boot.",
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "enforcing, permissive or disabled"}},
	},
	{
		Name: "module", State: module, Src: "states/selinux.py module",
		Doc: "Enable or disable a module of the policy, or install or remove it.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the module"},
			{Name: "module_state", Type: fun.Str | fun.Bool, Default: "Enabled", Doc: "Enabled or Disabled"},
			{Name: "version", Type: fun.Str, Default: "any", Doc: "fail for another version; new versions of semodule show none"},
			{Name: "install", Type: fun.Bool, Default: false, KwOnly: true, Doc: "install the module from source, on every run"},
			{Name: "source", Type: fun.Path, KwOnly: true, Doc: "with install: path or salt:// URL of the module; default: its name"},
			{Name: "remove", Type: fun.Bool, Default: false, KwOnly: true, Doc: "remove the module instead"},
		},
		VarKw: true,
	},
	{
		Name: "module_install", State: moduleInstall, Always: true, Src: "states/selinux.py module_install",
		Doc:  "Install a module of the policy from a file.\nIt acts on every run; changes name the modules that came with it.",
		Args: []fun.Arg{{Name: "name", Type: fun.Path, Required: true, Doc: "path or salt:// URL of the module"}},
	},
	{
		Name: "module_remove", State: moduleRemove, Src: "states/selinux.py module_remove",
		Doc:  "Remove a module of the policy.",
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "the module"}},
	},
	{
		Name: "port_policy_absent", State: portAbsent, Src: "states/selinux.py port_policy_absent",
		Doc:  "Delete the local policy of a port.",
		Args: []fun.Arg{portNameArg, typeArg, protocolArg, portArg},
	},
	{
		Name: "port_policy_present", State: portPresent, Src: "states/selinux.py port_policy_present",
		Doc: "Give a port a type.",
		Args: []fun.Arg{
			portNameArg,
			{Name: "sel_type", Type: fun.Str, Required: true, Doc: "type of the port"},
			protocolArg, portArg,
			{Name: "sel_range", Type: fun.Str, Doc: "range of levels"},
		},
	},
}
