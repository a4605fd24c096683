package session

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"brine/cmd/internal/summary"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
)

// stepResults are the targets on which the steps of a session's orchestrations failed,
// as their jobs are recorded.
type stepResults struct {
	mu     sync.Mutex
	tally  *summary.Tally             // of all targets; nil: nobody asks for it
	mask   func(string) string        // of secrets
	failed map[string]map[string]bool // ids, by the jid of the step's job
	last   map[stepKey]string         // jid of the last job of a step
}

// A stepKey names a step: the jid of its orchestration and its ID.
type stepKey struct{ orch, step string }

// watch returns the record of a job that also tells r, where the job is one of a step.
func (r *stepResults) watch(l jobs.Load, rec jobs.Record) jobs.Record {
	if l.OrchJID == "" || l.Runner || rec == nil {
		return rec
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed, r.last = map[string]map[string]bool{}, map[stepKey]string{}
	}
	r.failed[l.JID] = nil
	r.last[stepKey{l.OrchJID, l.Step}] = l.JID
	return &stepRecord{Record: rec, results: r, jid: l.JID, step: l.Step}
}

type stepRecord struct {
	jobs.Record
	results *stepResults
	jid     string
	step    string // its ID
}

// Unwrap returns the record itself.
func (s *stepRecord) Unwrap() jobs.Record { return s.Record }

// Return records an answer.
func (s *stepRecord) Return(ret fun.Return) error {
	r := s.results
	if r.tally != nil {
		v, err := ret.Value()
		if err != nil {
			v = err.Error()
		}
		r.tally.Add(s.step, ret, v, r.mask)
	}
	r.mu.Lock()
	ids := r.failed[s.jid]
	switch {
	case ret.Success():
		delete(ids, ret.ID) // it came after all
	case ids == nil:
		r.failed[s.jid] = map[string]bool{ret.ID: true}
	default:
		ids[ret.ID] = true
	}
	r.mu.Unlock()
	return s.Record.Return(ret)
}

// bad reports whether the job of a step failed on a target.
func (r *stepResults) bad(jid, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed[jid][id]
}

// of returns the targets on which a step failed: by the jid of its job, or "" where its
// return has none. known is false for a step without a job of this session.
func (r *stepResults) of(jid, orch, step string) (ids []string, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if jid == "" {
		jid = r.last[stepKey{orch, step}]
	}
	failed, known := r.failed[jid]
	for id := range failed {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, known
}

// PrintTally prints what became of each target of the steps, where --summary asks for it.
func (s *Session) PrintTally(w io.Writer) {
	if s.steps.tally == nil {
		return
	}
	all := s.steps.tally.Outcomes()
	if len(all) == 0 {
		fmt.Fprintln(s.App.Err, "brine: --summary: nothing ran on a target")
		return
	}
	summary.Print(w, all)
}

// SayJID prints the jid of a run on stderr, where -v asks for it.
func (s *Session) SayJID(jid string) {
	if s.verbose {
		fmt.Fprintln(s.App.Err, "jid: "+jid)
	}
}

// StepFailed reports whether the job of a step failed on a target.
func (s *Session) StepFailed(jid, id string) bool { return s.steps.bad(jid, id) }
