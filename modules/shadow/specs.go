package shadow

import (
	"brine/internal/core/fun"
)

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the user"`
}

type rootArg struct {
	_    fun.Arguments
	Root string `arg:"root,path" doc:"root directory to use instead of /"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "default_hash", Doc: "Return the hash that means no password.", Src: "modules/linux_shadow.py default_hash",
		Do: defaultHash,
	},
	{
		Name: "del_password", Doc: "Remove the password of a user, which allows an empty password.", Src: "modules/linux_shadow.py del_password",
		Do: delPassword,
	},
	{
		Name: "gen_password", Doc: "Return the hash of a password.", Src: "modules/linux_shadow.py gen_password",
		Do: genPassword,
	},
	{
		Name: "info", Doc: "Return the password hash and ageing of a user.", Src: "modules/linux_shadow.py info",
		Do: info,
	},
	{
		Name: "list_users", Doc: "Return the names of all users.", Src: "modules/linux_shadow.py list_users",
		Do: listUsers,
	},
	{
		Name: "lock_password", Doc: "Lock the password of a user.", Src: "modules/linux_shadow.py lock_password",
		Do: lockPassword,
	},
	{
		Name: "set_date", Doc: "Set the date of the last password change; return whether it is set.", Src: "modules/linux_shadow.py set_date",
		Do: setDate,
	},
	{
		Name: "set_expire", Doc: "Set the date on which the account expires; return whether it is set.", Src: "modules/linux_shadow.py set_expire",
		Do: setExpire,
	},
	{
		Name: "set_inactdays", Doc: "Set how long an account stays active after its password expired; return whether it is set.", Src: "modules/linux_shadow.py set_inactdays",
		Do: setInactDays,
	},
	{
		Name: "set_maxdays", Doc: "Set the maximum age of a password; return whether it is set.", Src: "modules/linux_shadow.py set_maxdays",
		Do: setMaxDays,
	},
	{
		Name: "set_mindays", Doc: "Set the minimum time between password changes; return whether it is set.", Src: "modules/linux_shadow.py set_mindays",
		Do: setMinDays,
	},
	{
		Name: "set_password", Doc: "Set the password hash of a user; return whether it is set.", Src: "modules/linux_shadow.py set_password",
		Do: setPassword,
	},
	{
		Name: "set_warndays", Doc: "Set how long before expiry users are warned; return whether it is set.", Src: "modules/linux_shadow.py set_warndays",
		Do: setWarnDays,
	},
	{
		Name: "unlock_password", Doc: "Unlock the password of a user.", Src: "modules/linux_shadow.py unlock_password",
		Do: unlockPassword,
	},
}
