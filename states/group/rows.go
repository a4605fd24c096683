package group

import "brine/internal/fun"

var specs = []fun.Spec{
	{
		Name: "absent", State: absent, Src: "states/group.py absent",
		Doc: "Remove a group.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the group"},
		},
	},
	{
		Name: "present", State: present, Src: "states/group.py present",
		Doc: "Create or update a group.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the group"},
			// Text that is no number is refused by the function, in Salt's words.
			{Name: "gid", Type: fun.Int | fun.Str, Doc: "group ID"},
			{Name: "system", Type: fun.Bool, Default: false, Doc: "create a system group"},
			{Name: "addusers", Type: fun.Strs, Doc: "members to add"},
			{Name: "delusers", Type: fun.Strs, Doc: "members to remove"},
			{Name: "members", Type: fun.Strs, Doc: "all members; not together with addusers and delusers"},
			{Name: "non_unique", Type: fun.Bool, Default: false, Doc: "allow a group ID that is already in use"},
		},
	},
}
