package user

import "brine/internal/fun"

const since1970 = "days since 1970-01-01"

var specs = []fun.Spec{
	{
		Name: "absent", Shared: [][]fun.Arg{fun.SystemPath}, State: absent, Src: "states/user.py absent",
		Doc: "Remove a user.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "purge", Type: fun.Bool, Default: false, Doc: "remove the home directory and mail spool too"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "remove a user who is logged in"},
		},
	},
	{
		Name: "present", State: present, Src: "states/user.py present",
		Doc: "Create or update a user.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"},
			{Name: "uid", Type: fun.Int, Doc: "user ID"},
			{Name: "gid", Type: fun.Str | fun.Int, Doc: "primary group, by name or ID"},
			{Name: "usergroup", Type: fun.Bool, Doc: "whether to create a group with the name of the user; default: that of the system"},
			{Name: "groups", Type: fun.Strs, Doc: "supplementary groups, which must exist; [] is none, None leaves them unchanged"},
			{Name: "optional_groups", Type: fun.Strs, Doc: "supplementary groups that are skipped if they do not exist"},
			{Name: "remove_groups", Type: fun.Bool, Default: true, Doc: "remove the user from all other groups"},
			{Name: "home", Type: fun.Path, Doc: "home directory"},
			{Name: "createhome", Type: fun.Bool, Default: true, Doc: "create the home directory if it is missing"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "hash of the password; with hash_password the password"},
			{Name: "hash_password", Type: fun.Bool, Default: false, Doc: "password is plain text, which is hashed"},
			{Name: "enforce_password", Type: fun.Bool, Default: true, Doc: "replace a different password"},
			{Name: "empty_password", Type: fun.Bool, Default: false, Doc: "allow an empty password"},
			{Name: "shell", Type: fun.Path, Doc: "login shell"},
			{Name: "unique", Type: fun.Bool, Default: true, Doc: "refuse a user ID that is already in use"},
			{Name: "system", Type: fun.Bool, Default: false, Doc: "create a system account"},
			{Name: "fullname", Type: fun.Str, Doc: "full name"},
			{Name: "roomnumber", Type: fun.Str, Doc: "room number"},
			{Name: "workphone", Type: fun.Str, Doc: "work phone number"},
			{Name: "homephone", Type: fun.Str, Doc: "home phone number"},
			{Name: "other", Type: fun.Str, Doc: "other personal data"},
			{Name: "loginclass", Type: fun.Str, Doc: "login class, on OpenBSD only"},
			{Name: "date", Type: fun.Int | fun.Str, Unit: since1970, Doc: "date of the last password change, also as YYYY-MM-DD"},
			{Name: "mindays", Type: fun.Int, Unit: "days", Doc: "minimum age of a password before it may be changed"},
			{Name: "maxdays", Type: fun.Int, Unit: "days", Doc: "maximum age of a password"},
			{Name: "inactdays", Type: fun.Int, Unit: "days", Doc: "time between expiry of the password and locking of the account"},
			{Name: "warndays", Type: fun.Int, Unit: "days", Doc: "time before expiry of the password when the user is warned"},
			{Name: "expire", Type: fun.Int | fun.Str, Unit: since1970, Doc: "expiry date of the account, also as YYYY-MM-DD; -1 removes it"},
			{Name: "win_homedrive", Type: fun.Str, Doc: "Windows only"},
			{Name: "win_profile", Type: fun.Str, Doc: "Windows only"},
			{Name: "win_logonscript", Type: fun.Str, Doc: "Windows only"},
			{Name: "win_description", Type: fun.Str, Doc: "Windows only"},
			{Name: "nologinit", Type: fun.Bool, Default: false, Doc: "do not add the user to lastlog and faillog"},
			{Name: "allow_uid_change", Type: fun.Bool, Default: false, Doc: "allow the user ID of an existing user to change"},
			{Name: "allow_gid_change", Type: fun.Bool, Default: false, Doc: "allow the primary group of an existing user to change"},
			{Name: "password_lock", Type: fun.Bool, Doc: "lock or unlock the password; default: unchanged"},
		},
	},
}
