package mysqldatabase

import (
	"brine/internal/core/fun"
)

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the database"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, NearMiss: true, Src: "states/mysql_database.py absent",
		Doc: "Remove a database.",
	},
	{
		Name: "present", Do: present, NearMiss: true, Src: "states/mysql_database.py present",
		Doc: "Create a database, or set the defaults of an existing one.",
	},
}
