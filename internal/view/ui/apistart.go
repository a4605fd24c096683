package ui

import (
	"errors"
	"slices"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

// begin starts a run for a token.
func (c *apiCall) begin(s *Server, spec runSpec) (*RunDetail, error) {
	if !c.scope().allows(spec.Kind, spec.Name) {
		return nil, errScope(c.scope())
	}
	if c.key != nil {
		spec.Once = c.key.once
	}
	x, before, err := s.startOnce(c.r.Context(), spec, c.v)
	if err != nil {
		return nil, err
	}
	if c.key != nil {
		c.key.run = x.ID
		if before { // of an earlier server
			c.w.Header().Set(replayedHeader, "true")
		}
	}
	return c.started(x), nil
}

// started is the answer for a run that was started.
func (c *apiCall) started(x *run) *RunDetail {
	c.w.Header().Set("Location", apiBase+path("runs", x.ID))
	view, _ := x.view(0, c.scope())
	return runDetailOf(view)
}

func (s *Server) apiStartOrchestration(c *apiCall, in *startRun) (*RunDetail, error) {
	name := c.r.PathValue("name")
	if _, _, err := s.back(c.r.Context()).steps(c.r.Context(), name); err != nil {
		return nil, err
	}
	return c.begin(s, runSpec{Spec: kept.Spec{Kind: kept.Orchestrations, Name: name, Test: in.Test}})
}

func (s *Server) apiStartChain(c *apiCall, in *startChain) (*RunDetail, error) {
	_, _, view, err := s.readChain(c.r)
	if err == nil && in.Version != "" && in.Version != view.Version {
		err = errChanged
	}
	if err != nil {
		return nil, err
	}
	return c.begin(s, runSpec{Spec: kept.Spec{Kind: kept.Chains, Name: view.Name, Test: in.Test}})
}

func (s *Server) apiStartTemplate(c *apiCall, in *startTemplate) (*RunDetail, error) {
	if in.Plan != "" && (in.Test || in.Resume != "") {
		return nil, &apiError{kind: badBody, detail: "A plan is run as it was made: neither test nor resume goes with it."}
	}
	return s.apiAnswered(c, in, kept.Spec{Kind: kept.Templates, Test: in.Test, Resume: in.Resume, Plan: in.Plan})
}

// apiAnswered starts a run of a template with answers, or one that makes a plan.
func (s *Server) apiAnswered(c *apiCall, in *startTemplate, spec kept.Spec) (*RunDetail, error) {
	t, _, err := s.back(c.r.Context()).template(c.r.Context(), c.r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	a, err := answersIn(t, in)
	if err != nil {
		return nil, err
	}
	view, good := viewWizard(t, a, nil, true)
	if matched := s.matchTargets(c.r, &view); !matched || !good {
		return nil, &apiError{kind: badAnswers, detail: "Nothing was run: see errors.", fields: answerFaults(t, a, view.Targets)}
	}
	spec.Name = t.Name
	return c.begin(s, runSpec{Spec: spec, Answers: answersOf(a)})
}

// answerFaults is what is wrong with answers.
func answerFaults(t *orchestration.Template, a *orchestration.Answers, targets []targetField) (out []FieldProblem) {
	_, faults, missing := t.Check(a)
	for _, x := range faults {
		p := FieldProblem{Detail: x.Error()}
		if fe, ok := errors.AsType[form.ValueError](x); ok {
			p = FieldProblem{Path: fe.Path, Detail: fe.Text}
		}
		out = append(out, p)
	}
	for _, m := range missing {
		if m.Target == nil { // else the target says so
			out = append(out, FieldProblem{Path: m.Path, Detail: "This needs a value."})
		}
	}
	for _, x := range targets {
		if x.Problem != "" {
			out = append(out, FieldProblem{Path: x.Name, Detail: x.Problem})
		}
	}
	return out
}

func (s *Server) apiStopRun(c *apiCall, _ *nothing) (*RunDetail, error) { return s.apiEnd(c, false) }

func (s *Server) apiKillRun(c *apiCall, _ *nothing) (*RunDetail, error) { return s.apiEnd(c, true) }

func (s *Server) apiEnd(c *apiCall, hard bool) (*RunDetail, error) {
	x, err := s.findRun(c.r.Context(), c.r.PathValue("id"))
	if err == nil {
		err = s.back(c.r.Context()).needs(endRuns)
	}
	if err == nil && !x.isOver() {
		err = s.stop(c.r.Context(), x, hard)
	}
	if err != nil {
		return nil, err
	}
	view, _ := x.view(0, c.scope())
	return runDetailOf(view), nil
}

func (s *Server) apiResumeRun(c *apiCall, _ *nothing) (*RunDetail, error) {
	x, err := s.findRun(c.r.Context(), c.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	view, _ := x.view(0, c.scope())
	if !view.over() || view.JID == "" || !view.Spec.goesOn() {
		return nil, &apiError{kind: conflict, detail: "The run has not ended, nothing of it was begun, or it has no steps."}
	}
	spec := view.goingOn()
	return c.resume(s, spec)
}

func (s *Server) apiResumeJob(c *apiCall, _ *nothing) (*RunDetail, error) {
	j, err := s.readJob(c.r.Context(), c.r.PathValue("jid"))
	if err != nil {
		return nil, err
	}
	if j.Definition == nil || j.State == jobs.Active {
		return nil, &apiError{kind: conflict, detail: "This is not an orchestration that has ended."}
	}
	spec, err := s.recorded(c.r, j)
	if err != nil {
		return nil, err
	}
	spec.AdHoc = c.v.role >= Editor
	return c.resume(s, spec)
}

// resume goes on with an execution. Of a template, records have no passwords.
func (c *apiCall) resume(s *Server, spec runSpec) (*RunDetail, error) {
	if spec.Kind == kept.Templates {
		return nil, &apiError{
			kind: conflict, detail: "A template needs its answers again.",
			hint: "POST " + apiBase + path("templates", spec.Name, "runs") + ` with the answers, and "resume": "` + spec.Resume + `".`,
		}
	}
	return c.begin(s, spec)
}

func (s *Server) apiRetryJob(c *apiCall, _ *nothing) (*RunDetail, error) {
	j, err := s.readJob(c.r.Context(), c.r.PathValue("jid"))
	if err != nil {
		return nil, err
	}
	if retryable(j) == 0 {
		return nil, &apiError{kind: conflict, detail: "This is not a job on hosts that has ended, or it failed on none of them."}
	}
	return c.begin(s, runSpec{Spec: kept.Spec{Kind: kept.Jobs, Name: j.JID, AdHoc: c.v.role >= Editor}})
}

func (s *Server) apiAddSchedule(c *apiCall, in *addSchedule) (*Schedule, error) {
	ctx := c.r.Context()
	_, _, view, err := s.readChain(c.r)
	if err == nil && in.Version != "" && in.Version != view.Version {
		err = errChanged
	}
	at := in.At.Truncate(time.Second)
	if err == nil {
		err = s.back(ctx).schedule(ctx, view.Name, at.Format(time.RFC3339), c.v.name)
	}
	var all []Planned
	if err == nil {
		all, err = s.back(ctx).planned(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.Chain == view.Name && p.At.Equal(at) {
			x := scheduleOf(p)
			return &x, nil
		}
	}
	return nil, errors.New("the run was scheduled, but it is not among those that are: it may have begun")
}

func (s *Server) apiCancelSchedule(c *apiCall, _ *nothing) (*nothing, error) {
	ctx, name, id := c.r.Context(), c.r.PathValue("name"), c.r.PathValue("schedule")
	planned, err := s.back(ctx).planned(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(planned, func(x Planned) bool { return x.ID == id && x.Chain == name }) {
		return nil, &apiError{kind: noSuch, detail: "There is no such run of the chain: it has begun, or somebody has canceled it."}
	}
	return nil, s.back(ctx).unschedule(ctx, id)
}
