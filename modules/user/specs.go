package user

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"}
)

var rootArg = fun.Arg{Name: "root", Type: fun.Path, Doc: "root directory to use instead of /"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Create a user.", Src: "modules/useradd.py add",
		Fn: add,
		Args: []fun.Arg{
			nameArg,
			{Name: "uid", Type: fun.Int, Doc: "user ID"},
			{Name: "gid", Type: fun.Str | fun.Int, Doc: "primary group, by name or ID"},
			{Name: "groups", Type: fun.Commas, Doc: "supplementary groups"},
			{Name: "home", Type: fun.Path, Doc: "home directory"},
			{Name: "shell", Type: fun.Str, Doc: "login shell"},
			{Name: "unique", Type: fun.Bool, Default: true, Doc: "refuse an ID already in use"},
			{Name: "system", Type: fun.Bool, Default: false, Doc: "create a system account"},
			{Name: "fullname", Type: fun.Str, Default: "", Doc: "full name"},
			{Name: "roomnumber", Type: fun.Str, Default: "", Doc: "room number"},
			{Name: "workphone", Type: fun.Str, Default: "", Doc: "work phone number"},
			{Name: "homephone", Type: fun.Str, Default: "", Doc: "home phone number"},
			{Name: "other", Type: fun.Str, Default: "", Doc: "other personal data"},
			{Name: "createhome", Type: fun.Bool, Default: true, Doc: "create the home directory"},
			{Name: "loginclass", Type: fun.Str, Doc: "login class, on OpenBSD only"},
			{Name: "nologinit", Type: fun.Bool, Default: false, Doc: "keep the user out of lastlog and faillog"},
			rootArg,
			{Name: "usergroup", Type: fun.Bool, Doc: "True: create a group of the same name; False: do not"},
		},
	},
	{
		Name: "chfullname", Doc: "Set the full name of a user.", Src: "modules/useradd.py chfullname",
		Fn: chfullname,
		Args: []fun.Arg{
			nameArg,
			{Name: "fullname", Type: fun.Str | fun.None, Required: true, Doc: "the full name"},
			rootArg,
		},
	},
	{
		Name: "chgid", Doc: "Set the primary group of a user.", Src: "modules/useradd.py chgid",
		Fn: chgid,
		Args: []fun.Arg{
			nameArg,
			{Name: "gid", Type: fun.Int | fun.Str, Required: true, Doc: "name or ID of the group"},
			rootArg,
		},
	},
	{
		Name: "chgroups", Doc: "Set the supplementary groups of a user.", Src: "modules/useradd.py chgroups",
		Fn: chgroups,
		Args: []fun.Arg{
			nameArg,
			{Name: "groups", Type: fun.Commas, Required: true, Doc: "the groups"},
			{Name: "append", Type: fun.Bool, Default: false, Doc: "keep the groups that the user has"},
			rootArg,
		},
	},
	{
		Name: "chhome", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Set the home directory of a user.", Src: "modules/useradd.py chhome",
		Fn: chhome,
		Args: []fun.Arg{
			nameArg,
			{Name: "home", Type: fun.Path, Required: true, Doc: "the directory"},
			{Name: "persist", Type: fun.Bool, Default: false, Doc: "move the content of the old one"},
			rootArg,
		},
	},
	{
		Name: "chhomephone", Doc: "Set the home phone number of a user.", Src: "modules/useradd.py chhomephone",
		Fn: chhomephone,
		Args: []fun.Arg{
			nameArg,
			{Name: "homephone", Type: fun.Str | fun.None, Required: true, Doc: "the number"},
			rootArg,
		},
	},
	{
		Name: "chloginclass", Doc: "Set the login class of a user of OpenBSD; False on other systems.", Src: "modules/useradd.py chloginclass",
		Fn: chloginclass,
		Args: []fun.Arg{
			nameArg,
			{Name: "loginclass", Type: fun.Str, Required: true, Doc: "the login class"},
			rootArg,
		},
	},
	{
		Name: "chother", Doc: "Set the other personal data of a user.", Src: "modules/useradd.py chother",
		Fn: chother,
		Args: []fun.Arg{
			nameArg,
			{Name: "other", Type: fun.Str | fun.None, Required: true, Doc: "the data"},
			rootArg,
		},
	},
	{
		Name: "chroomnumber", Doc: "Set the room number of a user.", Src: "modules/useradd.py chroomnumber",
		Fn: chroomnumber,
		Args: []fun.Arg{
			nameArg,
			{Name: "roomnumber", Type: fun.Str | fun.None, Required: true, Doc: "the room number"},
			rootArg,
		},
	},
	{
		Name: "chshell", Doc: "Set the login shell of a user.", Src: "modules/useradd.py chshell",
		Fn: chshell,
		Args: []fun.Arg{
			nameArg,
			{Name: "shell", Type: fun.Str, Required: true, Doc: "the shell"},
			rootArg,
		},
	},
	{
		Name: "chuid", Doc: "Set the ID of a user.", Src: "modules/useradd.py chuid",
		Fn: chuid,
		Args: []fun.Arg{
			nameArg,
			{Name: "uid", Type: fun.Int, Required: true, Doc: "the user ID"},
			rootArg,
		},
	},
	{
		Name: "chworkphone", Doc: "Set the work phone number of a user.", Src: "modules/useradd.py chworkphone",
		Fn: chworkphone,
		Args: []fun.Arg{
			nameArg,
			{Name: "workphone", Type: fun.Str | fun.None, Required: true, Doc: "the number"},
			rootArg,
		},
	},
	{
		Name: "delete", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Delete a user; return whether that worked.", Src: "modules/useradd.py delete",
		Fn: remove,
		Args: []fun.Arg{
			nameArg,
			{Name: "remove", Type: fun.Bool, Default: false, Doc: "also delete home directory and mail"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "delete a user who is logged in"},
			rootArg,
		},
	},
	{
		Name: "get_loginclass", Doc: "Return the login class of a user of OpenBSD; False on other systems.", Src: "modules/useradd.py get_loginclass",
		Fn: getLoginclass, Args: []fun.Arg{nameArg},
	},
	{
		Name: "getent", Doc: "Return all users.", Src: "modules/useradd.py getent",
		Fn: getent,
		Args: []fun.Arg{
			{Name: "refresh", Type: fun.Bool, Default: false, Doc: "accepted; accounts are read each time"},
			rootArg,
		},
	},
	{
		Name: "info", Doc: "Return the account data of a user, {} if it does not exist.", Src: "modules/useradd.py info",
		Args: []fun.Arg{nameArg, rootArg}, Fn: info,
	},
	{
		Name: "list_groups", Doc: "Return the names of a user's groups, sorted.", Src: "modules/useradd.py list_groups",
		Args: []fun.Arg{nameArg}, Fn: listGroups,
	},
	{
		Name: "list_users", Doc: "Return the names of all users, sorted.", Src: "modules/useradd.py list_users",
		Args: []fun.Arg{rootArg}, Fn: listUsers,
	},
	{
		Name: "primary_group", Doc: "Return the name of a user's primary group.", Src: "modules/useradd.py primary_group",
		Args: []fun.Arg{nameArg}, Fn: primaryGroup,
	},
	{
		Name: "rename", Doc: "Rename a user.", Src: "modules/useradd.py rename",
		Fn: rename,
		Args: []fun.Arg{
			nameArg,
			{Name: "new_name", Type: fun.Str, Required: true, Doc: "the new name"},
			rootArg,
		},
	},
}
