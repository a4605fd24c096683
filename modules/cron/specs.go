package cron

import "brine/internal/fun"

// Arguments that several functions have.
var (
	userArg       = fun.Arg{Name: "user", Type: fun.Str, Required: true, Doc: "user whose crontab it is"}
	cmdArg        = fun.Arg{Name: "cmd", Type: fun.Str, Required: true, Doc: "the command"}
	identifierArg = fun.Arg{Name: "identifier", Type: fun.Str, Doc: "identifier of the job, which stays when its command changes"}
	commentedArg  = fun.Arg{Name: "commented", Type: fun.Bool, Default: false, Doc: "disable the job: its line starts with #DISABLED#"}
	commentArg    = fun.Arg{Name: "comment", Type: fun.Str, Doc: "comment above the job; default: that of the existing job"}
	pathArg       = fun.Arg{Name: "path", Type: fun.Path, Required: true, Doc: "file on this machine"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "get_entry", Doc: "Return a job of a user, found by identifier or command; False if there is none.", Src: "modules/cron.py get_entry", Fn: getEntry,
		Args: []fun.Arg{
			userArg,
			{Name: "identifier", Type: fun.Str, Doc: "identifier of the job"},
			{Name: "cmd", Type: fun.Str, Doc: "command of the job, where no identifier is given"},
		},
	},
	{Name: "list_tab", Doc: "Return the parsed crontab of a user.", Src: "modules/cron.py list_tab", Fn: listTab, Args: []fun.Arg{userArg}},
	{Name: "ls", Doc: "Return the parsed crontab of a user: the same as list_tab.", Src: "modules/cron.py list_tab", Fn: listTab, Args: []fun.Arg{userArg}},
	{Name: "raw_cron", Doc: "Return the text of a user's crontab.", Src: "modules/cron.py raw_cron", Fn: rawCron, Args: []fun.Arg{userArg}},
	{
		Name: "rm", Doc: "Remove a timed job: the same as rm_job.", Src: "modules/cron.py rm_job", Fn: rmJob,
		Args: []fun.Arg{userArg, cmdArg}, Shared: [][]fun.Arg{filterArgs, {identifierArg}},
	},
	{Name: "rm_env", Doc: "Remove an environment variable from a crontab.", Src: "modules/cron.py rm_env", Fn: rmEnv, Args: []fun.Arg{userArg, {Name: "name", Type: fun.Str, Required: true, Doc: "name of the variable"}}},
	{
		Name: "rm_job", Doc: "Remove a timed job. Times that are given have to match.", Src: "modules/cron.py rm_job", Fn: rmJob,
		Args: []fun.Arg{userArg, cmdArg}, Shared: [][]fun.Arg{filterArgs, {identifierArg}},
	},
	{
		Name: "rm_special", Doc: "Remove a job with a special time such as @daily.", Src: "modules/cron.py rm_special", Fn: rmSpecial,
		Args: []fun.Arg{userArg, cmdArg, {Name: "special", Type: fun.Str, Doc: "only a job with this time"}, identifierArg},
	},
	{
		Name: "set_env", Doc: "Set an environment variable in a crontab; return new, updated or present.", Src: "modules/cron.py set_env", Fn: setEnv,
		Args: []fun.Arg{
			userArg,
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the variable"},
			{Name: "value", Type: fun.Str, Doc: "its value"},
		},
	},
	{
		Name: "set_job", Doc: "Set a timed job; return new, updated or present.\nA time may be random, or low:high for a random number between two.", Src: "modules/cron.py set_job", Fn: setJob,
		Args: []fun.Arg{
			userArg,
			{Name: "minute", Type: fun.Str, Required: true, Doc: "minute field"},
			{Name: "hour", Type: fun.Str, Required: true, Doc: "hour field"},
			{Name: "daymonth", Type: fun.Str, Required: true, Doc: "day of month field"},
			{Name: "month", Type: fun.Str, Required: true, Doc: "month field"},
			{Name: "dayweek", Type: fun.Str, Required: true, Doc: "day of week field"},
			cmdArg, commentedArg, commentArg, identifierArg,
		},
	},
	{
		Name: "set_special", Doc: "Set a job with a special time such as @daily; return new, updated or present.", Src: "modules/cron.py set_special", Fn: setSpecial,
		Args: []fun.Arg{userArg, {Name: "special", Type: fun.Str, Required: true, Doc: "time, such as @reboot or @daily"}, cmdArg, commentedArg, commentArg, identifierArg},
	},
	{Name: "write_cron_file", Doc: "Replace the crontab of a user by a file; return whether that worked.", Src: "modules/cron.py write_cron_file", Fn: writeCronFile, Args: []fun.Arg{userArg, pathArg}},
	{Name: "write_cron_file_verbose", Doc: "Replace the crontab of a user by a file; return what crontab said.", Src: "modules/cron.py write_cron_file_verbose", Fn: writeCronFileVerbose, Args: []fun.Arg{userArg, pathArg}},
}

var filterArgs = []fun.Arg{
	{Name: "minute", Type: fun.Str, Doc: "only a job with this minute field"},
	{Name: "hour", Type: fun.Str, Doc: "only a job with this hour field"},
	{Name: "daymonth", Type: fun.Str, Doc: "only a job with this day of month field"},
	{Name: "month", Type: fun.Str, Doc: "only a job with this month field"},
	{Name: "dayweek", Type: fun.Str, Doc: "only a job with this day of week field"},
}
