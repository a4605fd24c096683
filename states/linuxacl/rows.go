package linuxacl

import "brine/internal/core/fun"

type fileArg struct {
	_ fun.Arguments
	_ string `arg:"name,required,path" doc:"file or directory"`
}

type typeArg struct {
	_       fun.Arguments
	ACLType string `arg:"acl_type,required" doc:"user, group, mask or other, with default: in front of it for the default list of a directory"`
}

type nameArg struct {
	_       fun.Arguments
	ACLName string `arg:"acl_name" default:"" doc:"user or group; empty is the owner or owning group"`
}

type namesArg struct {
	_        fun.Arguments
	ACLNames []string `arg:"acl_names" doc:"users or groups"`
}

type permsArg struct {
	_     fun.Arguments
	Perms string `arg:"perms" default:"" doc:"permissions as letters of rwxX; X is x for directories and for what somebody may execute"`
}

type recurseArg struct {
	_       fun.Arguments
	Recurse bool `arg:"recurse" default:"False" doc:"include what is under a directory"`
}

type forceArg struct {
	_     fun.Arguments
	Force bool `arg:"force" default:"False" doc:"remove all other entries if something is to be changed"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Src: "states/linux_acl.py absent",
		Doc: "Remove the entry of a user or group from an access control list.",
	},
	{
		Name: "list_absent", Do: listAbsent, Src: "states/linux_acl.py list_absent",
		Doc: "Remove the entries of users or groups from an access control list.",
	},
	{
		Name: "list_present", Do: listPresent, Src: "states/linux_acl.py list_present",
		Doc: "Give users or groups permissions in an access control list.",
	},
	{
		Name: "present", Do: present, Src: "states/linux_acl.py present",
		Doc: "Give a user or group permissions in an access control list.",
	},
}
