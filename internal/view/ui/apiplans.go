package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"brine/internal/fleet/kept"
)

// A plan is a run that changes nothing and leaves a file, which a further run applies.

// A PlanDetail is a plan, as far as it has been made.
type PlanDetail struct {
	Run  *RunDetail      `json:"run" doc:"The run that makes it: while it has not ended, there is no plan; if it failed, its messages say why."`
	Plan json.RawMessage `json:"plan,omitempty" doc:"The plan, as docs/plan.schema.json describes it."`
}

// ofPlan is the rule of plans: none of its hosts is beyond the limits.
func ofPlan(s *Server, r *http.Request, x Scope) error {
	found, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if !x.sees(found.Spec.Spec) || !x.whole(found.Spec.Spec) {
		return errScope(x)
	}
	return nil
}

func (s *Server) apiStartPlan(c *apiCall, _ *nothing) (*RunDetail, error) {
	name := c.r.PathValue("name")
	if _, _, err := s.back(c.r.Context()).steps(c.r.Context(), name); err != nil {
		return nil, err
	}
	return c.begin(s, runSpec{Spec: kept.Spec{Kind: kept.Plans, Name: name}})
}

// findPlan returns the run that makes a plan.
func (s *Server) findPlan(c *apiCall) (*run, error) {
	x, err := s.findRun(c.r.Context(), c.r.PathValue("id"))
	if err == nil && x.Spec.Kind != kept.Plans {
		err = fmt.Errorf("run %s is not one that makes a plan: %w", x.ID, ErrNotFound)
	}
	return x, err
}

func (s *Server) apiPlan(c *apiCall, _ *nothing) (*PlanDetail, error) {
	x, err := s.findPlan(c)
	if err != nil {
		return nil, err
	}
	view, _ := s.viewRun(c.r.Context(), x, 0)
	out := &PlanDetail{Run: runDetailOf(view)}
	if !view.over() {
		return out, nil
	}
	text, err := x.kept.Plan()
	if errors.Is(err, fs.ErrNotExist) { // the messages of the run say why
		return out, nil
	}
	if err == nil && !json.Valid(text) {
		err = errors.New("the plan is damaged")
	}
	out.Plan = text
	return out, err
}

// apiApplyPlan runs a plan, which brine makes again first: if something changed, nothing runs.
func (s *Server) apiApplyPlan(c *apiCall, _ *nothing) (*RunDetail, error) {
	x, err := s.findPlan(c)
	if err != nil {
		return nil, err
	}
	view, _ := s.viewRun(c.r.Context(), x, 1<<30)
	if _, err = x.kept.Plan(); !view.over() || errors.Is(err, fs.ErrNotExist) {
		return nil, &apiError{kind: conflict, detail: "There is no plan yet, or none could be made.", hint: "GET " + apiBase + path("plans", x.ID) + " says which."}
	}
	if err != nil {
		return nil, err
	}
	return c.begin(s, runSpec{Spec: kept.Spec{Kind: kept.Orchestrations, Name: view.Spec.Name, Plan: x.ID}})
}
