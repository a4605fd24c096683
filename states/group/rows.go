package group

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Leaves: absentLeaves, Src: "states/group.py absent",
		Doc: "Remove a group.",
	},
	{
		Name: "present", Do: present, Leaves: presentLeaves, Src: "states/group.py present",
		Doc: "Create or update a group.",
	},
}
