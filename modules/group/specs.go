package group

import (
	"brine/internal/core/fun"
)

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the group"`
}

type userArg struct {
	_        fun.Arguments
	Username string `arg:"username,required" doc:"name of the user"`
}

type rootArg struct {
	_    fun.Arguments
	Root string `arg:"root,path" doc:"root directory to use instead of /"`
}

type nonUniqueArgs struct {
	_         fun.Arguments
	NonUnique bool `arg:"non_unique" default:"False" doc:"allow an ID already in use"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Create a group; return whether that worked.", Src: "modules/groupadd.py add",
		Do: add,
	},
	{
		Name: "adduser", Doc: "Add a user to a group; return whether that worked.", Src: "modules/groupadd.py adduser",
		Do: addUser,
	},
	{
		Name: "chgid", Doc: "Change the ID of a group; return whether it has it.", Src: "modules/groupadd.py chgid",
		Do: chgid,
	},
	{
		Name: "delete", Doc: "Delete a group; return whether that worked.", Src: "modules/groupadd.py delete",
		Do: remove,
	},
	{
		Name: "deluser", Doc: "Remove a user from a group; return whether that worked.", Src: "modules/groupadd.py deluser",
		Do: delUser,
	},
	{
		Name: "getent", Doc: "Return all groups.", Src: "modules/groupadd.py getent",
		Do: getent,
	},
	{
		Name: "info", Doc: "Return a group's name, ID and members, {} if it does not exist.", Src: "modules/groupadd.py info",
		Do: info,
	},
	{
		Name: "members", Doc: "Replace the members of a group; return whether that worked.", Src: "modules/groupadd.py members",
		Do: members,
	},
}
