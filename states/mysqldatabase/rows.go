package mysqldatabase

import (
	"brine/internal/fun"
	"brine/modules/mysql"
)

var nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the database"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", State: absent, VarKw: true, NearMiss: true, Src: "states/mysql_database.py absent",
		Doc:     "Remove a database.",
		Example: "olddb:\n  mysql_database.absent: []",
		Args:    []fun.Arg{nameArg},
		Shared:  [][]fun.Arg{mysql.ConnArgs},
	},
	{
		Name: "present", State: present, VarKw: true, NearMiss: true, Src: "states/mysql_database.py present",
		Doc:     "Create a database, or set the defaults of an existing one.",
		Example: "mydb:\n  mysql_database.present:\n    - character_set: utf8mb4\n    - collate: utf8mb4_general_ci",
		Args: []fun.Arg{
			nameArg,
			{Name: "character_set", Type: fun.Str, Doc: "default character set"},
			{Name: "collate", Type: fun.Str, Doc: "default collation"},
		},
		Shared: [][]fun.Arg{mysql.ConnArgs},
	},
}
