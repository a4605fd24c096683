package ui

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/view/orchestration"
)

// scope is what the token of the call is limited to.
func (c *apiCall) scope() *Scope { return c.v.limits() }

// definitions are the entries of a kind that the token may see.
func (c *apiCall) definitions(kind string, all []Entry) *DefinitionList {
	all = slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return !c.scope().allows(kind, e.Name) })
	return &DefinitionList{Items: list(all, definitionOf)}
}

func (s *Server) apiOrchestrations(c *apiCall, _ *nothing) (*DefinitionList, error) {
	all, err := s.back(c.r.Context()).catalogue(c.r.Context())
	if err != nil {
		return nil, err
	}
	return c.definitions(kept.Orchestrations, list(all.Orchestrations, func(name string) Entry { return Entry{Name: name} })), nil
}

func (s *Server) apiChains(c *apiCall, _ *nothing) (*DefinitionList, error) {
	all, err := s.back(c.r.Context()).catalogue(c.r.Context())
	if err != nil {
		return nil, err
	}
	return c.definitions(kept.Chains, all.Chains), nil
}

func (s *Server) apiTemplates(c *apiCall, _ *nothing) (*DefinitionList, error) {
	all, err := s.back(c.r.Context()).catalogue(c.r.Context())
	if err != nil {
		return nil, err
	}
	return c.definitions(kept.Templates, all.Templates), nil
}

func (s *Server) apiOrchestration(c *apiCall, _ *nothing) (*OrchestrationDetail, error) {
	name := c.r.PathValue("name")
	low, text, err := s.back(c.r.Context()).steps(c.r.Context(), name)
	if err != nil {
		return nil, err
	}
	return &OrchestrationDetail{Name: name, Description: describes(text), Steps: list(plannedSteps(low), plannedStepOf)}, nil
}

func (s *Server) apiChain(c *apiCall, _ *nothing) (*ChainDetail, error) {
	_, _, view, err := s.readChain(c.r)
	if err == nil {
		err = s.redactChain(c.r, &view)
	}
	if err != nil {
		return nil, err
	}
	return chainDetailOf(view), nil
}

func (s *Server) apiCheckChain(c *apiCall, _ *nothing) (*ChainCheck, error) {
	x, err := s.checked(c.r)
	if err != nil {
		return nil, err
	}
	return &ChainCheck{Steps: len(x.Chain.Steps), Faults: texts(x.Faults), NotJudged: texts(x.Unsure)}, nil
}

func (s *Server) apiTemplate(c *apiCall, _ *nothing) (*TemplateDetail, error) {
	t, _, err := s.back(c.r.Context()).template(c.r.Context(), c.r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	return templateDetailOf(t), nil
}

// listRuns asks for runs.
type listRuns struct {
	apiPage
	State string `json:"-" query:"state" enum:"running,waiting,stopping,succeeded,failed,stopped,refused,interrupted,lost" doc:"Only runs in this state."`
}

func (s *Server) apiRuns(c *apiCall, in *listRuns) (*RunList, error) {
	if err := s.back(c.r.Context()).needs(readRuns); err != nil {
		return nil, err
	}
	if err := checkCursor(in.Cursor); err != nil {
		return nil, err
	}
	out := &RunList{Items: []Run{}}
	err := s.runs.each(c.r.Context(), func(v runView) (more bool) {
		if in.Cursor != "" && v.ID >= in.Cursor || !c.scope().sees(v.Spec.Spec) || in.State != "" && v.state() != in.State {
			return true
		}
		if len(out.Items) == in.limit() {
			out.Next = out.Items[len(out.Items)-1].ID
			return false
		}
		if x, err := s.runs.find(c.r.Context(), v.ID); err == nil {
			v, _ = s.viewRun(c.r.Context(), x, 1<<30)
		}
		out.Items = append(out.Items, runOf(v))
		return true
	})
	return out, err
}

func (s *Server) apiRun(c *apiCall, _ *nothing) (*RunDetail, error) {
	x, err := s.findRun(c.r.Context(), c.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	view, _ := s.viewRun(c.r.Context(), x, 0)
	return runDetailOf(view), nil
}

// listJobs asks for jobs.
type listJobs struct {
	apiPage
	Text string `json:"-" query:"text" doc:"Only jobs with this text in the function or the target."`
	User string `json:"-" query:"user" doc:"Only jobs of this user."`
	All  bool   `json:"-" query:"all" doc:"Steps of orchestrations and the audit record, too."`
}

func (s *Server) apiJobs(c *apiCall, in *listJobs) (*JobList, error) {
	if err := checkCursor(in.Cursor); err != nil {
		return nil, err
	}
	rows, more, err := s.jobRows(c.r.Context(), jobFilter{Text: in.Text, User: in.User, Before: in.Cursor, All: in.All}, in.limit())
	if err != nil {
		return nil, err
	}
	return &JobList{Items: list(rows, jobOf), Next: more}, nil
}

// getJob asks for a job.
type getJob struct {
	Host string `json:"-" query:"host" doc:"Only the results of this host, and all of its states."`
}

func (s *Server) apiJob(c *apiCall, in *getJob) (*JobDetail, error) {
	j, err := s.readJobOf(c.r.Context(), c.r.PathValue("jid"), in.Host)
	if err != nil {
		return nil, err
	}
	return jobDetailOf(j, in.Host), nil
}

// listAudit asks for the audit record.
type listAudit struct {
	apiPage
	Text string `json:"-" query:"text" doc:"Only entries with this text in the action, its object or the details."`
	User string `json:"-" query:"user" doc:"Only what this user did; 'token:NAME' for a token."`
}

func (s *Server) apiAudit(c *apiCall, in *listAudit) (*AuditList, error) {
	if err := checkCursor(in.Cursor); err != nil {
		return nil, err
	}
	rows, more, err := s.jobRows(c.r.Context(), jobFilter{Text: in.Text, User: in.User, Before: in.Cursor, All: true, Prefix: uiAction}, in.limit())
	if err != nil {
		return nil, err
	}
	return &AuditList{Items: list(rows, auditOf), Next: more}, nil
}

// listExecutions asks for executions.
type listExecutions struct {
	apiPage
	Name   string `json:"-" query:"name" doc:"Only of definitions with this name: a glob."`
	Kind   string `json:"-" query:"kind" enum:"orchestration,chain,template" doc:"Only of this kind."`
	Status string `json:"-" query:"status" enum:"running,waiting,succeeded,failed,refused,interrupted,killed,unfinished" doc:"Only with this status."`
	User   string `json:"-" query:"user" doc:"Only of this user: a glob."`
	Host   string `json:"-" query:"host" doc:"Only with this host."`
	Since  string `json:"-" query:"since" doc:"Only since this date, such as 2026-12-01."`
}

func (s *Server) apiHistory(c *apiCall, in *listExecutions) (*ExecutionList, error) {
	f := historyFilter{Name: in.Name, Kind: in.Kind, Status: in.Status, User: in.User, Host: in.Host, Since: in.Since, Before: in.Cursor}
	q, err := f.query()
	if err != nil {
		return nil, &apiError{kind: badParameter, detail: err.Error() + "."}
	}
	rows, more, err := s.executions(c.r.Context(), q, in.limit())
	if err != nil {
		return nil, err
	}
	return &ExecutionList{Items: list(rows, executionInfoOf), Next: more}, nil
}

// exportHistory asks for executions as 'brine history import' reads them.
type exportHistory struct {
	Name  string `json:"-" query:"name" doc:"Only of definitions with this name: a glob."`
	Kind  string `json:"-" query:"kind" enum:"orchestration,chain,template" doc:"Only of this kind."`
	User  string `json:"-" query:"user" doc:"Only of this user: a glob."`
	Host  string `json:"-" query:"host" doc:"Only with this host."`
	Since string `json:"-" query:"since" doc:"Only since this date, such as 2026-12-01."`
	Until string `json:"-" query:"until" doc:"Only until this date."`
}

// apiExport sends executions. If it fails while it sends, the last line is missing, which has
// the numbers of the others.
func (s *Server) apiExport(c *apiCall, in *exportHistory) (*plainText, error) {
	f := historyFilter{Name: in.Name, Kind: in.Kind, User: in.User, Host: in.Host, Since: in.Since, Until: in.Until}
	q, err := f.query()
	if err != nil {
		return nil, &apiError{kind: badParameter, detail: err.Error() + "."}
	}
	out := &patientWriter{s: s, w: c.w}
	err = s.back(c.r.Context()).history(c.r.Context(), func(st *history.Store) error {
		_, err := st.Export(c.r.Context(), out, q)
		return err
	})
	if out.begun {
		return nil, nil
	}
	return nil, err
}

// A patientWriter sends what takes longer than an answer may.
type patientWriter struct {
	s     *Server
	w     http.ResponseWriter
	begun bool
}

// Write sends a part.
func (p *patientWriter) Write(b []byte) (int, error) {
	if !p.begun {
		p.begun = true
		p.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	_ = http.NewResponseController(p.w).SetWriteDeadline(p.s.opts.Now().Add(writeTimeout))
	return p.w.Write(b)
}

func (s *Server) apiExecution(c *apiCall, _ *nothing) (*ExecutionDetail, error) {
	x, err := s.viewExecution(c.r)
	if err != nil {
		return nil, err
	}
	return &ExecutionDetail{Execution: executionInfoOf(x.Execution), Steps: list(x.Steps, executionStepOf)}, nil
}

// listHosts asks for hosts.
type listHosts struct {
	apiPage
	Expr string `json:"-" query:"expr" doc:"A target expression, such as G@role:web; '*' if it is not given. It is looked up as far as the role may see."`
}

func (s *Server) apiHosts(c *apiCall, in *listHosts) (*HostList, error) {
	ctx := c.r.Context()
	if in.Expr == "" {
		in.Expr = "*"
	}
	ids, note, err := s.back(ctx).match(ctx, in.Expr)
	if err != nil {
		return nil, err
	}
	ids = slices.Sorted(slices.Values(ids))
	out := &HostList{Items: []HostSummary{}, Total: len(ids), Note: note}
	if in.Cursor != "" {
		i, found := slices.BinarySearch(ids, in.Cursor)
		if found {
			i++
		}
		ids = ids[i:]
	}
	if len(ids) > in.limit() {
		ids = ids[:in.limit()]
		out.Next = ids[len(ids)-1]
	}
	last, err := s.lastResults(ctx, ids)
	if err != nil {
		return nil, err
	}
	kept, faults, err := s.back(ctx).facts(ctx, ids)
	if err != nil {
		return nil, err
	}
	out.Note = strings.TrimSpace(out.Note + " " + factFaults(faults))
	agrees, err := s.driftByHost(ctx)
	for _, id := range ids {
		x := HostSummary{ID: id, Facts: factsOf(kept[id]), Drift: agrees[id]}
		if l := last[id]; l != nil {
			r := hostResultOf(*l)
			x.Last = &r
		}
		out.Items = append(out.Items, x)
	}
	return out, err
}

func (s *Server) apiHost(c *apiCall, _ *nothing) (*HostDetail, error) {
	x, err := s.viewHost(c.r)
	if err != nil {
		return nil, err
	}
	out := &HostDetail{Facts: factsOf(x.Facts), Drift: x.Drift, ID: x.ID, InRoster: x.Known, Problem: x.Problem, Jobs: list(x.Jobs, hostResultOf), Executions: list(x.Steps, hostExecutionOf)}
	if x.Facts != nil {
		if grains, err := x.Facts.Grains(); err == nil { // else the problem says so
			out.Grains = value.StrictJSON(grains)
		}
	}
	return out, nil
}

func (s *Server) apiSchedules(c *apiCall, _ *nothing) (*ScheduleList, error) {
	all, err := s.back(c.r.Context()).planned(c.r.Context())
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(p Planned) bool { return !c.scope().allows(kept.Chains, p.Chain) })
	return &ScheduleList{Items: list(all, scheduleOf)}, nil
}

// answersIn reads the answers of a request to a template, and says what is wrong with
// them.
func answersIn(t *orchestration.Template, in *startTemplate) (*orchestration.Answers, error) {
	a := orchestration.NewAnswers()
	a.Foreign = true
	for name, expr := range in.Targets {
		if _, err := t.Find(name); err != nil {
			return nil, &apiError{kind: badAnswers, detail: err.Error() + "."}
		}
		if expr = strings.TrimSpace(expr); expr != "" {
			a.Targets[name] = expr
		}
	}
	if len(in.Values) > 0 {
		v, _, err := value.ParseJSONWithin(string(in.Values), maxAnswers)
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			return nil, &apiError{kind: badBody, detail: "values must be of type object."}
		}
		a.Values = m
	}
	if in.Resume != "" && !jobs.IsJID(in.Resume) {
		return nil, &apiError{kind: badBody, detail: fmt.Sprintf("resume: %q is not a job id.", in.Resume)}
	}
	return a, nil
}

// maxAnswers bounds the memory that the values of a template take.
const maxAnswers = 32 << 20
