package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"brine/internal/core/cause"
	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

// Bounds of what a page shows of a job.
const (
	shownReturns = 200 // hosts of a job or step
	shownStates  = 100 // of a host, unless the page shows this host alone
	shownText    = 64 << 10
	shownTexts   = 4 << 20  // all texts of a page
	readReturns  = 32 << 20 // that are large, of hosts that failed and of others
	leastText    = 4 << 10  // of each text, however many there are
)

// A jobView is a job as a page shows it.
type jobView struct {
	JID, Time, End, Fun, Args, Target, User, Status, Parent, Damage string
	Orchestration                                                   bool
	Resumable                                                       bool
	Retryable                                                       int    // hosts on which it can run again
	Only                                                            string // the host that the page shows; "": all
	Steps                                                           []stepResult
	Hosts                                                           []hostResult
	More                                                            int // hosts that are not shown
}

// A stepResult is a step of an orchestration that ended.
type stepResult struct {
	stateResult
	JID   string
	Hosts []hostResult
	More  int
	Bad   int // hosts that failed
}

// A hostResult is what a host returned.
type hostResult struct {
	ID     string
	Failed bool
	States []stateResult
	Left   int    // states that are not shown
	Text   string // of what is not states
}

// A stateResult is a state that ran.
type stateResult struct {
	ID, Fun, Name, Result, Comment, Diff, Changes string
	Seconds                                       float64
}

// only is the host whose results are wanted; "": all.
func viewJob(j *jobs.Job, only string) jobView {
	b := j.Brief()
	row := rowOf(b)
	v := jobView{
		JID: j.JID, Time: row.Time, End: j.EndTime, Fun: row.Fun, Args: valueText(redact.Hide(j.Load.At("arg"))), Target: valueText(j.Load.At("tgt")), User: row.User, Status: row.Status,
		Parent: j.Load.Str("orchestration_jid"), Damage: j.Damage, Orchestration: j.Definition != nil, Only: only,
	}
	if v.Orchestration {
		for _, s := range j.Steps {
			v.Steps = append(v.Steps, viewStep(s, only))
		}
		v.Resumable = j.State != jobs.Active && !finished(j)
		v.shorten()
		return v
	}
	v.Retryable = retryable(j)
	for id, r := range j.Returns.All() {
		if only != "" && value.Str(id) != only {
			continue
		}
		m, _ := r.(*value.Map)
		v.Hosts = append(v.Hosts, viewHost(value.Str(id), m.At("return"), !jobs.Succeeded(m)))
	}
	for id, why := range j.Missing {
		if only == "" || id == only {
			v.Hosts = append(v.Hosts, hostResult{ID: id, Failed: true, Text: short(why)})
		}
	}
	v.Hosts, v.More = cut(v.Hosts, only)
	v.shorten()
	return v
}

// labelJob is viewJob with the steps of a chain called as pages call them.
func labelJob(j *jobs.Job, only string) jobView {
	v := viewJob(j, only)
	v.label(j)
	return v
}

func (v *jobView) label(j *jobs.Job) {
	c, _ := chainOf(j)
	if c == "" {
		return
	}
	for i := range v.Steps {
		s := &v.Steps[i]
		s.ID, s.Name, s.Comment = stepLabel(c, s.ID), labelled(c, s.Name), labelled(c, s.Comment)
	}
}

// shorten leaves out texts that are too much for a page together. Hosts that failed
// come first, and so do theirs.
func (v *jobView) shorten() {
	left := shownTexts
	take := func(texts ...*string) {
		for _, t := range texts {
			if len(*t) > left {
				*t = fmt.Sprintf("… %d bytes; the page of this host alone shows them", len(*t))
			}
			left = max(0, left-len(*t))
		}
	}
	state := func(s *stateResult) { take(&s.Comment, &s.Diff, &s.Changes, &s.Name) }
	hosts := func(all []hostResult) {
		for i := range all {
			take(&all[i].Text)
			for j := range all[i].States {
				state(&all[i].States[j])
			}
		}
	}
	for i := range v.Steps {
		state(&v.Steps[i].stateResult)
		hosts(v.Steps[i].Hosts)
	}
	hosts(v.Hosts)
}

// retryable returns on how many hosts a job can run again: those that failed in it.
func retryable(j *jobs.Job) int {
	if j.Definition != nil || strings.HasPrefix(j.Load.Str("fun"), "runner.") || j.State == jobs.Active || j.State == jobs.Detached {
		return 0
	}
	return len(j.Failed())
}

// finished reports whether all steps of an orchestration succeeded.
func finished(j *jobs.Job) bool {
	low, _ := j.Definition.At("low").(*value.List)
	return len(j.Steps) >= low.Len() && !slices.ContainsFunc(j.Steps, func(s *value.Map) bool {
		ret, _ := s.At("return").(*value.Map)
		return ret.At("result") == false
	})
}

// cut sorts hosts, those that failed first, and leaves out what is too much for a
// page: hosts, and states of hosts unless the page shows only one.
func cut(hosts []hostResult, only string) ([]hostResult, int) {
	slices.SortFunc(hosts, func(x, y hostResult) int {
		if x.Failed != y.Failed {
			if x.Failed {
				return -1
			}
			return 1
		}
		return strings.Compare(x.ID, y.ID)
	})
	more := max(0, len(hosts)-shownReturns)
	hosts = hosts[:len(hosts)-more]
	for i := range hosts {
		h := &hosts[i]
		if only != "" || len(h.States) <= shownStates {
			continue
		}
		slices.SortStableFunc(h.States, func(x, y stateResult) int { return interest(x) - interest(y) })
		h.Left = len(h.States) - shownStates
		h.States = h.States[:shownStates]
	}
	return hosts, more
}

// interest ranks states where not all are shown.
func interest(s stateResult) int {
	switch s.Result {
	case "failed":
		return 0
	case "ok":
		return 3
	case "not_run":
		return 2
	}
	return 1
}

// viewState reads the return of a state.
func viewState(tag string, m *value.Map) stateResult {
	parts := strings.Split(tag, "_|-")
	s := stateResult{ID: short(m.Str("__id__")), Name: short(m.Str("name")), Comment: short(valueText(m.At("comment")))}
	if len(parts) == 4 {
		s.Fun = short(parts[0] + "." + parts[3])
		if s.ID == "" {
			s.ID = short(parts[1])
		}
	}
	changes := m.At("changes")
	n, _ := value.Len(changes)
	switch m.At("result") {
	case true:
		s.Result = "ok"
		switch {
		case cause.NotRun(m):
			s.Result = "not_run"
		case n > 0:
			s.Result = "changed"
		}
	case nil:
		s.Result = "would_change"
	default:
		s.Result = "failed"
		if _, unmet := cause.Unmet(m); unmet {
			s.Result = "not_run"
			break
		}
		if c := cause.OfState("", tag, m, cause.Options{}); !c.Silent() {
			s.Comment = c.Text()
		}
	}
	if ms, ok := m.At("duration").(float64); ok {
		s.Seconds = ms / 1000
	}
	if c, ok := changes.(*value.Map); ok && n > 0 {
		c = c.Copy()
		if d, ok := c.At("diff").(string); ok {
			s.Diff = short(d)
			c.Delete("diff")
		}
		if c.Len() > 0 {
			s.Changes = pretty(c)
		}
	}
	return s
}

// viewStep reads a step of a record. What its hosts returned is in its changes.
func viewStep(rec *value.Map, only string) stepResult {
	ret, _ := rec.At("return").(*value.Map)
	changes, _ := ret.At("changes").(*value.Map)
	s := stepResult{JID: ret.Str("__jid__")}
	if !jobs.IsJID(s.JID) {
		s.JID = ""
	}
	rets, ok := changes.At("ret").(*value.Map)
	if !ok {
		s.stateResult = viewState(rec.Str("tag"), ret)
		return s
	}
	without := ret.Copy()
	without.Set("changes", value.NewMap(0))
	result := viewState(rec.Str("tag"), ret).Result // by what it changed, as in the live run
	s.stateResult = viewState(rec.Str("tag"), without)
	s.Result = result
	failed := jobs.FailedOn(rec)
	for id, v := range rets.All() {
		h := viewHost(value.Str(id), v, slices.Contains(failed, value.Str(id)))
		if h.Failed {
			s.Bad++
		}
		if only == "" || h.ID == only {
			s.Hosts = append(s.Hosts, h)
		}
	}
	s.Hosts, s.More = cut(s.Hosts, only)
	return s
}

// viewHost reads what a host returned: states, or anything else.
func viewHost(id string, v value.Value, failed bool) hostResult {
	h := hostResult{ID: id, Failed: failed}
	if m, ok := v.(*value.Map); ok && m.Len() > 0 && isStates(m) {
		for tag, r := range m.All() {
			ret, _ := r.(*value.Map)
			h.States = append(h.States, viewState(value.Str(tag), ret))
		}
		return h
	}
	if text, ok := v.(string); ok {
		h.Text = short(text)
		return h
	}
	h.Text = pretty(v)
	return h
}

func isStates(m *value.Map) bool {
	for tag, r := range m.All() {
		ret, ok := r.(*value.Map)
		if !ok || !ret.Has("result") || strings.Count(value.Str(tag), "_|-") != 3 {
			return false
		}
	}
	return true
}

// pretty is a value as indented JSON.
func pretty(v value.Value) string {
	var b bytes.Buffer
	if json.Indent(&b, value.StrictJSON(v), "", "  ") != nil {
		return short(value.Repr(v))
	}
	return short(b.String())
}

func short(text string) string { return cutTo(text, shownText) }

// cutTo is a text of at most so many bytes, which say how many more there were.
func cutTo(text string, most int) string {
	const note = 100 // bytes of what is said
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-note], "") + fmt.Sprintf("\n… %d more bytes; 'brine run jobs.lookup_jid' shows all", len(text)-most+note)
}

// resumeJob continues a recorded orchestration that did not succeed; see
// mayRepeatJob.
func (s *Server) resumeJob(w http.ResponseWriter, r *http.Request, v *visit) {
	j, err := s.readJob(r.Context(), r.PathValue("jid"))
	if err == nil && (j.Definition == nil || j.State == jobs.Active) {
		err = errors.New("this is not an orchestration that has ended")
	}
	var spec runSpec
	if err == nil {
		spec, err = s.recorded(r, j)
		spec.AdHoc = v.role >= Editor
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	if spec.Kind == kept.Templates {
		http.Redirect(w, r, path("templates", spec.Name)+"?resume="+j.JID, http.StatusSeeOther)
		return
	}
	x, err := s.start(r.Context(), spec, v)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	see(w, r, "runs", x.ID)
}

// retryJob runs a job again on the hosts that failed in it; see mayRepeatJob.
func (s *Server) retryJob(w http.ResponseWriter, r *http.Request, v *visit) {
	j, err := s.readJob(r.Context(), r.PathValue("jid"))
	if err == nil && retryable(j) == 0 {
		err = errors.New("this is not a job on hosts that has ended, or it failed on none of them")
	}
	var x *run
	if err == nil {
		x, err = s.start(r.Context(), runSpec{Spec: kept.Spec{Kind: kept.Jobs, Name: j.JID, AdHoc: v.role >= Editor}}, v)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	see(w, r, "runs", x.ID)
}

// recorded finds out what a recorded orchestration was.
func (s *Server) recorded(r *http.Request, j *jobs.Job) (runSpec, error) {
	spec := runSpec{Spec: kept.Spec{Resume: j.JID, Test: value.Truth(j.Definition.At("test")), Kind: kept.Orchestrations, Name: valueText(j.Definition.At("sls"))}}
	if m, ok := j.Load.At("metadata").(*value.Map); ok && m.Str("chain") != "" {
		spec.Kind, spec.Name = kept.Chains, m.Str("chain")
		return spec, nil
	}
	c, err := s.back(r.Context()).catalogue(r.Context())
	if err != nil {
		return spec, err
	}
	if !slices.Contains(c.Orchestrations, spec.Name) && slices.ContainsFunc(c.Templates, func(e Entry) bool { return e.Name == spec.Name }) {
		spec.Kind = kept.Templates
	}
	return spec, nil
}

// readJob reads the record of a job.
func (s *Server) readJob(ctx context.Context, jid string) (*jobs.Job, error) {
	return s.readJobOf(ctx, jid, "")
}

// readJobOf is readJob with large returns of one host only; "" are all, up to a bound.
func (s *Server) readJobOf(ctx context.Context, jid, only string) (found *jobs.Job, err error) {
	if !jobs.IsJID(jid) {
		return nil, fmt.Errorf("%q is not a job id: %w", jid, ErrNotFound)
	}
	err = s.back(ctx).jobs(ctx, func(files *jobs.Files) (err error) {
		left := shownTexts
		found, err = files.TrimmedJob(ctx, jid, &jobs.Trim{Only: only, Large: readReturns, Text: func(text string) string {
			if len(text) <= leastText {
				return text
			}
			text = cutTo(text, max(leastText, min(shownText, left)))
			left -= len(text)
			return text
		}})
		return err
	})
	if err == nil && found == nil {
		err = fmt.Errorf("job %s: %w", jid, ErrNotFound)
	}
	if limits := s.back(ctx).limits; err == nil {
		if err = limits.cutJob(found); err == nil && only != "" && !limits.onHost(only) {
			err = errScope(limits)
		}
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}
