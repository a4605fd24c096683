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
	MaxRunning        value.Value `arg:"maxrunning,int" doc:"how many runs of the job may overlap"`
	JIDInclude        value.Value `arg:"jid_include,bool" doc:"include the job in the list of running jobs"`
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

// saveArgs say how a change is made.
type saveArgs struct {
	_       fun.Arguments
	Persist fun.Opt[bool] `arg:"persist" doc:"save the change (default); a change that is not saved has no timer"`
	_       bool          `arg:"offline" default:"False" doc:"accepted without effect"`
	Test    bool          `arg:"test" default:"False" doc:"only say what would be done"`
}

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the job"`
}

type functionArg struct {
	_        fun.Arguments
	Function string `arg:"function,required" doc:"function to run"`
}

type currentArg struct {
	_           fun.Arguments
	CurrentTime string `arg:"current_time,required" doc:"a time at which the job is due"`
}

type formatArg struct {
	_       fun.Arguments
	TimeFmt string `arg:"time_fmt" default:"%Y-%m-%dT%H:%M:%S" doc:"format of times"`
}

type sendArgs struct {
	nameArg
	Target string `arg:"target,required" doc:"glob of machine IDs"`
	Test   bool   `arg:"test" default:"False" doc:"only say what would be done"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Add a job to the schedule.", Src: "modules/schedule.py add", Do: add,
	},
	{
		Name: "build_schedule_item", Doc: "Return a job as the schedule would have it.", Src: "modules/schedule.py build_schedule_item", Do: build,
	},
	{
		Name: "copy", Doc: "Add a job of this machine to the schedule of other machines.", Src: "modules/schedule.py copy", Do: copyJob,
	},
	{Name: "delete", Doc: "Remove a job from the schedule.", Src: "modules/schedule.py delete", Do: remove},
	{Name: "disable", Doc: "Disable all jobs of the schedule.", Src: "modules/schedule.py disable", Do: disable},
	{Name: "disable_job", Doc: "Disable a job of the schedule.", Src: "modules/schedule.py disable_job", Do: disableJob},
	{Name: "enable", Doc: "Enable the schedule.", Src: "modules/schedule.py enable", Do: enable},
	{Name: "enable_job", Doc: "Enable a job of the schedule.", Src: "modules/schedule.py enable_job", Do: enableJob},
	{
		Name: "is_enabled", Doc: "Return a job, or whether the schedule is enabled.", Src: "modules/schedule.py is_enabled", Do: isEnabled,
	},
	{
		Name: "job_status", Doc: "Return a job with its last and next run.", Src: "modules/schedule.py job_status", Do: jobStatus,
	},
	{
		Name: "list", Doc: "Return the jobs of the schedule.", Src: "modules/schedule.py list_", Do: list,
	},
	{
		Name: "modify", Doc: "Replace a job of the schedule.", Src: "modules/schedule.py modify", Do: modify,
	},
	{
		Name: "move", Doc: "Add a job of this machine to the schedule of other machines, and remove it here.", Src: "modules/schedule.py move", Do: moveJob,
	},
	{
		Name: "postpone_job", Doc: "Run a job at another time, once.", Src: "modules/schedule.py postpone_job", Do: postponeJob,
	},
	{Name: "purge", Doc: "Remove all jobs from the schedule.", Src: "modules/schedule.py purge", Do: purge},
	{Name: "reload", Doc: "Read the saved schedule again and install it.", Src: "modules/schedule.py reload_", Do: reload},
	{
		Name: "run_job", Doc: "Run a job of the schedule now.", Src: "modules/schedule.py run_job", Do: runJob,
	},
	{
		Name: "save", Doc: "Save the jobs of the configuration.", Src: "modules/schedule.py save", Do: save,
	},
	{Name: "show_next_fire_time", Doc: "Return when a job runs next.", Src: "modules/schedule.py show_next_fire_time", Do: nextFire},
	{
		Name: "skip_job", Doc: "Do not run a job at a time at which it is due.", Src: "modules/schedule.py skip_job", Do: skipJob,
	},
}
