package user

import "brine/internal/fun"

const since1970 = "days since 1970-01-01"

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
