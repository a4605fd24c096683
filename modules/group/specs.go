package group

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the group"}
	userArg = fun.Arg{Name: "username", Type: fun.Str, Required: true, Doc: "name of the user"}
	rootArg = fun.Arg{Name: "root", Type: fun.Path, Doc: "root directory to use instead of /"}
)

var nonUniqueArgs = []fun.Arg{
	{Name: "non_unique", Type: fun.Bool, Default: false, Doc: "allow an ID already in use"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Create a group; return whether that worked.", Src: "modules/groupadd.py add",
		Shared: [][]fun.Arg{nonUniqueArgs}, Fn: add,
		Args: []fun.Arg{
			nameArg,
			{Name: "gid", Type: fun.Int, Doc: "group ID"},
			{Name: "system", Type: fun.Bool, Default: false, Doc: "create a system group"},
			rootArg,
		},
	},
	{
		Name: "adduser", Doc: "Add a user to a group; return whether that worked.", Src: "modules/groupadd.py adduser",
		Args: []fun.Arg{nameArg, userArg, rootArg}, Fn: addUser,
	},
	{
		Name: "chgid", Doc: "Change the ID of a group; return whether it has it.", Src: "modules/groupadd.py chgid",
		Shared: [][]fun.Arg{nonUniqueArgs}, Fn: chgid,
		Args: []fun.Arg{
			nameArg,
			{Name: "gid", Type: fun.Int, Required: true, Doc: "the new group ID"},
			rootArg,
		},
	},
	{
		Name: "delete", Doc: "Delete a group; return whether that worked.", Src: "modules/groupadd.py delete",
		Args: []fun.Arg{nameArg, rootArg}, Fn: remove,
	},
	{
		Name: "deluser", Doc: "Remove a user from a group; return whether that worked.", Src: "modules/groupadd.py deluser",
		Args: []fun.Arg{nameArg, userArg, rootArg}, Fn: delUser,
	},
	{
		Name: "getent", Doc: "Return all groups.", Src: "modules/groupadd.py getent",
		Fn: getent,
		Args: []fun.Arg{
			{Name: "refresh", Type: fun.Bool, Default: false, Doc: "accepted; groups are read each time"},
			rootArg,
		},
	},
	{
		Name: "info", Doc: "Return a group's name, ID and members, {} if it does not exist.", Src: "modules/groupadd.py info",
		Args: []fun.Arg{nameArg, rootArg}, Fn: info,
	},
	{
		Name: "members", Doc: "Replace the members of a group; return whether that worked.", Src: "modules/groupadd.py members",
		Fn: members,
		Args: []fun.Arg{
			nameArg,
			{Name: "members_list", Type: fun.Commas, Required: true, Doc: "the members, as a list or separated by commas"},
			rootArg,
		},
	},
}
