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
		Doc:    "Remove a database.",
		Args:   []fun.Arg{nameArg},
		Shared: [][]fun.Arg{mysql.ConnArgs},
	},
	{
		Name: "present", State: present, VarKw: true, NearMiss: true, Src: "states/mysql_database.py present",
		Doc: "Create a database, or set the defaults of an existing one.",
		Args: []fun.Arg{
			nameArg,
			{Name: "character_set", Type: fun.Str, Doc: "default character set"},
			{Name: "collate", Type: fun.Str, Doc: "default collation"},
		},
		Shared: [][]fun.Arg{mysql.ConnArgs},
	},
}
