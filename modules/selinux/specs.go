package selinux

import "brine/internal/fun"

// Arguments that several functions have.
var (
	specArg      = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "regular expression of paths, as in the policy"}
	filetypeArg  = fun.Arg{Name: "filetype", Type: fun.Str, OneOf: []string{"a", "f", "d", "c", "b", "s", "l", "p"}, Doc: "letter of the type of files: all, regular file, directory, character or block device, socket, symbolic link, named pipe"}
	typeArg      = fun.Arg{Name: "sel_type", Type: fun.Str, Doc: "type of the context"}
	userArg      = fun.Arg{Name: "sel_user", Type: fun.Str, Doc: "SELinux user of the context"}
	levelArg     = fun.Arg{Name: "sel_level", Type: fun.Str, Doc: "level of the context"}
	pathArg      = fun.Arg{Name: "name", Type: fun.Path, Required: true, Doc: "path of a file or directory"}
	recursiveArg = fun.Arg{Name: "recursive", Type: fun.Bool, Default: false, Doc: "with all below a directory"}
	portNameArg  = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "protocol and port or range, such as tcp/8080, or any name"}
	protocolArg  = fun.Arg{Name: "protocol", Type: fun.Str, Doc: "tcp or udp, unless name says it"}
	portArg      = fun.Arg{Name: "port", Type: fun.Str, Doc: "port or range, unless name says it"}
	moduleArg    = fun.Arg{Name: "module", Type: fun.Str, Required: true, Doc: "the module"}
	booleanArg   = fun.Arg{Name: "boolean", Type: fun.Str, Required: true, Doc: "the boolean"}
	persistArg   = fun.Arg{Name: "persist", Type: fun.Bool, Default: false, Doc: "keep the value over a boot"}
)

var (
	fcontextArgs = []fun.Arg{specArg, filetypeArg, typeArg, userArg, levelArg}
	pathArgs     = []fun.Arg{pathArg, recursiveArg}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "fcontext_add_policy", Doc: "Add a policy for files. Return how semanage ended.", Src: "modules/selinux.py fcontext_add_policy", Fn: fcontextAddPolicy, Args: fcontextArgs},
	{Name: "fcontext_apply_policy", Doc: "Give files the contexts of the policy. Return how restorecon ended, and the changes.", Src: "modules/selinux.py fcontext_apply_policy", Fn: fcontextApplyPolicy, Args: pathArgs},
	{Name: "fcontext_delete_policy", Doc: "Delete a local policy for files. Return how semanage ended.", Src: "modules/selinux.py fcontext_delete_policy", Fn: fcontextDeletePolicy, Args: fcontextArgs},
	{Name: "fcontext_get_policy", Doc: "Return the policy for files, None if there is none.", Src: "modules/selinux.py fcontext_get_policy", Fn: fcontextGetPolicy, Args: fcontextArgs},
	{Name: "fcontext_policy_is_applied", Doc: "Return what restorecon would change, which is empty for nothing.", Src: "modules/selinux.py fcontext_policy_is_applied", Fn: fcontextPolicyIsApplied, Args: pathArgs},
	{
		Name: "filetype_id_to_string", Doc: "Return the name of a type of files.", Src: "modules/selinux.py filetype_id_to_string", Fn: filetypeIDToString,
		Args: []fun.Arg{{Name: "filetype", Type: fun.Str, Default: "a", Doc: "letter of the type"}},
	},
	{Name: "getconfig", Doc: "Return the mode that the system has after a boot.", Src: "modules/selinux.py getconfig", Fn: getconfig},
	{Name: "getenforce", Doc: "Return the mode of the running system: Enforcing, Permissive or Disabled.", Src: "modules/selinux.py getenforce", Fn: getenforce},
	{Name: "getsebool", Doc: "Return a boolean of the policy.", Src: "modules/selinux.py getsebool", Fn: getsebool, Args: []fun.Arg{booleanArg}},
	{Name: "getsemod", Doc: "Return a module of the policy.", Src: "modules/selinux.py getsemod", Fn: getsemod, Args: []fun.Arg{moduleArg}},
	{
		Name: "install_semod", Doc: "Install a module from a file. Return whether that worked.", Src: "modules/selinux.py install_semod", Fn: installSemod,
		Args: []fun.Arg{{Name: "module_path", Type: fun.Path, Required: true, Doc: "path or salt:// URL of the module"}},
	},
	{Name: "list_sebool", Doc: "Return the booleans of the policy.", Src: "modules/selinux.py list_sebool", Fn: listSebool},
	{Name: "list_semod", Doc: "Return the modules of the policy.", Src: "modules/selinux.py list_semod", Fn: listSemod},
	{
		Name: "port_add_policy", Doc: "Give a port a type. Return how semanage ended.", Src: "modules/selinux.py port_add_policy", Fn: portAddPolicy,
		Args: []fun.Arg{portNameArg, {Name: "sel_type", Type: fun.Str, Doc: "type of the port; needed"}, protocolArg, portArg, {Name: "sel_range", Type: fun.Str, Doc: "range of levels"}},
	},
	{Name: "port_delete_policy", Doc: "Delete the local policy of a port. Return how semanage ended.", Src: "modules/selinux.py port_delete_policy", Fn: portDeletePolicy, Args: []fun.Arg{portNameArg, protocolArg, portArg}},
	{
		Name: "port_get_policy", Doc: "Return the policy that has a port, None if there is none.", Src: "modules/selinux.py port_get_policy", Fn: portGetPolicy,
		Args: []fun.Arg{portNameArg, {Name: "sel_type", Type: fun.Str, Doc: "only a policy with this type"}, protocolArg, portArg},
	},
	{Name: "remove_semod", Doc: "Remove a module of the policy. Return whether that worked.", Src: "modules/selinux.py remove_semod", Fn: removeSemod, Args: []fun.Arg{moduleArg}},
	{Name: "selinux_fs_path", Doc: "Return where the file system of SELinux is, None if it is disabled.", Src: "modules/selinux.py selinux_fs_path", Fn: selinuxFSPath},
	{
		Name: "setenforce", Doc: "Set the mode of the running system and of the configuration. Return the mode of the running system.", Src: "modules/selinux.py setenforce", Fn: setenforce,
		Args: []fun.Arg{{Name: "mode", Type: fun.Str | fun.Int | fun.Bool, Required: true, Doc: "enforcing, permissive or disabled; 1 is enforcing, 0 permissive"}},
	},
	{
		Name: "setsebool", Doc: "Set a boolean of the policy. Return whether that worked.", Src: "modules/selinux.py setsebool", Fn: setsebool,
		Args: []fun.Arg{booleanArg, {Name: "value", Type: fun.Str, Required: true, Doc: "on or off"}, persistArg},
	},
	{
		Name: "setsebools", Doc: "Set several booleans of the policy. Return whether that worked.", Src: "modules/selinux.py setsebools", Fn: setsebools,
		Args: []fun.Arg{{Name: "pairs", Type: fun.Dict, Required: true, Doc: "values by the names of booleans"}, persistArg},
	},
	{
		Name: "setsemod", Doc: "Enable or disable a module of the policy. Return whether that worked.", Src: "modules/selinux.py setsemod", Fn: setsemod,
		Args: []fun.Arg{moduleArg, {Name: "state", Type: fun.Str, Required: true, Doc: "Enabled or Disabled"}},
	},
}
