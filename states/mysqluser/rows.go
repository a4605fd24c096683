package mysqluser

import (
	"brine/internal/fun"
	"brine/modules/mysql"
)

// Arguments that both functions have.
var (
	nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"}
	hostArg = fun.Arg{Name: "host", Type: fun.Str, Default: "localhost", Doc: "host that the user connects from"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", State: absent, VarKw: true, NearMiss: true, Src: "states/mysql_user.py absent",
		Doc:    "Remove a user.",
		Args:   []fun.Arg{nameArg, hostArg},
		Shared: [][]fun.Arg{mysql.ConnArgs},
	},
	{
		Name: "present", State: present, VarKw: true, NearMiss: true, Src: "states/mysql_user.py present",
		Doc: "Create a user, or set how an existing one logs in.\nThe password of a plugin other than mysql_native_password cannot be compared on MySQL 8.",
		Args: []fun.Arg{
			nameArg, hostArg,
			{Name: "password", Type: fun.Str, Doc: "the password", Secret: true},
			{Name: "password_hash", Type: fun.Str, Doc: "the password as the server keeps it, instead of password", Secret: true},
			{Name: "allow_passwordless", Type: fun.Bool, Default: false, Doc: "allow a login without a password"},
			{Name: "unix_socket", Type: fun.Bool, Default: false, Doc: "log in as the operating system user of that name"},
			{Name: "password_column", Type: fun.Str, Doc: "column of mysql.user with the password; default: that of the server"},
			{Name: "auth_plugin", Type: fun.Str, Default: "mysql_native_password", Doc: "authentication plugin of a new user on MySQL 8"},
		},
		Shared: [][]fun.Arg{mysql.ConnArgs},
	},
}
