package mysqluser

import (
	"brine/internal/core/fun"
)

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the user"`
}

type hostArg struct {
	_    fun.Arguments
	Host string `arg:"host" default:"localhost" doc:"host that the user connects from"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, NearMiss: true, Src: "states/mysql_user.py absent",
		Doc: "Remove a user.",
	},
	{
		Name: "present", Do: present, NearMiss: true, Src: "states/mysql_user.py present",
		Doc: "Create a user, or set how an existing one logs in.\nThe password of a plugin other than mysql_native_password cannot be compared on MySQL 8.",
	},
}
