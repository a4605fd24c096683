package user

import (
	"brine/internal/core/fun"
)

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the user"`
}

type rootArg struct {
	_    fun.Arguments
	Root string `arg:"root,path" doc:"root directory to use instead of /"`
}

// admin returns an Admin that works in the root directory.
func (r *rootArg) admin(c *fun.Call) *Admin {
	a := NewAdmin(c)
	a.Root = r.Root
	return a
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Create a user.", Src: "modules/useradd.py add",
		Do: add,
	},
	{
		Name: "chfullname", Doc: "Set the full name of a user.", Src: "modules/useradd.py chfullname",
		Do: chfullname,
	},
	{
		Name: "chgid", Doc: "Set the primary group of a user.", Src: "modules/useradd.py chgid",
		Do: chgid,
	},
	{
		Name: "chgroups", Doc: "Set the supplementary groups of a user.", Src: "modules/useradd.py chgroups",
		Do: chgroups,
	},
	{
		Name: "chhome", Doc: "Set the home directory of a user.", Src: "modules/useradd.py chhome",
		Do: chhome,
	},
	{
		Name: "chhomephone", Doc: "Set the home phone number of a user.", Src: "modules/useradd.py chhomephone",
		Do: chhomephone,
	},
	{
		Name: "chloginclass", Doc: "Set the login class of a user of OpenBSD; False on other systems.", Src: "modules/useradd.py chloginclass",
		Do: chloginclass,
	},
	{
		Name: "chother", Doc: "Set the other personal data of a user.", Src: "modules/useradd.py chother",
		Do: chother,
	},
	{
		Name: "chroomnumber", Doc: "Set the room number of a user.", Src: "modules/useradd.py chroomnumber",
		Do: chroomnumber,
	},
	{
		Name: "chshell", Doc: "Set the login shell of a user.", Src: "modules/useradd.py chshell",
		Do: chshell,
	},
	{
		Name: "chuid", Doc: "Set the ID of a user.", Src: "modules/useradd.py chuid",
		Do: chuid,
	},
	{
		Name: "chworkphone", Doc: "Set the work phone number of a user.", Src: "modules/useradd.py chworkphone",
		Do: chworkphone,
	},
	{
		Name: "delete", Doc: "Delete a user; return whether that worked.", Src: "modules/useradd.py delete",
		Do: remove,
	},
	{
		Name: "get_loginclass", Doc: "Return the login class of a user of OpenBSD; False on other systems.", Src: "modules/useradd.py get_loginclass",
		Do: getLoginclass,
	},
	{
		Name: "getent", Doc: "Return all users.", Src: "modules/useradd.py getent",
		Do: getent,
	},
	{
		Name: "info", Doc: "Return the account data of a user, {} if it does not exist.", Src: "modules/useradd.py info",
		Do: info,
	},
	{
		Name: "list_groups", Doc: "Return the names of a user's groups, sorted.", Src: "modules/useradd.py list_groups",
		Do: listGroups,
	},
	{
		Name: "list_users", Doc: "Return the names of all users, sorted.", Src: "modules/useradd.py list_users",
		Do: listUsers,
	},
	{
		Name: "primary_group", Doc: "Return the name of a user's primary group.", Src: "modules/useradd.py primary_group",
		Do: primaryGroup,
	},
	{
		Name: "rename", Doc: "Rename a user.", Src: "modules/useradd.py rename",
		Do: rename,
	},
}
