package linuxacl

import "brine/internal/fun"

// Arguments that several functions have.
var (
	typeArg = fun.Arg{Name: "acl_type", Type: fun.Str, Required: true, Doc: "user, group, mask or other, with default: in front of it for the default list of a directory"}
	nameArg = fun.Arg{Name: "acl_name", Type: fun.Str, Default: "", Doc: "user or group; empty is the owner or owning group"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "delfacl", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Remove an entry from the lists of the files that follow.\nrecursive=True includes what is under directories.", Src: "modules/linux_acl.py delfacl", Fn: delfacl,
		VarArg: true, VarKw: true, Args: []fun.Arg{typeArg, nameArg},
	},
	{
		Name: "getfacl", Doc: "Return the lists of files.\nrecursive=True includes what is under directories.", Src: "modules/linux_acl.py getfacl", Fn: getfacl,
		VarArg: true, VarKw: true,
	},
	{
		Name: "modfacl", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Set an entry in the lists of the files that follow.\nrecursive=True includes what is under directories; raise_err=True makes a failing setfacl an error.", Src: "modules/linux_acl.py modfacl", Fn: modfacl,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{typeArg, nameArg, {Name: "perms", Type: fun.Str, Default: "", Doc: "permissions as letters of rwxX"}},
	},
	{Name: "version", Doc: "Return the version of getfacl.", Src: "modules/linux_acl.py version", Fn: version},
	{
		Name: "wipefacls", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Remove all entries but those of owner, group and others.\nrecursive=True includes what is under directories.", Src: "modules/linux_acl.py wipefacls", Fn: wipefacls,
		VarArg: true, VarKw: true,
	},
}
