package user

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Leaves: absentLeaves, Src: "states/user.py absent",
		Doc: "Remove a user.",
	},
	{
		Name: "present", Do: present, Leaves: presentLeaves, Src: "states/user.py present",
		Doc: "Create or update a user.",
	},
}
