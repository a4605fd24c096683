package mysqlgrants

import (
	"brine/internal/core/fun"
)

type grantArgs struct {
	_           fun.Arguments
	_           string          `arg:"name,required" doc:"name of the state"`
	Grant       fun.Opt[string] `arg:"grant" doc:"privileges, separated by commas, or all privileges; needed"`
	Database    fun.Opt[string] `arg:"database" doc:"database.* or database.table; needed"`
	User        fun.Opt[string] `arg:"user" doc:"the user; needed"`
	Host        string          `arg:"host" default:"localhost" doc:"host that the user connects from"`
	GrantOption bool            `arg:"grant_option" default:"False" doc:"with the right to pass the privileges on"`
	Escape      bool            `arg:"escape" default:"True" doc:"quote the names of database and table"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, NearMiss: true, Src: "states/mysql_grants.py absent",
		Doc: "Revoke privileges of a user.",
	},
	{
		Name: "present", Do: present, NearMiss: true, Src: "states/mysql_grants.py present",
		Doc: "Grant privileges to a user.\nPrivileges that the user has beyond these stay, unless revoke_first is set.",
	},
}
