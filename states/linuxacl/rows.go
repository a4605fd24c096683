package linuxacl

import "brine/internal/fun"

// Arguments that several functions have.
var (
	fileArg    = fun.Arg{Name: "name", Type: fun.Path, Required: true, Doc: "file or directory"}
	typeArg    = fun.Arg{Name: "acl_type", Type: fun.Str, Required: true, Doc: "user, group, mask or other, with default: in front of it for the default list of a directory"}
	nameArg    = fun.Arg{Name: "acl_name", Type: fun.Str, Default: "", Doc: "user or group; empty is the owner or owning group"}
	namesArg   = fun.Arg{Name: "acl_names", Type: fun.Strs, Doc: "users or groups"}
	permsArg   = fun.Arg{Name: "perms", Type: fun.Str, Default: "", Doc: "permissions as letters of rwxX; X is x for directories and for what somebody may execute"}
	recurseArg = fun.Arg{Name: "recurse", Type: fun.Bool, Default: false, Doc: "include what is under a directory"}
	forceArg   = fun.Arg{Name: "force", Type: fun.Bool, Default: false, Doc: "remove all other entries if something is to be changed"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Shared: [][]fun.Arg{fun.SystemPath}, State: absent, Src: "states/linux_acl.py absent",
		Doc:  "Remove the entry of a user or group from an access control list.",
		Args: []fun.Arg{fileArg, typeArg, nameArg, {Name: "perms", Type: fun.Str, Default: "", Doc: "accepted; the whole entry is removed"}, recurseArg},
	},
	{
		Name: "list_absent", Shared: [][]fun.Arg{fun.SystemPath}, State: listAbsent, Src: "states/linux_acl.py list_absent",
		Doc:  "Remove the entries of users or groups from an access control list.",
		Args: []fun.Arg{fileArg, typeArg, namesArg, recurseArg},
	},
	{
		Name: "list_present", Shared: [][]fun.Arg{fun.SystemPath}, State: listPresent, Src: "states/linux_acl.py list_present",
		Doc:  "Give users or groups permissions in an access control list.",
		Args: []fun.Arg{fileArg, typeArg, namesArg, permsArg, recurseArg, forceArg},
	},
	{
		Name: "present", Shared: [][]fun.Arg{fun.SystemPath}, State: present, Src: "states/linux_acl.py present",
		Doc:  "Give a user or group permissions in an access control list.",
		Args: []fun.Arg{fileArg, typeArg, nameArg, permsArg, recurseArg, forceArg},
	},
}
