package schedule

import (
	"brine/internal/fun"
	"brine/internal/value"
)

// jobArgs are what a job can have.
type jobArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"job_args" doc:"positional arguments of the function, a list"`
	_ value.Value `arg:"job_kwargs" doc:"keyword arguments of the function, a mapping"`
	_ int64       `arg:"seconds" doc:"run every so many seconds; added to minutes, hours and days"`
	_ int64       `arg:"minutes" doc:"run every so many minutes"`
	_ int64       `arg:"hours" doc:"run every so many hours"`
	_ int64       `arg:"days" doc:"run every so many days"`
	_ value.Value `arg:"when,str|list" doc:"dates or times to run at, such as 'Monday 5:00pm'"`
	_ string      `arg:"cron" doc:"times to run at, as in a crontab"`
	_ string      `arg:"once" doc:"date to run at once"`
	_ string      `arg:"once_fmt" doc:"format of once"`
	_ bool        `arg:"run_on_start" doc:"also run when the machine starts and when the job is installed"`
	_ int64       `arg:"maxrunning" doc:"how many runs of the job may overlap"`
	_ bool        `arg:"jid_include" doc:"include the job in the list of running jobs"`
	_ value.Value `arg:"splay" doc:"longest random delay of a run in seconds, or a mapping of start and end"`
	_ value.Value `arg:"range,dict" doc:"run only between start and end, or outside of them with invert"`
	_ value.Value `arg:"skip_during_range" doc:"do not run between start and end"`
	_ bool        `arg:"run_after_skip_range" doc:"refused: no process waits for the end of the range"`
	_ string      `arg:"after" doc:"do not run before this date"`
	_ string      `arg:"until" doc:"do not run from this date on"`
	_ bool        `arg:"enabled" doc:"whether the job runs"`
	_ value.Value `arg:"return_job" doc:"keep the return in the job cache"`
	_ value.Value `arg:"metadata" doc:"data to keep with the job, a mapping"`
	_ value.Value `arg:"returner" doc:"returners that get the return"`
	_ string      `arg:"return_config" doc:"alternative configuration of the returners"`
	_ value.Value `arg:"return_kwargs,secret,dict" doc:"settings of the returners"`
}

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the job"`
}

type persistArg struct {
	_       fun.Arguments
	Persist value.Value `arg:"persist,bool" doc:"save the change (default); a change that is not saved has no timer"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "absent", Doc: "Remove a job from the schedule.", Src: "states/schedule.py absent", Do: absent},
	{Name: "disabled", Doc: "Disable a job of the schedule.", Src: "states/schedule.py disabled", Do: disabled},
	{Name: "enabled", Doc: "Enable a job of the schedule.", Src: "states/schedule.py enabled", Do: enabled},
	{
		Name: "present", Doc: "Add a job to the schedule, or change it.", Src: "states/schedule.py present", Do: present,
	},
}
