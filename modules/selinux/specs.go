package selinux

import "brine/internal/core/fun"

type specArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"regular expression of paths, as in the policy"`
}

type filetypeArg struct {
	_        fun.Arguments
	Filetype string `arg:"filetype" oneof:"a|f|d|c|b|s|l|p" doc:"letter of the type of files: all, regular file, directory, character or block device, socket, symbolic link, named pipe"`
}

type typeArg struct {
	_       fun.Arguments
	SelType string `arg:"sel_type" doc:"type of the context"`
}

type userArg struct {
	_       fun.Arguments
	SelUser string `arg:"sel_user" doc:"SELinux user of the context"`
}

type levelArg struct {
	_        fun.Arguments
	SelLevel string `arg:"sel_level" doc:"level of the context"`
}

type pathArg struct {
	_    fun.Arguments
	Name string `arg:"name,required,path" doc:"path of a file or directory"`
}

type recursiveArg struct {
	_         fun.Arguments
	Recursive bool `arg:"recursive" default:"False" doc:"with all below a directory"`
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

type moduleArg struct {
	_      fun.Arguments
	Module string `arg:"module,required" doc:"the module"`
}

type booleanArg struct {
	_       fun.Arguments
	Boolean string `arg:"boolean,required" doc:"the boolean"`
}

type persistArg struct {
	_       fun.Arguments
	Persist bool `arg:"persist" default:"False" doc:"keep the value over a boot"`
}

type fcontextArgs struct {
	specArg
	filetypeArg
	typeArg
	userArg
	levelArg
}

type pathArgs struct {
	pathArg
	recursiveArg
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "fcontext_add_policy", Doc: "Add a policy for files. Return how semanage ended.", Src: "modules/selinux.py fcontext_add_policy", Do: fcontextAddPolicy},
	{Name: "fcontext_apply_policy", Doc: "Give files the contexts of the policy. Return how restorecon ended, and the changes.", Src: "modules/selinux.py fcontext_apply_policy", Do: fcontextApplyPolicy},
	{Name: "fcontext_delete_policy", Doc: "Delete a local policy for files. Return how semanage ended.", Src: "modules/selinux.py fcontext_delete_policy", Do: fcontextDeletePolicy},
	{Name: "fcontext_get_policy", Doc: "Return the policy for files, None if there is none.", Src: "modules/selinux.py fcontext_get_policy", Do: fcontextGetPolicy},
	{Name: "fcontext_policy_is_applied", Doc: "Return what restorecon would change, which is empty for nothing.", Src: "modules/selinux.py fcontext_policy_is_applied", Do: fcontextPolicyIsApplied},
	{
		Name: "filetype_id_to_string", Doc: "Return the name of a type of files.", Src: "modules/selinux.py filetype_id_to_string", Do: filetypeIDToString,
	},
	{Name: "getconfig", Doc: "Return the mode that the system has after a boot.", Src: "modules/selinux.py getconfig", Do: getconfig},
	{Name: "getenforce", Doc: "Return the mode of the running system: Enforcing, Permissive or Disabled.", Src: "modules/selinux.py getenforce", Do: getenforce},
	{Name: "getsebool", Doc: "Return a boolean of the policy.", Src: "modules/selinux.py getsebool", Do: getsebool},
	{Name: "getsemod", Doc: "Return a module of the policy.", Src: "modules/selinux.py getsemod", Do: getsemod},
	{
		Name: "install_semod", Doc: "Install a module from a file. Return whether that worked.", Src: "modules/selinux.py install_semod", Do: installSemod,
	},
	{Name: "list_sebool", Doc: "Return the booleans of the policy.", Src: "modules/selinux.py list_sebool", Do: listSebool},
	{Name: "list_semod", Doc: "Return the modules of the policy.", Src: "modules/selinux.py list_semod", Do: listSemod},
	{
		Name: "port_add_policy", Doc: "Give a port a type. Return how semanage ended.", Src: "modules/selinux.py port_add_policy", Do: portAddPolicy,
	},
	{Name: "port_delete_policy", Doc: "Delete the local policy of a port. Return how semanage ended.", Src: "modules/selinux.py port_delete_policy", Do: portDeletePolicy},
	{
		Name: "port_get_policy", Doc: "Return the policy that has a port, None if there is none.", Src: "modules/selinux.py port_get_policy", Do: portGetPolicy,
	},
	{Name: "remove_semod", Doc: "Remove a module of the policy. Return whether that worked.", Src: "modules/selinux.py remove_semod", Do: removeSemod},
	{Name: "selinux_fs_path", Doc: "Return where the file system of SELinux is, None if it is disabled.", Src: "modules/selinux.py selinux_fs_path", Do: selinuxFSPath},
	{
		Name: "setenforce", Doc: "Set the mode of the running system and of the configuration. Return the mode of the running system.", Src: "modules/selinux.py setenforce", Do: setenforce,
	},
	{
		Name: "setsebool", Doc: "Set a boolean of the policy. Return whether that worked.", Src: "modules/selinux.py setsebool", Do: setsebool,
	},
	{
		Name: "setsebools", Doc: "Set several booleans of the policy. Return whether that worked.", Src: "modules/selinux.py setsebools", Do: setsebools,
	},
	{
		Name: "setsemod", Doc: "Enable or disable a module of the policy. Return whether that worked.", Src: "modules/selinux.py setsemod", Do: setsemod,
	},
}
