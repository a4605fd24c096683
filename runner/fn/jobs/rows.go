package jobsrun

import (
	"brine/internal/fun"
	"brine/internal/value"
)

// globType is one glob or a list of them.
const globType = fun.Str | fun.Strs

var (
	outArgs = []fun.Arg{
		{Name: "outputter", Type: fun.Str, Doc: "outputter of the report"},
	}
	progressArgs = []fun.Arg{
		{Name: "display_progress", Type: fun.Bool, Default: false, Doc: "report progress on the event bus and in the log"},
	}
	sourceArgs = []fun.Arg{
		{Name: "ext_source", Type: fun.Str, Doc: "returner to read instead of the job cache"},
		{Name: "outputter", Type: fun.Str, Doc: "outputter of the report"},
	}
	searchArgs = []fun.Arg{
		{Name: "search_metadata", Type: fun.Dict, Doc: "only jobs whose metadata has one of these items"},
		{Name: "search_function", Type: globType, Doc: "only jobs whose function matches one of these globs"},
		{Name: "search_target", Type: globType, Doc: "only jobs whose target or one of its IDs matches one of these globs"},
		{Name: "start_time", Type: fun.Str, Doc: "only jobs since this time, UTC, such as '2026, Nov 20 14:00' or 2026-11-20"},
		{Name: "end_time", Type: fun.Str, Doc: "only jobs until this time, UTC"},
	}
	lastArgs = []fun.Arg{
		{Name: "metadata", Doc: "only jobs whose metadata has one of these items"},
		{Name: "function", Type: globType, Doc: "only jobs whose function matches one of these globs"},
		{Name: "target", Type: globType, Doc: "only jobs whose target or one of its IDs matches one of these globs"},
	}
	countArgs = []fun.Arg{
		{Name: "count", Type: fun.Int, Required: true, Doc: "maximum number of jobs"},
		{Name: "filter_find_job", Type: fun.Bool, Default: true, Doc: "leave out saltutil.find_job"},
	}

	lookupArgs = []fun.Arg{
		{Name: "returned", Type: fun.Bool, Default: true, Doc: "show targets that returned"},
		{Name: "missing", Type: fun.Bool, Default: false, Doc: "show targets that did not return"},
	}

	progressGroups = [][]fun.Arg{progressArgs}
	jobGroups      = [][]fun.Arg{fun.ArgsOf((*jidArgs)(nil)), outArgs, progressArgs}
	listGroups     = [][]fun.Arg{sourceArgs, searchArgs, progressArgs}
	filterGroups   = [][]fun.Arg{countArgs, sourceArgs, progressArgs, searchArgs}
	lastGroups     = [][]fun.Arg{sourceArgs, lastArgs, progressArgs}
	lookupGroups   = [][]fun.Arg{fun.ArgsOf((*jidArgs)(nil)), lookupArgs, progressArgs, outArgs}
)

type jidArgs struct {
	_ fun.Arguments
	_ string `arg:"jid,required" doc:"jid of the job"`
	_ string `arg:"ext_source" doc:"returner to read instead of the job cache"`
}

type checkArgs struct {
	_      fun.Arguments
	Repair bool `arg:"repair" default:"True" doc:"repair what is damaged; False: only report it"`
}

type reportArgs struct {
	_         fun.Arguments
	Since     value.Value `arg:"since,str" doc:"only jobs since this time, UTC, such as 2026-11-20"`
	Until     value.Value `arg:"until,str" doc:"only jobs until this time, UTC"`
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
			Name: "active", Lookup: true, Src: "runners/jobs.py active", Shared: progressGroups, Fn: m.active,
			Doc: "Return the jobs that brine processes of this machine are working on.\n" +
				"With a job cache in a database, those of other controllers are among them.",
		},
		{
			Name: "check", Src: "none: brine's own", Do: m.check,
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
			Name: "last_run", Lookup: true, Src: "runners/jobs.py last_run", Shared: lastGroups, Fn: m.lastRun,
			Doc: "Return the newest job that matches, with its returns.",
		},
		{
			Name: "list_job", Lookup: true, Src: "runners/jobs.py list_job", Shared: jobGroups, Fn: m.listJob,
			Doc: "Return a job with its returns.",
		},
		{
			Name: "list_jobs", Lookup: true, Src: "runners/jobs.py list_jobs", Shared: listGroups, Fn: m.listJobs,
			Doc: "Return the jobs in the cache by jid.",
		},
		{
			Name: "list_jobs_filter", Lookup: true, Src: "runners/jobs.py list_jobs_filter", Shared: filterGroups, Fn: m.listFilter,
			Doc: "Return the newest jobs, oldest first.",
		},
		{
			Name: "lookup_jid", Lookup: true, Src: "runners/jobs.py lookup_jid", Shared: lookupGroups, Fn: m.lookupJID,
			Doc: "Return the returns of a job, printed as the job itself was.\nAn interrupted job and targets that did not return are named on stderr.",
		},
		{
			Name: "print_job", Lookup: true, Src: "runners/jobs.py print_job", Do: m.printJob,
			Doc: "Return a job with its returns, by jid.",
		},
		{
			Name: "report", Lookup: true, Src: "none: brine's own", Do: m.jobReport,
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
			Name: "report", Lookup: true, Src: "none: brine's own", Do: m.report,
			Doc: "Return who ran what where, failures first.\nLookups of jobs are left out.",
		},
	}}
}
