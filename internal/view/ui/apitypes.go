package ui

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"brine/internal/fleet/facts"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

// The requests and answers of the API. Their fields, with the texts of their tags, make
// the OpenAPI document.

// apiPage is the parameters of a list.
type apiPage struct {
	Limit  int    `json:"-" query:"limit" max:"500" doc:"How many items at most; 50 if it is not given."`
	Cursor string `json:"-" query:"cursor" doc:"The value next of the page before."`
}

// limit is how many items a page has.
func (p apiPage) limit() int {
	if p.Limit == 0 {
		return 50
	}
	return p.Limit
}

// A Definition is something that can be run.
type Definition struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Fault       string `json:"fault,omitempty" doc:"Why it cannot be read."`
}

// A DefinitionList is what can be run, of one kind.
type DefinitionList struct {
	Items []Definition `json:"items"`
}

// An OrchestrationDetail is an orchestration with its steps.
type OrchestrationDetail struct {
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty" doc:"The comment that its file begins with."`
	Steps       []PlannedStep `json:"steps"`
}

// A PlannedStep is a step before it runs.
type PlannedStep struct {
	ID       string   `json:"id"`
	Function string   `json:"function"`
	Targets  string   `json:"targets,omitempty" doc:"The target expression."`
	What     string   `json:"what,omitempty" doc:"What is applied or run, without secrets."`
	Requires []string `json:"requires" doc:"Requisites, such as 'require web'."`
}

// A ChainDetail is a chain with its steps.
type ChainDetail struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Version     string      `json:"version" doc:"Changes with each change of the chain."`
	Fault       string      `json:"fault,omitempty" doc:"Why the chain cannot be read."`
	Text        string      `json:"text,omitempty" doc:"The file of the chain; for the role editor."`
	Steps       []ChainStep `json:"steps"`
}

// A ChainStep is a step of a chain.
type ChainStep struct {
	Number  int    `json:"number"`
	Summary string `json:"summary" doc:"What the step does; without secrets, unless the role is editor."`
	Targets string `json:"targets,omitempty"`
}

// A ChainCheck is what is known of a chain before it runs.
type ChainCheck struct {
	Steps     int      `json:"steps"`
	Faults    []string `json:"faults" doc:"What cannot work. A run is refused while there are any."`
	NotJudged []string `json:"not_judged" doc:"What only the run shows."`
}

// A Check is what is known of an orchestration or a template before it runs.
type Check struct {
	Faults    []string `json:"faults" doc:"What cannot work."`
	NotJudged []string `json:"not_judged" doc:"What only the run shows."`
}

// A TemplateDetail is a template with what it asks for.
type TemplateDetail struct {
	Name        string           `json:"name"`
	Description string           `json:"description,omitempty"`
	Targets     []TemplateTarget `json:"targets"`
	Fields      []TemplateField  `json:"fields"`
}

// A TemplateTarget is a name for which a template asks for targets.
type TemplateTarget struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required"`
	Multiple    bool     `json:"multiple" doc:"Whether it takes more than one host."`
	Types       []string `json:"types" doc:"The types of expressions that are allowed; empty: all."`
	Default     string   `json:"default,omitempty"`
}

// A TemplateField is a field of the form of a template.
type TemplateField struct {
	Name     string          `json:"name" doc:"The key of the value."`
	Label    string          `json:"label,omitempty"`
	Help     string          `json:"help,omitempty"`
	Type     string          `json:"type" enum:"text,password,number,url,email,date,time,datetime,boolean,color,select,group,edit-group,namespace"`
	Secret   bool            `json:"secret" doc:"Whether the value is a secret: its default is not shown."`
	ReadOnly bool            `json:"read_only"`
	Optional bool            `json:"optional" doc:"Whether an empty value is left out."`
	Default  json.RawMessage `json:"default,omitempty" doc:"Any JSON value."`
	Values   []string        `json:"values,omitempty" doc:"The choices of a select field."`
	Fields   []TemplateField `json:"fields,omitempty" doc:"Of a group."`
	Item     *TemplateField  `json:"item,omitempty" doc:"An item of an edit-group."`
	Keyed    bool            `json:"keyed,omitempty" doc:"Whether the items of an edit-group are an object, by name."`
}

// startRun asks for a run.
type startRun struct {
	Test bool `json:"test,omitempty" doc:"Run in test mode: nothing is changed, and the results say what would change."`
}

func (x startRun) form() url.Values {
	f := url.Values{}
	if x.Test {
		f.Set("test", "yes")
	}
	return f
}

// startChain asks for a run of a chain.
type startChain struct {
	startRun
	Version string `json:"version,omitempty" doc:"Run the chain only if it still has this version."`
}

// putChain is the text that the file of a chain is to have.
type putChain struct {
	Text    string `json:"text" doc:"The file of the chain, as YAML."`
	Version string `json:"version,omitempty" doc:"The version that is replaced; without one there must be no chain of the name."`
}

func (x putChain) form() url.Values { return url.Values{"text": {x.Text}} }

// deleteChain asks for the end of a chain.
type deleteChain struct {
	Version string `query:"version" doc:"Delete the chain only if it still has this version."`
}

// sendEvent is an event that a token sends.
type sendEvent struct {
	Tag  string          `json:"tag" doc:"Its tag, such as 'deploy/done'."`
	Data json.RawMessage `json:"data,omitempty" object:"yes" doc:"Its data."`
}

// A SentEvent is an event that was sent.
type SentEvent struct {
	Tag     string `json:"tag"`
	ID      string `json:"id" doc:"The name of the token, which the event has as id."`
	TakenBy string `json:"taken_by" doc:"What took it, in words."`
}

// startTemplate asks for a run of a template.
type startTemplate struct {
	startRun
	Targets map[string]string `json:"targets,omitempty" doc:"Target expressions, by the names of the targets."`
	Values  json.RawMessage   `json:"values,omitempty" object:"yes" doc:"Values, by the names of the fields."`
	Resume  string            `json:"resume,omitempty" doc:"The jid of an execution of this template that is to go on."`
	Plan    string            `json:"plan,omitempty" doc:"The id of the run that made a plan with these answers, which is to run if nothing has changed since."`
}

type planChain struct {
	Version string `json:"version,omitempty" doc:"The version of the chain that was read: if it is another one now, no plan is made."`
}

type planTemplate struct {
	Targets map[string]string `json:"targets,omitempty" doc:"Target expressions, by the names of the targets."`
	Values  json.RawMessage   `json:"values,omitempty" object:"yes" doc:"Values, by the names of the fields."`
}

func (x planTemplate) form() url.Values { return startTemplate{Targets: x.Targets}.form() }

type planText struct {
	Format string `query:"format" enum:"text,diff,markdown" doc:"text if it is not given."`
}

func (x startTemplate) form() url.Values {
	f := x.startRun.form()
	for name, expr := range x.Targets {
		f.Set("t:"+name, expr)
	}
	if x.Resume != "" {
		f.Set("resume", x.Resume)
	}
	if x.Plan != "" {
		f.Set("plan", x.Plan)
	}
	return f
}

// A Run is a run that was started on the pages or by the API.
type Run struct {
	ID          string     `json:"id"`
	Kind        string     `json:"kind" enum:"orchestration,chain,template,retry,ping,function,plan,chain-plan,template-plan"`
	Name        string     `json:"name" doc:"What is run; of a retry, the jid of the job."`
	JID         string     `json:"jid,omitempty" doc:"The id of its job, as soon as there is one."`
	State       string     `json:"state" enum:"running,waiting,stopping,succeeded,failed,stopped,refused,interrupted,lost"`
	Test        bool       `json:"test"`
	User        string     `json:"user" doc:"Who started it; 'token:NAME' for a token."`
	Resumes     string     `json:"resumes,omitempty" doc:"The jid of the execution that it continues."`
	Started     time.Time  `json:"started"`
	Ended       *time.Time `json:"ended,omitempty"`
	ExitStatus  *int       `json:"exit_status,omitempty" doc:"Of brine, once the run has ended."`
	Error       string     `json:"error,omitempty" doc:"Why the run could not be executed."`
	StepsTotal  int        `json:"steps_total"`
	StepsDone   int        `json:"steps_done"`
	StepsFailed int        `json:"steps_failed"`
}

// A RunDetail is a run with its steps.
type RunDetail struct {
	Run
	Steps    []RunStep `json:"steps"`
	Messages []string  `json:"messages" doc:"The last lines that the run wrote, at most 200."`
}

// A RunStep is a step of a run.
type RunStep struct {
	Number      int       `json:"number"`
	ID          string    `json:"id"`
	Function    string    `json:"function,omitempty"`
	State       string    `json:"state" doc:"waiting, running, ok, changed, would_change, not_run or failed."`
	Comment     string    `json:"comment,omitempty"`
	Seconds     float64   `json:"seconds"`
	JID         string    `json:"jid,omitempty" doc:"Of its job on hosts."`
	HostsTotal  int       `json:"hosts_total"`
	HostsDone   int       `json:"hosts_done"`
	HostsFailed int       `json:"hosts_failed"`
	Hosts       []RunHost `json:"hosts" doc:"At most 50: those that failed, then those that are being worked on."`
	HostsMore   int       `json:"hosts_more" doc:"How many hosts are left out; the job of the step has all."`
	HostsHidden int       `json:"hosts_hidden,omitempty" doc:"How many hosts are not shown to you, because of your limits."`
}

// A RunHost is a host in a step.
type RunHost struct {
	ID      string `json:"id"`
	State   string `json:"state" doc:"A phase such as connect or run, then ok, changed, would_change, not_run or failed."`
	Comment string `json:"comment,omitempty"`
}

// A RunOutput is what the programs of a run print.
type RunOutput struct {
	Hosts   []OutputHost `json:"hosts" doc:"The hosts of which there is output, those that failed first."`
	Parts   []OutputPart `json:"parts" doc:"What the host that was asked for printed, about 64 KiB at a time."`
	Next    int64        `json:"next" doc:"The offset to go on with."`
	Over    bool         `json:"over" doc:"The run has ended: where there are no parts either, that was all."`
	Removed bool         `json:"removed" doc:"The output was removed: that of the newest 20 runs is kept."`
	Note    string       `json:"note,omitempty" doc:"Of which hosts nothing is shown to you."`
}

// An OutputHost is a host of which there is output.
type OutputHost struct {
	ID    string `json:"id"`
	State string `json:"state,omitempty" doc:"failed if it failed in any step, else as in its last step."`
	Bytes int64  `json:"bytes" doc:"Size of the output: the offset of its end."`
}

// An OutputPart is some lines that a program printed, or how it ended.
type OutputPart struct {
	Time       time.Time `json:"time"`
	JID        string    `json:"jid" doc:"Of the job on hosts."`
	State      string    `json:"state" doc:"What ran the program: a state as ID (module.function), else a function."`
	Program    int64     `json:"program" doc:"Which program of the job on this host, from 1."`
	Stderr     bool      `json:"stderr" doc:"The text was printed to stderr."`
	Text       string    `json:"text"`
	Dropped    int64     `json:"dropped" doc:"How many bytes before the text are left out."`
	ExitStatus *int64    `json:"exit_status,omitempty" doc:"Of a program that has ended; negative: the signal that ended it."`
}

// A RunList is a page of runs.
type RunList struct {
	Items []Run  `json:"items" doc:"The newest first."`
	Next  string `json:"next,omitempty" doc:"The cursor of the next page."`
}

// A JobList is a page of jobs.
type JobList struct {
	Items []Job  `json:"items" doc:"The newest first."`
	Next  string `json:"next,omitempty" doc:"The cursor of the next page."`
}

// A Job is a record of the job cache.
type Job struct {
	JID      string     `json:"jid"`
	Started  *time.Time `json:"started,omitempty"`
	Function string     `json:"function"`
	Target   string     `json:"target,omitempty" doc:"The target expression; of a runner function, what it ran."`
	User     string     `json:"user,omitempty"`
	Status   string     `json:"status"`
	Hosts    int        `json:"hosts" doc:"How many hosts it was for."`
	Failed   bool       `json:"failed" doc:"Whether it failed on some host."`
}

// A JobDetail is a job with what it returned, without secrets.
type JobDetail struct {
	Job
	Ended       string    `json:"ended,omitempty" doc:"When it ended, as the job cache has it, in the time zone of the controller."`
	Arguments   string    `json:"arguments,omitempty"`
	Parent      string    `json:"parent,omitempty" doc:"The jid of the orchestration that it is a step of."`
	Damage      string    `json:"damage,omitempty" doc:"What is wrong with the record, or of which hosts nothing is shown to you."`
	Resumable   bool      `json:"resumable"`
	Retryable   int       `json:"retryable" doc:"On how many hosts it can run again."`
	Steps       []JobStep `json:"steps" doc:"Of an orchestration."`
	HostResults []JobHost `json:"host_results" doc:"At most 200: those that failed first."`
	HostsMore   int       `json:"hosts_more" doc:"How many hosts are left out."`
}

// A JobStep is a step of an orchestration that ended.
type JobStep struct {
	JobState
	JID         string    `json:"jid,omitempty" doc:"Of its job on hosts."`
	HostsFailed int       `json:"hosts_failed"`
	HostResults []JobHost `json:"host_results"`
	HostsMore   int       `json:"hosts_more"`
}

// A JobHost is what a host returned.
type JobHost struct {
	ID         string     `json:"id"`
	Failed     bool       `json:"failed"`
	States     []JobState `json:"states"`
	StatesMore int        `json:"states_more" doc:"How many states are left out; the parameter host shows all of one host."`
	Output     string     `json:"output,omitempty" doc:"Of what is not states: text, or JSON."`
}

// A JobState is a state that ran.
type JobState struct {
	ID       string  `json:"id"`
	Function string  `json:"function"`
	Name     string  `json:"name,omitempty"`
	Result   string  `json:"result" enum:"ok,changed,would_change,not_run,failed"`
	Comment  string  `json:"comment,omitempty"`
	Diff     string  `json:"diff,omitempty"`
	Changes  string  `json:"changes,omitempty" doc:"All other changes, as JSON."`
	Seconds  float64 `json:"seconds"`
}

// A HostList is a page of hosts.
type HostList struct {
	Items []HostSummary `json:"items" doc:"By ID."`
	Total int           `json:"total" doc:"How many hosts match."`
	Note  string        `json:"note,omitempty" doc:"Which hosts may match, too, and which are not shown to you."`
	Next  string        `json:"next,omitempty" doc:"The cursor of the next page."`
}

// A HostSummary is a host of the roster.
type HostSummary struct {
	ID   string      `json:"id"`
	Last *HostResult `json:"last,omitempty" doc:"Its newest result."`
	// What is kept of it.
	Facts *HostFacts `json:"facts,omitempty" doc:"What it said of itself when it was last asked for its facts."`
	Drift string     `json:"drift,omitempty" doc:"Whether it agrees with its states; of several plans, the worst."`
}

// HostFacts are what a host said of itself.
type HostFacts struct {
	At     time.Time `json:"at" doc:"When it said so."`
	JID    string    `json:"jid,omitempty" doc:"The job that asked."`
	OS     string    `json:"os,omitempty"`
	Kernel string    `json:"kernel,omitempty"`
	Arch   string    `json:"arch,omitempty"`
	CPUs   int64     `json:"cpus,omitempty"`
	Memory int64     `json:"memory,omitempty" doc:"MiB."`
}

// factsOf are the facts of a host; nil: none are kept.
func factsOf(f *facts.Facts) *HostFacts {
	if f == nil {
		return nil
	}
	return &HostFacts{At: f.At, JID: f.JID, OS: f.OS, Kernel: f.Kernel, Arch: f.Arch, CPUs: f.CPUs, Memory: f.Memory}
}

// A HostResult is how a host did in a job.
type HostResult struct {
	JID      string     `json:"jid"`
	Started  *time.Time `json:"started,omitempty"`
	Function string     `json:"function,omitempty"`
	Result   string     `json:"result"`
	Why      string     `json:"why,omitempty"`
}

// A HostDetail is a host with its newest results.
type HostDetail struct {
	ID         string          `json:"id"`
	InRoster   bool            `json:"in_roster"`
	Problem    string          `json:"problem,omitempty" doc:"Why the roster could not be read."`
	Jobs       []HostResult    `json:"jobs"`
	Executions []HostExecution `json:"executions" doc:"Its steps in the newest executions."`
	Facts      *HostFacts      `json:"facts,omitempty" doc:"What it said of itself when it was last asked for its facts."`
	Grains     json.RawMessage `json:"grains,omitempty" object:"yes" doc:"All that it said then."`
	Drift      string          `json:"drift,omitempty" doc:"Whether it agrees with its states; of several plans, the worst."`
}

// A HostExecution is what a host made of a step of an execution.
type HostExecution struct {
	JID    string `json:"jid"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Step   string `json:"step"`
	Result string `json:"result"`
	Why    string `json:"why,omitempty"`
}

// An ExecutionList is a page of the history.
type ExecutionList struct {
	Items []Execution `json:"items" doc:"The newest first."`
	Next  string      `json:"next,omitempty" doc:"The cursor of the next page."`
}

// An Execution is an entry of the history.
type Execution struct {
	JID         string     `json:"jid"`
	Kind        string     `json:"kind" enum:"orchestration,chain,template"`
	Name        string     `json:"name"`
	Status      string     `json:"status" enum:"running,waiting,succeeded,failed,refused,interrupted,killed,unfinished"`
	User        string     `json:"user,omitempty"`
	Controller  string     `json:"controller,omitempty"`
	Started     time.Time  `json:"started"`
	Ended       *time.Time `json:"ended,omitempty"`
	Test        bool       `json:"test"`
	Limit       string     `json:"limit,omitempty" doc:"The part of its targets that it was for."`
	Resumes     string     `json:"resumes,omitempty"`
	Parent      string     `json:"parent,omitempty" doc:"The jid of the orchestration that it is a step of."`
	Revision    string     `json:"revision,omitempty" doc:"The commit of the tree."`
	Definition  string     `json:"definition" doc:"A hash of what was executed."`
	StepsTotal  int        `json:"steps_total"`
	StepsDone   int        `json:"steps_done"`
	StepsFailed int        `json:"steps_failed"`
	Hosts       int        `json:"hosts"`
}

// An ExecutionDetail is an execution with its steps.
type ExecutionDetail struct {
	Execution
	Steps []ExecutionStepInfo `json:"steps"`
}

// An ExecutionStepInfo is a step of an execution.
type ExecutionStepInfo struct {
	ID       string          `json:"id"`
	Label    string          `json:"label,omitempty"`
	Function string          `json:"function"`
	JID      string          `json:"jid,omitempty" doc:"Of its job on hosts."`
	Targets  string          `json:"targets,omitempty"`
	Result   string          `json:"result"`
	Comment  string          `json:"comment,omitempty"`
	Started  *time.Time      `json:"started,omitempty"`
	Seconds  float64         `json:"seconds"`
	Hosts    []ExecutionHost `json:"hosts" doc:"At most 200: those that failed first."`
	More     int             `json:"hosts_more"`
}

// An ExecutionHost is a host in a step of an execution.
type ExecutionHost struct {
	ID      string  `json:"id"`
	Result  string  `json:"result"`
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// An AuditList is a page of the audit record.
type AuditList struct {
	Items []AuditEntry `json:"items" doc:"The newest first."`
	Next  string       `json:"next,omitempty" doc:"The cursor of the next page."`
}

// An AuditEntry is something that a user or a token did, or tried to do.
type AuditEntry struct {
	JID     string     `json:"jid"`
	Time    *time.Time `json:"time,omitempty"`
	User    string     `json:"user,omitempty" doc:"'token:NAME' for a token."`
	Action  string     `json:"action"`
	On      string     `json:"on" doc:"The path of the request, or the address of a log-in."`
	Details string     `json:"details,omitempty"`
	Allowed bool       `json:"allowed"`
}

// A ScheduleList is the runs of chains that are scheduled.
type ScheduleList struct {
	Items []Schedule `json:"items" doc:"The next one first."`
}

// A Schedule is a run of a chain later.
type Schedule struct {
	ID    string    `json:"id"`
	Chain string    `json:"chain"`
	At    time.Time `json:"at"`
	User  string    `json:"user,omitempty" doc:"Who asked for it."`
}

// addSchedule asks for a run of a chain later.
type addSchedule struct {
	At      time.Time `json:"at" doc:"When it is to run."`
	Version string    `json:"version,omitempty" doc:"Schedule the chain only if it still has this version."`
}

func (x addSchedule) form() url.Values { return url.Values{"at": {x.At.Format(time.RFC3339)}} }

// jidTime is the time of a job id; nil for what is none.
func jidTime(jid string) *time.Time {
	if t, ok := jobs.Time(jid); ok {
		return &t
	}
	return nil
}

// timeOf is a time that may be missing.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// list is a list that is never null in JSON.
func list[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
}

// texts is a list of texts that is never null in JSON.
func texts(in []string) []string { return append([]string{}, in...) }

func definitionOf(e Entry) Definition {
	return Definition{Name: e.Name, Description: strings.TrimSpace(e.Description), Fault: e.Fault}
}

// runKinds are the kinds of runs in the API.
var runKinds = map[string]string{kept.Orchestrations: "orchestration", kept.Chains: "chain", kept.Templates: "template", kept.Jobs: "retry", kept.Hosts: "ping", kept.Functions: "function", kept.Plans: "plan", kept.ChainPlans: "chain-plan", kept.TemplatePlans: "template-plan"}

func runOf(v runView) Run {
	x := Run{
		ID: v.ID, Kind: runKinds[v.Spec.Kind], Name: v.Spec.Name, JID: v.JID, State: v.state(), Test: v.Spec.Test, User: v.User, Resumes: v.Spec.Resume,
		Started: v.Started, Ended: timeOf(v.Ended), Error: v.Err, StepsTotal: max(v.Total, v.Done), StepsDone: v.Done, StepsFailed: v.Failed,
	}
	if v.over() {
		x.ExitStatus = &v.Status
	}
	return x
}

func runDetailOf(v runView) *RunDetail {
	return &RunDetail{Run: runOf(v), Steps: list(v.Steps, runStepOf), Messages: texts(v.Messages)}
}

func runStepOf(s stepView) RunStep {
	return RunStep{
		Number: s.Number, ID: s.ID, Function: s.Fun, State: s.State, Comment: s.Comment, Seconds: s.Seconds, JID: s.JID,
		HostsTotal: s.Hosts, HostsDone: s.HostsDone, HostsFailed: s.HostsBad, HostsMore: s.More, HostsHidden: s.Hidden,
		Hosts: list(s.Shown, func(h runHost) RunHost { return RunHost{h.ID, h.State, h.Comment} }),
	}
}

func jobOf(x jobRow) Job {
	return Job{JID: x.JID, Started: jidTime(x.JID), Function: x.Fun, Target: x.Target, User: x.User, Status: x.Status, Hosts: x.Targets, Failed: x.Failed}
}

func auditOf(x jobRow) AuditEntry {
	return AuditEntry{JID: x.JID, Time: jidTime(x.JID), User: x.User, Action: strings.TrimPrefix(x.Fun, uiAction), On: x.Target, Details: x.Details, Allowed: !x.Failed}
}

func jobDetailOf(j *jobs.Job, only string) *JobDetail {
	v := viewJob(j, only)
	return &JobDetail{
		Job: jobOf(rowOf(j.Brief())), Ended: v.End, Arguments: v.Args, Parent: v.Parent, Damage: v.Damage, Resumable: v.Resumable, Retryable: v.Retryable,
		Steps: list(v.Steps, func(s stepResult) JobStep {
			return JobStep{JobState: jobStateOf(s.stateResult), JID: s.JID, HostsFailed: s.Bad, HostResults: list(s.Hosts, jobHostOf), HostsMore: s.More}
		}),
		HostResults: list(v.Hosts, jobHostOf), HostsMore: v.More,
	}
}

func jobHostOf(h hostResult) JobHost {
	return JobHost{ID: h.ID, Failed: h.Failed, States: list(h.States, jobStateOf), StatesMore: h.Left, Output: h.Text}
}

func jobStateOf(s stateResult) JobState {
	return JobState{ID: s.ID, Function: s.Fun, Name: s.Name, Result: s.Result, Comment: s.Comment, Diff: s.Diff, Changes: s.Changes, Seconds: s.Seconds}
}

func hostResultOf(x lastResult) HostResult {
	return HostResult{JID: x.JID, Started: jidTime(x.JID), Function: x.Fun, Result: x.Result, Why: x.Why}
}

func hostExecutionOf(s history.HostStep) HostExecution {
	return HostExecution{JID: s.JID, Kind: s.Kind, Name: s.Name, Step: s.Step, Result: resultOf(s.Result, s.Changed), Why: whyOf(s.Detail)}
}

func executionInfoOf(e history.Execution) Execution {
	return Execution{
		JID: e.JID, Kind: e.Kind, Name: e.Name, Status: e.Status, User: e.User, Controller: e.Controller, Started: e.Started, Ended: timeOf(e.Ended), Test: e.Test,
		Limit: e.Limit, Resumes: e.Resumes, Parent: e.Parent, Revision: e.Revision, Definition: e.Definition, StepsTotal: e.Steps, StepsDone: e.Done, StepsFailed: e.FailedSteps, Hosts: e.Hosts,
	}
}

func executionStepOf(s timelineStep) ExecutionStepInfo {
	return ExecutionStepInfo{
		ID: s.ID, Label: s.Label, Function: s.Fun, JID: s.StepJID, Targets: s.Target, Result: s.State, Comment: s.Comment, Started: timeOf(s.Started), Seconds: s.Duration.Seconds(), More: s.More,
		Hosts: list(s.Shown, func(h timelineHost) ExecutionHost {
			return ExecutionHost{ID: h.ID, Result: h.Result, Why: h.Why, Seconds: h.Took.Seconds()}
		}),
	}
}

func scheduleOf(p Planned) Schedule { return Schedule(p) }

func plannedStepOf(s plannedStep) PlannedStep {
	return PlannedStep{ID: s.ID, Function: s.Fun, Targets: s.Expr, What: s.What, Requires: texts(s.Requires)}
}

func chainDetailOf(c chainView) *ChainDetail {
	x := &ChainDetail{Name: c.Name, Description: c.Description, Version: c.Version, Fault: c.Fault, Text: c.Text, Steps: []ChainStep{}}
	for i, s := range c.Steps {
		x.Steps = append(x.Steps, ChainStep{Number: i + 1, Summary: s.Summary, Targets: s.On})
	}
	return x
}

func templateDetailOf(t *orchestration.Template) *TemplateDetail {
	return &TemplateDetail{
		Name: t.Name, Description: t.Description, Fields: list(t.Form.Fields, templateFieldOf),
		Targets: list(t.Targets, func(x orchestration.Target) TemplateTarget {
			return TemplateTarget{Name: x.Name, Description: x.Description, Required: x.Required, Multiple: x.Multiple, Types: texts(x.Types), Default: x.Default}
		}),
	}
}

func templateFieldOf(f *form.Field) TemplateField {
	x := TemplateField{
		Name: f.Name, Label: f.Label, Help: f.Help, Type: string(f.Type), Secret: isSecret(f), ReadOnly: f.ReadOnly, Optional: f.Optional,
		Values: list(f.Values, func(v value.Value) string { return value.Str(v) }), Fields: list(f.Fields, templateFieldOf), Keyed: f.Key != nil,
	}
	if f.HasDefault && !x.Secret && !f.Holds() {
		x.Default = value.StrictJSON(f.Default)
	}
	if f.Item != nil {
		item := templateFieldOf(f.Item)
		x.Item = &item
	}
	return x
}
