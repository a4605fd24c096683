package firewalld

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "present", Do: present, Leaves: leaves, Src: "states/firewalld.py present",
		Doc: "Create or update a zone.\nThe permanent configuration is changed, and loaded if it changed. Existing items stay unless prune_... is set.",
	},
	{
		Name: "service", Do: service, Leaves: leaves, Src: "states/firewalld.py service",
		Doc: "Create or update a service. It has exactly these ports and protocols.",
	},
}
