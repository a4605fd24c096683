package mysqlgrants

import (
	"brine/internal/fun"
	"brine/modules/mysql"
)

var grantArgs = []fun.Arg{
	{Name: "name", Type: fun.Str, Required: true, Doc: "name of the state"},
	{Name: "grant", Type: fun.Str, Doc: "privileges, separated by commas, or all privileges; needed"},
	{Name: "database", Type: fun.Str, Doc: "database.* or database.table; needed"},
	{Name: "user", Type: fun.Str, Doc: "the user; needed"},
	{Name: "host", Type: fun.Str, Default: "localhost", Doc: "host that the user connects from"},
	{Name: "grant_option", Type: fun.Bool, Default: false, Doc: "with the right to pass the privileges on"},
	{Name: "escape", Type: fun.Bool, Default: true, Doc: "quote the names of database and table"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", State: absent, VarKw: true, NearMiss: true, Src: "states/mysql_grants.py absent",
		Doc:    "Revoke privileges of a user.",
		Shared: [][]fun.Arg{grantArgs, mysql.ConnArgs},
	},
	{
		Name: "present", State: present, VarKw: true, NearMiss: true, Src: "states/mysql_grants.py present",
		Doc:    "Grant privileges to a user.\nPrivileges that the user has beyond these stay, unless revoke_first is set.",
		Shared: [][]fun.Arg{grantArgs, presentArgs, mysql.ConnArgs},
	},
}

var presentArgs = []fun.Arg{
	{Name: "revoke_first", Type: fun.Bool, Default: false, Doc: "first revoke what the user has of that database or table"},
	{Name: "ssl_option", Type: fun.List | fun.Bool, Default: false, Doc: "requirements of the connection: a list of SSL, X509, SUBJECT, ISSUER and CIPHER mappings"},
}
