package ui

import "brine/internal/fleet/kept"

// apiRoutes are the rows of the API, in the order of its document.
func apiRoutes() []route {
	row := func(pattern string, least Role, action string, may map[Role]powers, o *apiOp) route {
		return route{pattern: pattern, least: least, action: action, may: may, do: answerCall, api: o}
	}
	get := func(path string, may map[Role]powers, o *apiOp) route {
		return row("GET "+apiBase+path, Viewer, "", may, o)
	}
	post := func(path, action string, may map[Role]powers, o *apiOp) route {
		return row("POST "+apiBase+path, Operator, action, may, o)
	}
	resumeTemplate := post("/templates/{name}/runs", "run", each(0, readNames|readRecords|readRuns|exactPowers|runDefined, readNames|readRecords|readRuns|fullPowers|runDefined),
		op("startTemplate", "Run a template.", named(kept.Templates), (*Server).apiStartTemplate).starting())
	resumeTemplate.check = mayResumeTemplate
	resumeRun := post("/runs/{id}/resume", "resume", each(0, readRuns|readRecords|readNames|runDefined, readRuns|runDefined),
		op("resumeRun", "Go on with a run that did not succeed, as a further run.", ofWholeRun, (*Server).apiResumeRun).starting())
	resumeRun.check = mayResumeRun
	resumeJob := post("/jobs/{jid}/resume", "resume", each(0, readRecords|readNames|runDefined, readRecords|readNames|runDefined|runAny),
		op("resumeJob", "Go on with an execution that did not succeed, as a run.", ofExecution, (*Server).apiResumeJob).starting())
	resumeJob.check = mayRepeatJob
	retryJob := post("/jobs/{jid}/retry", "retry", each(0, readRecords|readNames|readSteps|runDefined, readRecords|runDefined|runAny),
		op("retryJob", "Run a job again on the hosts that failed in it.", ofHosts, (*Server).apiRetryJob).starting())
	retryJob.check = mayRepeatJob
	function := post("/functions", "function", from(Editor, fullPowers|runAny),
		op("startFunction", "Run an execution function on hosts.", ofFunction(""), (*Server).apiStartFunction).starting())
	function.least = Editor
	put := row("PUT "+apiBase+"/chains/{name}", Editor, "chain.edit", from(Editor, readText|changeChains), op("putChain", "Make a chain, or change it.", named(kept.Chains), (*Server).apiPutChain))
	remove := row("DELETE "+apiBase+"/chains/{name}", Editor, "chain.delete", from(Editor, readText|readNames|changeChains), op("deleteChain", "Delete a chain.", named(kept.Chains), (*Server).apiDeleteChain).silent())
	answer := func(verb, id, summary string, approve bool) route {
		x := post("/approvals/{id}/"+verb, "approval."+verb, from(Operator, readRuns|answerRuns), op(id, summary, ofApproval, apiAnswer(approve)))
		x.check = mayAnswer
		return x
	}
	return []route{
		row("GET "+apiBase+"/openapi.json", Nobody, "", nil, op("getDocument", "This document.", harmless, (*Server).apiDocument).withoutToken()),

		get("/orchestrations", from(Viewer, readNames), op("listOrchestrations", "List the orchestrations.", filtered, (*Server).apiOrchestrations)),
		get("/orchestrations/{name}", from(Viewer, readSteps|runTemplates), op("getOrchestration", "Get an orchestration with its steps.", named(kept.Orchestrations), (*Server).apiOrchestration)),
		row("GET "+apiBase+"/orchestrations/{name}/check", Operator, "", from(Operator, checkPowers), op("checkOrchestration", "Check an orchestration before it runs.", named(kept.Orchestrations), apiCheck(kept.Orchestrations))),
		post("/orchestrations/{name}/runs", "run", from(Operator, readSteps|runTemplates|runDefined),
			op("startOrchestration", "Run an orchestration.", named(kept.Orchestrations), (*Server).apiStartOrchestration).starting()),

		post("/orchestrations/{name}/plans", "plan", from(Operator, readSteps|runTemplates|runDefined),
			op("startPlan", "Make the plan of an orchestration, as a run that changes nothing.", named(kept.Orchestrations), (*Server).apiStartPlan).starting()),
		post("/chains/{name}/plans", "plan", from(Operator, readSteps|runDefined), op("planChain", "Make the plan of a chain, as a run that changes nothing.", named(kept.Chains), (*Server).apiPlanChain).starting()),
		post("/templates/{name}/plans", "plan", each(0, readNames|exactPowers|runDefined, readNames|fullPowers|runDefined),
			op("planTemplate", "Make the plan of a template with answers, as a run that changes nothing.", named(kept.Templates), (*Server).apiPlanTemplate).starting()),
		get("/plans/{id}/text", from(Viewer, readRuns), op("getPlanText", "Get a plan as text, as differences or as Markdown.", ofPlan, (*Server).apiPlanText)),
		get("/plans/{id}", from(Viewer, readRuns), op("getPlan", "Get a plan, if it has been made.", ofPlan, (*Server).apiPlan)),
		post("/plans/{id}/runs", "run", from(Operator, readRuns|runDefined), op("applyPlan", "Run a plan, if nothing has changed since.", ofPlan, (*Server).apiApplyPlan).starting()),

		get("/chains", from(Viewer, readNames), op("listChains", "List the chains.", filtered, (*Server).apiChains)),
		get("/chains/{name}", each(readSteps|runTemplates, readSteps|runTemplates, readText), op("getChain", "Get a chain with its steps.", named(kept.Chains), (*Server).apiChain)),
		row("GET "+apiBase+"/chains/{name}/check", Operator, "", from(Operator, checkPowers), op("checkChain", "Check a chain before it runs.", named(kept.Chains), (*Server).apiCheckChain)),
		put, remove,
		post("/chains/{name}/runs", "run", from(Operator, readSteps|runDefined), op("startChain", "Run a chain.", named(kept.Chains), (*Server).apiStartChain).starting()),
		post("/chains/{name}/schedules", "chain.schedule", from(Operator, readNames|readSteps|planRuns), op("addSchedule", "Run a chain once, later.", named(kept.Chains), (*Server).apiAddSchedule).creating()),
		row("DELETE "+apiBase+"/chains/{name}/schedules/{schedule}", Operator, "chain.unschedule", from(Operator, readNames|planRuns),
			op("cancelSchedule", "Cancel a run of a chain that has not begun.", named(kept.Chains), (*Server).apiCancelSchedule).silent()),
		get("/schedules", from(Viewer, readNames), op("listSchedules", "List the runs of chains that are scheduled.", filtered, (*Server).apiSchedules)),

		get("/recurring", from(Viewer, readNames), op("listRecurring", "List what workers run again and again.", filtered, (*Server).apiRecurring)),
		post("/recurring", "recurring.add", from(Operator, readNames|planRuns), op("addRecurring", "Have workers run something again and again.", newRecurring, (*Server).apiAddRecurring).creating()),
		post("/recurring/{name}/pause", "recurring.pause", from(Operator, readNames|planRuns), op("pauseRecurring", "Keep a recurring schedule from being due.", ofRecurring, apiChangeRecurring(PauseRecurrence))),
		post("/recurring/{name}/resume", "recurring.resume", from(Operator, readNames|planRuns), op("resumeRecurring", "End the pause of a recurring schedule.", ofRecurring, apiChangeRecurring(ResumeRecurrence))),
		row("DELETE "+apiBase+"/recurring/{name}", Operator, "recurring.remove", from(Operator, planRuns), op("removeRecurring", "Remove a recurring schedule.", ofRecurring, (*Server).apiRemoveRecurring).silent()),

		get("/templates", from(Viewer, readNames), op("listTemplates", "List the templates.", filtered, (*Server).apiTemplates)),
		get("/templates/{name}", from(Viewer, readNames), op("getTemplate", "Get a template with what it asks for.", named(kept.Templates), (*Server).apiTemplate)),
		row("GET "+apiBase+"/templates/{name}/check", Operator, "", from(Operator, checkPowers), op("checkTemplate", "Check a template with sample values.", named(kept.Templates), apiCheck(kept.Templates))),
		resumeTemplate,

		function,

		get("/runs", from(Viewer, readRuns), op("listRuns", "List the runs that the pages or the API started.", filtered, (*Server).apiRuns)),
		get("/runs/{id}", from(Viewer, readRuns), op("getRun", "Get a run with its steps and hosts.", ofRun, (*Server).apiRun)),
		get("/runs/{id}/events", from(Viewer, readRuns), op("watchRun", "Watch a run, by server-sent events until it has ended.", ofRun, (*Server).apiRunEvents).streaming()),
		get("/runs/{id}/output", from(Viewer, readRuns), op("getRunOutput", "Get what the programs of a run print, of one host from an offset on.", ofRun, (*Server).apiOutput)),
		post("/runs/{id}/stop", "stop", from(Operator, readRuns|endRuns), op("stopRun", "Stop a run before its next step.", ofWholeRun, (*Server).apiStopRun)),
		post("/runs/{id}/kill", "kill", from(Operator, readRuns|endRuns), op("killRun", "End the running steps of a run.", ofWholeRun, (*Server).apiKillRun)),
		resumeRun,

		get("/approvals", from(Viewer, readRuns), op("listApprovals", "List the runs that wait for a second person.", filtered, (*Server).apiApprovals)),
		answer("approve", "approveRun", "Approve a run that waits.", true),
		answer("refuse", "refuseRun", "Refuse a run that waits, which ends it.", false),

		get("/jobs", from(Viewer, readRecords), op("listJobs", "List the jobs of the job cache.", filtered, (*Server).apiJobs)),
		get("/jobs/{jid}", from(Viewer, readRecords), op("getJob", "Get a job with what its hosts returned.", ofJob, (*Server).apiJob)),
		resumeJob, retryJob,

		get("/history", from(Viewer, readRecords), op("listExecutions", "List the executions of the history.", filtered, (*Server).apiHistory)),
		get("/history/export", from(Viewer, readRecords), op("exportHistory", "Export executions as lines of JSON, for 'brine history import'.", unlimitedOnly, (*Server).apiExport)),
		get("/history/{jid}", from(Viewer, readRecords), op("getExecution", "Get an execution with its steps and hosts.", ofExecution, (*Server).apiExecution)),
		get("/hosts", each(readRecords|knownPowers, readRecords|exactPowers, readRecords|fullPowers), op("listHosts", "List the hosts that match a target expression.", ofHosts, (*Server).apiHosts)),
		get("/hosts/{id}", from(Viewer, readRecords|knownPowers), op("getHost", "Get a host with its newest results.", ofHosts, (*Server).apiHost)),
		get("/audit", from(Viewer, readRecords), op("listAudit", "List what users and tokens did.", filtered, (*Server).apiAudit)),

		post("/events", "event", from(Operator, sendEvents), op("sendEvent", "Send an event, to which reactors may react. The token needs the prefix of its tag.", eventsOnly, (*Server).apiSendEvent)),

		row("POST "+apiBase+"/hooks/{name}", Nobody, "hook", nil,
			op("deliver", "Start what a hook is for. The body is any JSON object, signed with the key of the hook.", harmless, (*Server).apiHook).signing()),

		row("GET /healthz", Viewer, "", nil, op("health", "Whether brine ui answers.", harmless, (*Server).health)),
		row("GET /readyz", Viewer, "", from(Viewer, readRecords), op("ready", "Whether the configuration and the history can be read.", harmless, (*Server).ready)),
		row("GET /metrics", Viewer, "", from(Viewer, readRuns), op("metrics", "Figures for Prometheus.", unlimitedOnly, (*Server).metrics)),
		{pattern: apiRoot, public: (*Server).otherAPI},
	}
}
