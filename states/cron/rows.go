package cron

import "brine/internal/fun"

// Arguments that several functions have.
var (
	userArg       = fun.Arg{Name: "user", Type: fun.Str, Default: "root", Doc: "user whose crontab it is"}
	identifierArg = fun.Arg{Name: "identifier", Type: fun.Str | fun.Bool, Default: false, Doc: "identifier of the job, which stays when its command changes; default: the command"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", State: absent, VarKw: true, Src: "states/cron.py absent",
		Doc: "Remove a job from a crontab.\nThe job is found by its identifier, whether its time is special or not.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the command"},
			userArg, identifierArg,
			{Name: "special", Type: fun.Str, Doc: "only a job with this time, such as @daily"},
		},
	},
	{
		Name: "env_absent", State: envAbsent, Src: "states/cron.py env_absent",
		Doc:  "Remove an environment variable from a crontab.",
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "name of the variable"}, userArg},
	},
	{
		Name: "env_present", State: envPresent, Src: "states/cron.py env_present",
		Doc: "Set an environment variable in a crontab.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the variable"},
			{Name: "value", Type: fun.Str, Doc: "its value"},
			userArg,
		},
	},
	{
		Name: "file", State: file, VarKw: true, Src: "states/cron.py file",
		Doc: "Make a file the crontab of a user.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str | fun.List, Required: true, Doc: "salt://, http://, https:// or file:// URL or a path; the first of a list that exists"},
			{Name: "source_hash", Type: fun.Str, Default: "", Doc: "digest of a source that is not on the file server, as TYPE=DIGEST, or a file of digests"},
			{Name: "source_hash_name", Type: fun.Str, Doc: "name to look up in a file of digests"},
			userArg,
			{Name: "template", Type: fun.Str, Doc: "template engine that renders the file: jinja or pongo2"},
			{Name: "context", Type: fun.Dict, Doc: "template variables; they override defaults"},
			{Name: "replace", Type: fun.Bool, Default: true, Doc: "replace an existing crontab"},
			{Name: "defaults", Type: fun.Dict, Doc: "default template variables"},
			{Name: "backup", Type: fun.Str, Default: "", Doc: "minion: keep a copy of the replaced crontab"},
		},
	},
	{
		Name: "present", State: present, Src: "states/cron.py present",
		Doc: "Put a job into a crontab.\nThe job is found by its identifier. A time may be random, or low:high for a random number between two, which stays once it is chosen.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the command"},
			userArg,
			{Name: "minute", Type: fun.Str, Default: "*", Doc: "minute field"},
			{Name: "hour", Type: fun.Str, Default: "*", Doc: "hour field"},
			{Name: "daymonth", Type: fun.Str, Default: "*", Doc: "day of month field"},
			{Name: "month", Type: fun.Str, Default: "*", Doc: "month field"},
			{Name: "dayweek", Type: fun.Str, Default: "*", Doc: "day of week field"},
			{Name: "comment", Type: fun.Str, Doc: "comment above the job; default: that of the existing job"},
			{Name: "commented", Type: fun.Bool, Default: false, Doc: "disable the job: its line starts with #DISABLED#"},
			identifierArg,
			{Name: "special", Type: fun.Str, Doc: "time such as @reboot or @daily, instead of the five fields"},
		},
	},
}
