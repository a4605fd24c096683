package shared

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A ClaimedError says that an orchestration cannot be gone on with.
type ClaimedError struct{ Text string }

// Error says why.
func (e *ClaimedError) Error() string { return e.Text }

// maxChain bounds how many runs one Chain returns.
const maxChain = 1000

// Chain returns what the store knows of runs and of all that went on with them, each
// once: those that nobody went on with have a ResumedBy that is not among them. The
// order is that of the jids, followed by the others.
func (s *Store) Chain(ctx context.Context, jids []string) ([]Run, error) {
	var out []Run
	seen := map[string]bool{}
	for len(jids) > 0 && len(out) < maxChain {
		args := make([]any, 0, len(jids))
		for _, jid := range jids {
			if !seen[jid] {
				seen[jid] = true
				args = append(args, jid)
			}
		}
		jids = nil
		if len(args) == 0 {
			break
		}
		found := map[string]Run{}
		err := s.query(ctx, func(rows *sql.Rows) error {
			r, err := scanRun(rows)
			found[r.JID] = r
			return err
		}, "SELECT "+runColumns+" FROM brine_runs WHERE jid IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
		if err != nil {
			return nil, err
		}
		for _, jid := range args {
			if r, there := found[jid.(string)]; there {
				out = append(out, r)
				if r.ResumedBy != "" {
					jids = append(jids, r.ResumedBy)
				}
			}
		}
	}
	return out, nil
}

// Resume records that the run r continues earlier runs: as long as the store
// has them, no other run can. r begins with the steps in from, the record of
// one of them, that need not run again; from may be nil. A [ClaimedError] says
// that the controller of an earlier run still works on it, or that another run
// continues it. Resuming again what r has resumed changes nothing.
func (s *Store) Resume(ctx context.Context, r Run, earlier []string, from *jobs.Job) error {
	notes := kept(from)
	return s.tx(ctx, func(t *tx) error {
		for _, jid := range earlier {
			if err := t.claim(ctx, r.JID, jid); err != nil {
				return err
			}
		}
		if err := t.begin(ctx, r); err != nil {
			return err
		}
		for n, text := range notes {
			if err := t.note(ctx, r.JID, n, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// claim has the run jid go on with an earlier one.
func (t *tx) claim(ctx context.Context, jid, earlier string) error {
	r, err := t.run(ctx, earlier)
	if err != nil || r == nil || r.ResumedBy == jid {
		return err
	}
	if r.ResumedBy != "" {
		// That a clean-up has removed a run since does not prevent the
		// resumption.
		next, err := t.run(ctx, r.ResumedBy)
		if err != nil {
			return err
		}
		if next != nil {
			return &ClaimedError{fmt.Sprintf("job %s was resumed already: go on with job %s, --resume %s", r.JID, r.ResumedBy, r.ResumedBy)}
		}
	}
	if r.State() == jobs.Active && (t.s.Dead == nil || !t.s.Dead(r.JID)) {
		return &ClaimedError{fmt.Sprintf("job %s may still be running: %s was heard of %s ago; it counts as dead when that is more than %s",
			r.JID, r.Where(), round(r.Silent), round(r.Lease))}
	}
	return t.exec(ctx, "UPDATE brine_runs SET resumed_by = ? WHERE jid = ?", jid, r.JID)
}

// run returns a run, which nobody else changes until the transaction ends.
func (t *tx) run(ctx context.Context, jid string) (*Run, error) {
	var out *Run
	err := t.query(ctx, func(rows *sql.Rows) error {
		r, err := scanRun(rows)
		out = &r
		return err
	}, "SELECT "+runColumns+" FROM brine_runs WHERE jid = ?{alone}", jid)
	return out, err
}

// kept returns the notes with which a run that continues an orchestration
// begins: the definition, the steps before the first that did not succeed, and
// the targets on which others had succeeded.
func kept(from *jobs.Job) []string {
	if from == nil {
		return nil
	}
	var out []string
	if from.Definition != nil {
		out = append(out, noteText("definition", from.Definition))
	}
	for _, step := range from.Steps[:from.Prefix()] {
		out = append(out, noteText("step", step))
	}
	return append(out, passNotes(from.Passed)...)
}

// passNotes returns the notes that tell on which targets steps succeeded.
func passNotes(passed map[string][]string) []string {
	var out []string
	for _, tag := range slices.Sorted(maps.Keys(passed)) {
		out = append(out, noteText("passed", value.MapOf("tag", tag, "ids", value.Strings(passed[tag]...))))
	}
	return out
}

// Release takes Resume back: r did not begin its steps.
func (s *Store) Release(ctx context.Context, r Run, earlier []string) error {
	return s.tx(ctx, func(t *tx) error {
		for _, jid := range earlier {
			if err := t.exec(ctx, "UPDATE brine_runs SET resumed_by = '' WHERE jid = ? AND resumed_by = ?", jid, r.JID); err != nil {
				return err
			}
		}
		return t.forget(ctx, r.JID)
	})
}

// Settle gives the store what the record of a run has and the store has not, because
// it could not be reached when that was recorded. The process of the run is gone. A run
// that came to its end in the store stays as it is, and so does one that another has
// gone on with: what that one did counts.
func (s *Store) Settle(ctx context.Context, r Run, j *jobs.Job) error {
	return s.tx(ctx, func(t *tx) error {
		there, err := t.run(ctx, r.JID)
		if err != nil || there != nil && (there.Ended || there.ResumedBy != "") {
			return err
		}
		if err := t.begin(ctx, r); err != nil {
			return err
		}
		if there == nil { // it is not a sign of life
			if err := t.exec(ctx, "UPDATE brine_runs SET beat = beat - 2 * lease WHERE jid = ?", r.JID); err != nil {
				return err
			}
		}
		notes, err := read(func(each func(*sql.Rows) error) error { return t.query(ctx, each, selectNotes, r.JID) })
		if err != nil {
			return err
		}
		next := 0
		if n := len(notes); n > 0 {
			next = notes[n-1].n + 1
		}
		for _, text := range missing(notes, j) {
			if err := t.note(ctx, r.JID, next, text); err != nil {
				return err
			}
			next++
		}
		if j.State != jobs.Complete {
			return nil
		}
		return t.exec(ctx, "UPDATE brine_runs SET ended = {now}, beat = {now} WHERE jid = ?", r.JID)
	})
}

// missing returns the notes of a record that are not among those of the store.
func missing(notes []note, j *jobs.Job) []string {
	var out []string
	if j.Definition != nil && definition(notes) == nil {
		out = append(out, noteText("definition", j.Definition))
	}
	have := map[string]value.Value{}
	for _, step := range steps(notes) {
		have[step.Str("tag")] = step.Map("return").At("result")
	}
	for _, step := range j.Steps {
		if result, there := have[step.Str("tag")]; !there || !value.Equal(result, step.Map("return").At("result")) {
			out = append(out, noteText("step", step))
		}
	}
	known := map[string]map[string]bool{}
	for _, data := range passed(notes) {
		ids := map[string]bool{}
		for i := range data.List("ids").Len() {
			ids[value.Str(data.List("ids").Items[i])] = true
		}
		known[data.Str("tag")] = ids
	}
	more := map[string][]string{}
	for tag, ids := range j.Passed {
		for _, id := range ids {
			if !known[tag][id] {
				more[tag] = append(more[tag], id)
			}
		}
	}
	return append(out, passNotes(more)...)
}
