package jobsrun

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// jidArgs are the arguments of functions that show one job.
type jidArgs struct {
	_         fun.Arguments
	JID       string `arg:"jid,required" doc:"jid of the job"`
	ExtSource string `arg:"ext_source" doc:"returner to read instead of the job cache"`
}

type outArgs struct {
	_         fun.Arguments
	Outputter string `arg:"outputter" doc:"outputter of the report"`
}

type progressArgs struct {
	_               fun.Arguments
	DisplayProgress bool `arg:"display_progress" default:"False" doc:"report progress on the event bus and in the log"`
}

type sourceArgs struct {
	_         fun.Arguments
	ExtSource string `arg:"ext_source" doc:"returner to read instead of the job cache"`
	Outputter string `arg:"outputter" doc:"outputter of the report"`
}

type searchArgs struct {
	_              fun.Arguments
	SearchMetadata *value.Map  `arg:"search_metadata" doc:"only jobs whose metadata has one of these items"`
	SearchFunction value.Value `arg:"search_function,str|list[str]" doc:"only jobs whose function matches one of these globs"`
	SearchTarget   value.Value `arg:"search_target,str|list[str]" doc:"only jobs whose target or one of its IDs matches one of these globs"`
	StartTime      string      `arg:"start_time" doc:"only jobs since this time, UTC, such as '2026, Nov 20 14:00' or 2026-11-20"`
	EndTime        string      `arg:"end_time" doc:"only jobs until this time, UTC"`
}

type checkArgs struct {
	_      fun.Arguments
	Repair bool `arg:"repair" default:"True" doc:"repair what is damaged; False: only report it"`
}

type reportArgs struct {
	_         fun.Arguments
	Since     string      `arg:"since" doc:"only jobs since this time, UTC, such as 2026-11-20"`
	Until     string      `arg:"until" doc:"only jobs until this time, UTC"`
	Function  value.Value `arg:"function,str|list[str]" doc:"only jobs whose function matches one of these globs"`
	Target    value.Value `arg:"target,str|list[str]" doc:"only jobs whose target or one of its IDs matches one of these globs"`
	User      value.Value `arg:"user,str|list[str]" doc:"only jobs whose user matches one of these globs"`
	Failed    bool        `arg:"failed" default:"False" doc:"only failures"`
	ExtSource string      `arg:"ext_source" doc:"returner to read instead of the job cache"`
}

// Runners returns the rows of the runner module "jobs". open opens stores other
// than the cache of this machine.
func Runners(open Opener) fun.Module {
	m := &module{open}
	return fun.Module{Name: "jobs", Kind: fun.Runner, Doc: "Show past and running jobs.", Specs: []fun.Spec{
		{
			Name: "active", Lookup: true, Src: "runners/jobs.py active", Do: m.active,
			Doc: "Return the jobs that brine processes of this machine are working on.\n" +
				"With a job cache in a database, those of other controllers are among them.",
		},
		{
			Name: "check", Do: m.check,
			Doc: "Read all records of this machine, report those that are damaged and repair them.\n" +
				"A repair adds to a record what can be read of the job's arguments and targets; it removes nothing but empty records.",
		},
		{
			Name: "exit_success", Lookup: true, Src: "runners/jobs.py exit_success", Do: m.exitSuccess,
			Doc: "Return for each target whether a job succeeded.\nDifference: Salt treats an empty return as a failure; brine uses the return code.",
		},
		{
			Name: "get_jid", Lookup: true, Src: "returners/local_cache.py get_jid", Do: m.getJID,
			Doc: "Return the returns of a job, with return codes.",
		},
		{
			Name: "last_run", Lookup: true, Src: "runners/jobs.py last_run", Do: m.lastRun,
			Doc: "Return the newest job that matches, with its returns.",
		},
		{
			Name: "list_job", Lookup: true, Src: "runners/jobs.py list_job", Do: m.listJob,
			Doc: "Return a job with its returns.",
		},
		{
			Name: "list_jobs", Lookup: true, Src: "runners/jobs.py list_jobs", Do: m.listJobs,
			Doc: "Return the jobs in the cache by jid.",
		},
		{
			Name: "list_jobs_filter", Lookup: true, Src: "runners/jobs.py list_jobs_filter", Do: m.listFilter,
			Doc: "Return the newest jobs, oldest first.",
		},
		{
			Name: "lookup_jid", Lookup: true, Src: "runners/jobs.py lookup_jid", Do: m.lookupJID,
			Doc: "Return the returns of a job, printed as the job itself was.\nAn interrupted job and targets that did not return are named on stderr.",
		},
		{
			Name: "print_job", Lookup: true, Src: "runners/jobs.py print_job", Do: m.printJob,
			Doc: "Return a job with its returns, by jid.",
		},
		{
			Name: "report", Lookup: true, Do: m.jobReport,
			Doc: "Write a report of a job from its record.\nThe report is Markdown; --out=html, junit, ndjson or prometheus, and --report, give the others. --out=json prints the record itself.",
		},
	}}
}

// Audit returns the rows of the runner module "audit", which Salt does not
// have. open opens stores other than the cache of this machine.
func Audit(open Opener) fun.Module {
	m := &module{open}
	return fun.Module{Name: "audit", Kind: fun.Runner, Doc: "Report who ran what where.", Specs: []fun.Spec{
		{
			Name: "report", Lookup: true, Do: m.report,
			Doc: "Return who ran what where, failures first.\nLookups of jobs are left out.",
		},
	}}
}
