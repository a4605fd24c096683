package linuxacl

import "brine/internal/core/fun"

type typeArg struct {
	_       fun.Arguments
	ACLType string `arg:"acl_type,required" doc:"user, group, mask or other, with default: in front of it for the default list of a directory"`
}

type nameArg struct {
	_       fun.Arguments
	ACLName string `arg:"acl_name" default:"" doc:"user or group; empty is the owner or owning group"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "delfacl", Doc: "Remove an entry from the lists of the files that follow.", Src: "modules/linux_acl.py delfacl", Do: delfacl,
	},
	{
		Name: "getfacl", Doc: "Return the lists of files.", Src: "modules/linux_acl.py getfacl", Do: getfacl,
	},
	{
		Name: "modfacl", Doc: "Set an entry in the lists of the files that follow.", Src: "modules/linux_acl.py modfacl", Do: modfacl,
	},
	{Name: "version", Doc: "Return the version of getfacl.", Src: "modules/linux_acl.py version", Do: version},
	{
		Name: "wipefacls", Doc: "Remove all entries but those of owner, group and others.", Src: "modules/linux_acl.py wipefacls", Do: wipefacls,
	},
}
