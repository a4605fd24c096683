package user

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Src: "states/user.py absent",
		Doc: "Remove a user.",
	},
	{
		Name: "present", Do: present, Src: "states/user.py present",
		Doc: "Create or update a user.",
	},
}
