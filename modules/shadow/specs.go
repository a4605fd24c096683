package shadow

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"}
)

var rootArg = fun.Arg{Name: "root", Type: fun.Path, Doc: "root directory to use instead of /"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "default_hash", Doc: "Return the hash that means no password.", Src: "modules/linux_shadow.py default_hash",
		Fn: defaultHash,
	},
	{
		Name: "del_password", Doc: "Remove the password of a user, which allows an empty password.", Src: "modules/linux_shadow.py del_password",
		Fn: delPassword,
		Args: []fun.Arg{
			nameArg, rootArg,
		},
	},
	{
		Name: "gen_password", Doc: "Return the hash of a password.", Src: "modules/linux_shadow.py gen_password",
		Fn: genPassword,
		Args: []fun.Arg{
			{Name: "password", Type: fun.Str, Required: true, Doc: "the password", Secret: true},
			{Name: "crypt_salt", Type: fun.Str, Doc: "at most sixteen characters; default: random"},
			{Name: "algorithm", Type: fun.Str, Default: "sha512", Doc: "sha512, sha256 or md5, which is insecure"},
		},
	},
	{
		Name: "info", Doc: "Return the password hash and ageing of a user.", Src: "modules/linux_shadow.py info",
		Args: []fun.Arg{nameArg, rootArg}, Fn: info,
	},
	{
		Name: "list_users", Doc: "Return the names of all users.", Src: "modules/linux_shadow.py list_users",
		Args: []fun.Arg{rootArg}, Fn: listUsers,
	},
	{
		Name: "lock_password", Doc: "Lock the password of a user.", Src: "modules/linux_shadow.py lock_password",
		Args: []fun.Arg{nameArg, rootArg}, Fn: lockPassword,
	},
	{
		Name: "set_date", Doc: "Set the date of the last password change; return whether it is set.", Src: "modules/linux_shadow.py set_date",
		Fn: setDate,
		Args: []fun.Arg{
			nameArg,
			{Name: "date", Type: fun.Int | fun.Str, Required: true, Unit: "days since 1970-01-01, or a date", Doc: "the date"},
			rootArg,
		},
	},
	{
		Name: "set_expire", Doc: "Set the date on which the account expires; return whether it is set.", Src: "modules/linux_shadow.py set_expire",
		Fn: setExpire,
		Args: []fun.Arg{
			nameArg,
			{Name: "expire", Type: fun.Int | fun.Str, Required: true, Unit: "days since 1970-01-01, or a date", Doc: "the date"},
			rootArg,
		},
	},
	{
		Name: "set_inactdays", Doc: "Set how long an account stays active after its password expired; return whether it is set.", Src: "modules/linux_shadow.py set_inactdays",
		Fn: setInactDays,
		Args: []fun.Arg{
			nameArg,
			{Name: "inactdays", Type: fun.Int, Required: true, Unit: "days", Doc: "how long"},
			rootArg,
		},
	},
	{
		Name: "set_maxdays", Doc: "Set the maximum age of a password; return whether it is set.", Src: "modules/linux_shadow.py set_maxdays",
		Fn: setMaxDays,
		Args: []fun.Arg{
			nameArg,
			{Name: "maxdays", Type: fun.Int, Required: true, Unit: "days", Doc: "the maximum age"},
			rootArg,
		},
	},
	{
		Name: "set_mindays", Doc: "Set the minimum time between password changes; return whether it is set.", Src: "modules/linux_shadow.py set_mindays",
		Fn: setMinDays,
		Args: []fun.Arg{
			nameArg,
			{Name: "mindays", Type: fun.Int, Required: true, Unit: "days", Doc: "the minimum time"},
			rootArg,
		},
	},
	{
		Name: "set_password", Doc: "Set the password hash of a user; return whether it is set.", Src: "modules/linux_shadow.py set_password",
		Fn: setPassword,
		Args: []fun.Arg{
			nameArg,
			{Name: "password", Type: fun.Str, Required: true, Doc: "the hash", Secret: true},
			{Name: "use_usermod", Type: fun.Bool, Default: false, Doc: "accepted; the hash is set by chpasswd, which no list of processes shows"},
			rootArg,
		},
	},
	{
		Name: "set_warndays", Doc: "Set how long before expiry users are warned; return whether it is set.", Src: "modules/linux_shadow.py set_warndays",
		Fn: setWarnDays,
		Args: []fun.Arg{
			nameArg,
			{Name: "warndays", Type: fun.Int, Required: true, Unit: "days", Doc: "how long"},
			rootArg,
		},
	},
	{
		Name: "unlock_password", Doc: "Unlock the password of a user.", Src: "modules/linux_shadow.py unlock_password",
		Args: []fun.Arg{nameArg, rootArg}, Fn: unlockPassword,
	},
}
