package cron

import "brine/internal/core/fun"

type userArg struct {
	_    fun.Arguments
	User string `arg:"user,required" doc:"user whose crontab it is"`
}

type cmdArg struct {
	_   fun.Arguments
	Cmd string `arg:"cmd,required" doc:"the command"`
}

type identifierArg struct {
	_          fun.Arguments
	Identifier fun.Opt[string] `arg:"identifier" doc:"identifier of the job, which stays when its command changes"`
}

type commentedArg struct {
	_         fun.Arguments
	Commented bool `arg:"commented" default:"False" doc:"disable the job: its line starts with #DISABLED#"`
}

type commentArg struct {
	_       fun.Arguments
	Comment fun.Opt[string] `arg:"comment" doc:"comment above the job; default: that of the existing job"`
}

// entryArgs are the arguments that describe a job, beside its times.
type entryArgs struct {
	cmdArg
	commentedArg
	commentArg
	identifierArg
}

type pathArg struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"file on this machine"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "get_entry", Doc: "Return a job of a user, found by identifier or command; False if there is none.", Src: "modules/cron.py get_entry", Do: getEntry,
	},
	{Name: "list_tab", Doc: "Return the parsed crontab of a user.", Src: "modules/cron.py list_tab", Do: listTab},
	{Name: "ls", Doc: "Return the parsed crontab of a user: the same as list_tab.", Src: "modules/cron.py list_tab", Do: listTab},
	{Name: "raw_cron", Doc: "Return the text of a user's crontab.", Src: "modules/cron.py raw_cron", Do: rawCron},
	{
		Name: "rm", Doc: "Remove a timed job: the same as rm_job.", Src: "modules/cron.py rm_job", Do: rmJob,
	},
	{Name: "rm_env", Doc: "Remove an environment variable from a crontab.", Src: "modules/cron.py rm_env", Do: rmEnv},
	{
		Name: "rm_job", Doc: "Remove a timed job. Times that are given have to match.", Src: "modules/cron.py rm_job", Do: rmJob,
	},
	{
		Name: "rm_special", Doc: "Remove a job with a special time such as @daily.", Src: "modules/cron.py rm_special", Do: rmSpecial,
	},
	{
		Name: "set_env", Doc: "Set an environment variable in a crontab; return new, updated or present.", Src: "modules/cron.py set_env", Do: setEnv,
	},
	{
		Name: "set_job", Doc: "Set a timed job; return new, updated or present.\nA time may be random, or low:high for a random number between two.", Src: "modules/cron.py set_job", Do: setJob,
	},
	{
		Name: "set_special", Doc: "Set a job with a special time such as @daily; return new, updated or present.", Src: "modules/cron.py set_special", Do: setSpecial,
	},
	{Name: "write_cron_file", Doc: "Replace the crontab of a user by a file; return whether that worked.", Src: "modules/cron.py write_cron_file", Do: writeCronFile},
	{Name: "write_cron_file_verbose", Doc: "Replace the crontab of a user by a file; return what crontab said.", Src: "modules/cron.py write_cron_file_verbose", Do: writeCronFileVerbose},
}
