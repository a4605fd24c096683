package schedule

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// jobArgs are what a job can have.
type jobArgs struct {
	_                 fun.Arguments
	JobArgs           value.Value `arg:"job_args" doc:"positional arguments of the function, a list"`
	JobKwargs         value.Value `arg:"job_kwargs" doc:"keyword arguments of the function, a mapping"`
	Seconds           value.Value `arg:"seconds,int" doc:"run every so many seconds; added to minutes, hours and days"`
	Minutes           value.Value `arg:"minutes,int" doc:"run every so many minutes"`
	Hours             value.Value `arg:"hours,int" doc:"run every so many hours"`
	Days              value.Value `arg:"days,int" doc:"run every so many days"`
	When              value.Value `arg:"when,str|list" doc:"dates or times to run at, such as 'Monday 5:00pm'"`
	Cron              value.Value `arg:"cron,str" doc:"times to run at, as in a crontab"`
	Once              value.Value `arg:"once,str" doc:"date to run at once"`
	OnceFmt           value.Value `arg:"once_fmt,str" doc:"format of once"`
	RunOnStart        value.Value `arg:"run_on_start,bool" doc:"also run when the machine starts and when the job is installed"`
	Maxrunning        value.Value `arg:"maxrunning,int" doc:"how many runs of the job may overlap"`
	JidInclude        value.Value `arg:"jid_include,bool" doc:"include the job in the list of running jobs"`
	Splay             value.Value `arg:"splay" doc:"longest random delay of a run in seconds, or a mapping of start and end"`
	Range             value.Value `arg:"range,dict" doc:"run only between start and end, or outside of them with invert"`
	SkipDuringRange   value.Value `arg:"skip_during_range" doc:"do not run between start and end"`
	RunAfterSkipRange value.Value `arg:"run_after_skip_range,bool" doc:"refused: no process waits for the end of the range"`
	After             value.Value `arg:"after,str" doc:"do not run before this date"`
	Until             value.Value `arg:"until,str" doc:"do not run from this date on"`
	Enabled           value.Value `arg:"enabled,bool" doc:"whether the job runs"`
	ReturnJob         value.Value `arg:"return_job" doc:"keep the return in the job cache"`
	Metadata          value.Value `arg:"metadata" doc:"data to keep with the job, a mapping"`
	Returner          value.Value `arg:"returner" doc:"returners that get the return"`
	ReturnConfig      value.Value `arg:"return_config,str" doc:"alternative configuration of the returners"`
	ReturnKwargs      value.Value `arg:"return_kwargs,secret,dict" doc:"settings of the returners"`
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
