package schedule

import "brine/internal/fun"

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

var nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the job"}

var persistArg = fun.Arg{Name: "persist", Type: fun.Bool, Doc: "save the change (default); a change that is not saved has no timer"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "absent", Doc: "Remove a job from the schedule.", Src: "states/schedule.py absent", State: absent, Args: []fun.Arg{nameArg, persistArg}},
	{Name: "disabled", Doc: "Disable a job of the schedule.", Src: "states/schedule.py disabled", State: disabled, Args: []fun.Arg{nameArg, persistArg}},
	{Name: "enabled", Doc: "Enable a job of the schedule.", Src: "states/schedule.py enabled", State: enabled, Args: []fun.Arg{nameArg, persistArg}},
	{
		Name: "present", Doc: "Add a job to the schedule, or change it.", Src: "states/schedule.py present", State: present,
		Args: []fun.Arg{nameArg, {Name: "function", Type: fun.Str, Doc: "function to run; required for a new job"}, persistArg}, Shared: [][]fun.Arg{jobArgs},
	},
}
