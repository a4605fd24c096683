package schedule

import (
	"brine/internal/fun"
	"brine/internal/schedule"
)

// jobArgs are what a job can have.
var jobArgs = []fun.Arg{
	{Name: "job_args", Type: fun.Any, Doc: "positional arguments of the function, a list"},
	{Name: "job_kwargs", Type: fun.Any, Doc: "keyword arguments of the function, a mapping"},
	{Name: "seconds", Type: fun.Int, Doc: "run every so many seconds; added to minutes, hours and days"},
	{Name: "minutes", Type: fun.Int, Doc: "run every so many minutes"},
	{Name: "hours", Type: fun.Int, Doc: "run every so many hours"},
	{Name: "days", Type: fun.Int, Doc: "run every so many days"},
	{Name: "when", Type: fun.Str | fun.List, Doc: "dates or times to run at, such as 'Monday 5:00pm'"},
	{Name: "cron", Type: fun.Str, Doc: "times to run at, as in a crontab"},
	{Name: "once", Type: fun.Str, Doc: "date to run at once"},
	{Name: "once_fmt", Type: fun.Str, Doc: "format of once"},
	{Name: "run_on_start", Type: fun.Bool, Doc: "also run when the machine starts and when the job is installed"},
	{Name: "maxrunning", Type: fun.Int, Doc: "how many runs of the job may overlap"},
	{Name: "jid_include", Type: fun.Bool, Doc: "include the job in the list of running jobs"},
	{Name: "splay", Type: fun.Any, Doc: "longest random delay of a run in seconds, or a mapping of start and end"},
	{Name: "range", Type: fun.Dict, Doc: "run only between start and end, or outside of them with invert"},
	{Name: "skip_during_range", Type: fun.Any, Doc: "do not run between start and end"},
	{Name: "run_after_skip_range", Type: fun.Bool, Doc: "refused: no process waits for the end of the range"},
	{Name: "after", Type: fun.Str, Doc: "do not run before this date"},
	{Name: "until", Type: fun.Str, Doc: "do not run from this date on"},
	{Name: "enabled", Type: fun.Bool, Doc: "whether the job runs"},
	{Name: "return_job", Type: fun.Any, Doc: "keep the return in the job cache"},
	{Name: "metadata", Type: fun.Any, Doc: "data to keep with the job, a mapping"},
	{Name: "returner", Type: fun.Any, Doc: "returners that get the return"},
	{Name: "return_config", Type: fun.Str, Doc: "alternative configuration of the returners"},
	{Name: "return_kwargs", Type: fun.Dict, Secret: true, Doc: "settings of the returners"},
}

// saveArgs say how a change is made.
var saveArgs = []fun.Arg{
	{Name: "persist", Type: fun.Bool, Doc: "save the change (default); a change that is not saved has no timer"},
	{Name: "offline", Type: fun.Bool, Default: false, Doc: "accepted without effect"},
	{Name: "test", Type: fun.Bool, Default: false, Doc: "only say what would be done"},
}

var nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the job"}

var functionArg = fun.Arg{Name: "function", Type: fun.Str, Required: true, Doc: "function to run"}

var currentArg = fun.Arg{Name: "current_time", Type: fun.Str, Required: true, Doc: "a time at which the job is due"}

var formatArg = fun.Arg{Name: "time_fmt", Type: fun.Str, Default: schedule.TimeFormat, Doc: "format of times"}

var sendArgs = []fun.Arg{
	nameArg,
	{Name: "target", Type: fun.Str, Required: true, Doc: "glob of machine IDs"},
	{Name: "test", Type: fun.Bool, Default: false, Doc: "only say what would be done"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Add a job to the schedule.", Src: "modules/schedule.py add", Fn: add,
		Args: []fun.Arg{nameArg, functionArg}, Shared: [][]fun.Arg{jobArgs, saveArgs},
	},
	{
		Name: "build_schedule_item", Doc: "Return a job as the schedule would have it.", Src: "modules/schedule.py build_schedule_item", Fn: build,
		Args: []fun.Arg{nameArg, functionArg}, Shared: [][]fun.Arg{jobArgs},
	},
	{
		Name: "copy", Doc: "Add a job of this machine to the schedule of other machines.", Src: "modules/schedule.py copy", Fn: copyJob,
		Args: sendArgs,
	},
	{Name: "delete", Doc: "Remove a job from the schedule.", Src: "modules/schedule.py delete", Fn: remove, Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{saveArgs}},
	{Name: "disable", Doc: "Disable all jobs of the schedule.", Src: "modules/schedule.py disable", Fn: disable, Shared: [][]fun.Arg{saveArgs}},
	{Name: "disable_job", Doc: "Disable a job of the schedule.", Src: "modules/schedule.py disable_job", Fn: disableJob, Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{saveArgs}},
	{Name: "enable", Doc: "Enable the schedule.", Src: "modules/schedule.py enable", Fn: enable, Shared: [][]fun.Arg{saveArgs}},
	{Name: "enable_job", Doc: "Enable a job of the schedule.", Src: "modules/schedule.py enable_job", Fn: enableJob, Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{saveArgs}},
	{
		Name: "is_enabled", Doc: "Return a job, or whether the schedule is enabled.", Src: "modules/schedule.py is_enabled", Fn: isEnabled,
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Doc: "name of a job"}},
	},
	{
		Name: "job_status", Doc: "Return a job with its last and next run.", Src: "modules/schedule.py job_status", Fn: jobStatus,
		Args: []fun.Arg{nameArg, {Name: "time_fmt", Type: fun.Str, Default: "%Y-%m-%dT%H:%M:%S", Doc: "format of times"}},
	},
	{
		Name: "list", Doc: "Return the jobs of the schedule.", Src: "modules/schedule.py list_", Fn: list,
		Args: []fun.Arg{
			{Name: "show_all", Type: fun.Bool, Default: false, Doc: "include jobs whose names begin with __"},
			{Name: "show_disabled", Type: fun.Bool, Default: true, Doc: "include disabled jobs"},
			{Name: "where", Type: fun.Str, OneOf: []string{"opts", "pillar"}, Doc: "only the jobs of the configuration, or of the pillar"},
			{Name: "return_yaml", Type: fun.Bool, Default: true, Doc: "return YAML text"},
			{Name: "offline", Type: fun.Bool, Default: false, Doc: "only what schedule.add and the like saved"},
		},
	},
	{
		Name: "modify", Doc: "Replace a job of the schedule.", Src: "modules/schedule.py modify", Fn: modify,
		Args: []fun.Arg{nameArg, {Name: "function", Type: fun.Str, Doc: "function to run (default: that of the job)"}}, Shared: [][]fun.Arg{jobArgs, saveArgs},
	},
	{
		Name: "move", Doc: "Add a job of this machine to the schedule of other machines, and remove it here.", Src: "modules/schedule.py move", Fn: moveJob,
		Args: sendArgs,
	},
	{
		Name: "postpone_job", Doc: "Run a job at another time, once.", Src: "modules/schedule.py postpone_job", Fn: postponeJob,
		Args: []fun.Arg{
			nameArg, currentArg,
			{Name: "new_time", Type: fun.Str, Required: true, Doc: "when it runs instead"},
			formatArg,
		},
	},
	{Name: "purge", Doc: "Remove all jobs from the schedule.", Src: "modules/schedule.py purge", Fn: purge, Shared: [][]fun.Arg{saveArgs}},
	{Name: "reload", Doc: "Read the saved schedule again and install it.", Src: "modules/schedule.py reload_", Fn: reload},
	{
		Name: "run_job", Doc: "Run a job of the schedule now.", Src: "modules/schedule.py run_job", Fn: runJob,
		Args: []fun.Arg{nameArg, {Name: "force", Type: fun.Bool, Default: false, Doc: "run a disabled job, too"}},
	},
	{
		Name: "save", Doc: "Save the jobs of the configuration.", Src: "modules/schedule.py save", Fn: save,
		Args: []fun.Arg{{Name: "test", Type: fun.Bool, Default: false, Doc: "only say what would be done"}},
	},
	{Name: "show_next_fire_time", Doc: "Return when a job runs next.", Src: "modules/schedule.py show_next_fire_time", Fn: nextFire, Args: []fun.Arg{nameArg}},
	{
		Name: "skip_job", Doc: "Do not run a job at a time at which it is due.", Src: "modules/schedule.py skip_job", Fn: skipJob,
		Args: []fun.Arg{nameArg, currentArg, formatArg},
	},
}
