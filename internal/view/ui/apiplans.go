package ui

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"brine/internal/fleet/kept"
)

// A plan is a run that changes nothing and leaves a file, which a further run applies.

// A PlanDetail is a plan, as far as it has been made.
type PlanDetail struct {
	Run  *RunDetail      `json:"run" doc:"The run that makes it: while it has not ended, there is no plan; if it failed, its messages say why."`
	Plan json.RawMessage `json:"plan,omitempty" doc:"The plan, as docs/plan.schema.json describes it."`
}

// ofPlan is the rule of plans: none of its hosts is beyond the limits.
func ofPlan(s *Server, r *http.Request, x *Scope) error {
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

func (s *Server) apiPlanChain(c *apiCall, in *planChain) (*RunDetail, error) {
	_, _, view, err := s.readChain(c.r)
	if err == nil && in.Version != "" && in.Version != view.Version {
		err = errChanged
	}
	if err != nil {
		return nil, err
	}
	return c.begin(s, runSpec{Spec: kept.Spec{Kind: kept.ChainPlans, Name: view.Name}})
}

func (s *Server) apiPlanTemplate(c *apiCall, in *planTemplate) (*RunDetail, error) {
	return s.apiAnswered(c, &startTemplate{Targets: in.Targets, Values: in.Values}, kept.Spec{Kind: kept.TemplatePlans})
}

// findPlan returns the run that makes a plan.
func (s *Server) findPlan(r *http.Request) (*run, error) {
	x, err := s.findRun(r.Context(), r.PathValue("id"))
	if err == nil && !x.Spec.plans() {
		err = fmt.Errorf("run %s is not one that makes a plan: %w", x.ID, ErrNotFound)
	}
	return x, err
}

// madePlan returns the plan that a run has made.
func (s *Server) madePlan(r *http.Request) (x *run, text []byte, err error) {
	if x, err = s.findPlan(r); err != nil {
		return nil, nil, err
	}
	text, err = x.kept.Plan()
	if !x.isOver() || errors.Is(err, fs.ErrNotExist) {
		err = &apiError{kind: conflict, detail: "There is no plan yet, or none could be made.", hint: "GET " + apiBase + path("plans", x.ID) + " says which."}
	}
	return x, text, err
}

// apiPlanText answers with a plan as people read it.
func (s *Server) apiPlanText(c *apiCall, in *planText) (*plainText, error) {
	_, made, err := s.madePlan(c.r)
	if err != nil {
		return nil, err
	}
	text, err := s.back(c.r.Context()).planText(made, cmp.Or(in.Format, planFormats[0]))
	if err != nil {
		return nil, err
	}
	return c.text("text/plain; charset=utf-8", text)
}

// planFormats are those of the text of a plan.
var planFormats = []string{"text", "diff", "markdown"}

// planTitles are the formats in words.
var planTitles = map[string]string{"text": "Steps", "diff": "Differences", "markdown": "Markdown"}

// planAction is where a form that runs something has the plan of it made.
func planAction(run string) string { return strings.TrimSuffix(run, "run") + "plan" }

// mayApply returns an error unless what a form names as the plan that is to be run is one of
// this template, and the visitor may see all of it.
func (s *Server) mayApply(r *http.Request, v *visit) error {
	id := r.PostForm.Get("plan")
	if id == "" {
		return nil
	}
	x, err := s.findRun(r.Context(), id)
	if err != nil {
		return err
	}
	if limits := v.limits(); !limits.sees(x.Spec.Spec) || !limits.whole(x.Spec.Spec) {
		return errScope(limits)
	}
	if _, err := x.kept.Plan(); x.Spec.Kind != kept.TemplatePlans || x.Spec.Name != r.PathValue("name") || err != nil {
		return &apiError{kind: conflict, detail: fmt.Sprintf("Run %s has not made a plan of this template.", id)}
	}
	return nil
}

func (s *Server) apiPlan(c *apiCall, _ *nothing) (*PlanDetail, error) {
	x, err := s.findPlan(c.r)
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
	x, _, err := s.madePlan(c.r)
	if err != nil {
		return nil, err
	}
	if x.Spec.Kind == kept.TemplatePlans {
		return nil, &apiError{
			kind: conflict, detail: "A template needs its answers again.",
			hint: "POST " + apiBase + path("templates", x.Spec.Name, "runs") + ` with the answers, and "plan": "` + x.ID + `".`,
		}
	}
	return c.begin(s, runSpec{Spec: kept.Spec{Kind: kept.PlanOf(x.Spec.Kind), Name: x.Spec.Name, Plan: x.ID}})
}

// planChain starts a run that makes the plan of a chain.
func (s *Server) planChain(w http.ResponseWriter, r *http.Request, v *visit) {
	_, _, c, err := s.readChain(r)
	if err == nil && c.Version != r.PostForm.Get("version") {
		err = errChanged
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	s.beginPlan(w, r, v, runSpec{Spec: kept.Spec{Kind: kept.ChainPlans, Name: c.Name}})
}

// planOrchestration starts a run that makes the plan of an orchestration.
func (s *Server) planOrchestration(w http.ResponseWriter, r *http.Request, v *visit) {
	name := r.PathValue("sls")
	if _, _, err := s.back(r.Context()).steps(r.Context(), name); err != nil {
		s.fault(w, r, err)
		return
	}
	s.beginPlan(w, r, v, runSpec{Spec: kept.Spec{Kind: kept.Plans, Name: name}})
}

// beginPlan starts a run that makes a plan: nobody has to confirm it, since it changes nothing.
func (s *Server) beginPlan(w http.ResponseWriter, r *http.Request, v *visit, spec runSpec) {
	if r.PostForm.Has("once") {
		spec.Once = versionOf([]byte(r.URL.Path + "?" + r.PostForm.Encode()))
	}
	x, err := s.start(r.Context(), spec, v)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	see(w, r, "runs", x.ID)
}

// plan shows the plan that a run has made.
func (s *Server) plan(w http.ResponseWriter, r *http.Request, v *visit) {
	x, made, err := s.madePlan(r)
	format := cmp.Or(r.URL.Query().Get("format"), planFormats[0])
	if err == nil && !slices.Contains(planFormats, format) {
		err = fmt.Errorf("there is no format %q of plans: %w", format, ErrNotFound)
	}
	text := ""
	if err == nil {
		text, err = s.back(r.Context()).planText(made, format)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, planPage(page{Title: "Plan of " + x.Spec.Name, At: "runs", Who: v}, x.Spec, x.ID, format, text))
}

// applyPlan runs a plan, if nothing has changed since.
func (s *Server) applyPlan(w http.ResponseWriter, r *http.Request, v *visit) {
	x, _, err := s.madePlan(r)
	if err == nil && x.Spec.Kind == kept.TemplatePlans {
		http.Redirect(w, r, path("templates", x.Spec.Name)+"?plan="+x.ID, http.StatusSeeOther)
		return
	}
	if err == nil && r.PostForm.Get("confirm") != "yes" {
		err = errUnconfirmed
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	s.beginPlan(w, r, v, runSpec{Spec: kept.Spec{Kind: kept.PlanOf(x.Spec.Kind), Name: x.Spec.Name, Plan: x.ID}})
}
