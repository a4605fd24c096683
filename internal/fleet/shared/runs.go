package shared

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A Run is a job that a controller works on, or worked on.
type Run struct {
	JID        string
	Load       *value.Map
	Controller string // its id
	Host       string // the name of its machine
	Cache      string // its cache directory
	PID        int
	Lease      time.Duration // how old its last heartbeat may become
	Resumes    string        // jid of the orchestration that it continues
	ResumedBy  string        // jid of the orchestration that continues it

	Silent        time.Duration // how old its last heartbeat is
	LastHeartbeat time.Time     // when that was
	Ended         bool
}

// State is how far the job came, as far as its heartbeat tells.
func (r *Run) State() jobs.State {
	switch {
	case r.Ended:
		return jobs.Complete
	case r.Silent <= r.Lease:
		return jobs.Active
	}
	return jobs.Interrupted
}

// Where names the process that works on the job.
func (r *Run) Where() string {
	return fmt.Sprintf("controller %s (pid %d on %s)", r.Controller, r.PID, r.Host)
}

// Begin notes that a controller works on a job from now on. A job that is noted
// already stays as it is.
func (s *Store) Begin(ctx context.Context, r Run) error {
	return s.tx(ctx, func(t *tx) error { return t.begin(ctx, r) })
}

// BeginNote is Begin with a [Store.Note], both or none.
func (s *Store) BeginNote(ctx context.Context, r Run, n int, kind string, data *value.Map) error {
	return s.tx(ctx, func(t *tx) error {
		if err := t.begin(ctx, r); err != nil {
			return err
		}
		return t.note(ctx, r.JID, n, noteText(kind, data))
	})
}

func noteText(kind string, data *value.Map) string {
	return ascii(value.EncodeJSON(value.MapOf("note", kind, "data", data)))
}

func (t *tx) begin(ctx context.Context, r Run) error {
	return t.exec(ctx, "{ignore} brine_runs (jid, job_load, controller, host_name, cache, pid, began, beat, lease, ended, resumes, resumed_by) "+
		"VALUES (?, ?, ?, ?, ?, ?, {now}, {now}, ?, 0, ?, ''){nothing}",
		r.JID, ascii(value.EncodeJSON(r.Load)), clean(r.Controller, 0), clean(r.Host, 0), clean(r.Cache, 0), r.PID, r.Lease.Seconds(), r.Resumes)
}

// End notes that a job came to its end.
func (s *Store) End(ctx context.Context, jid string) error {
	_, err := s.exec(ctx, "UPDATE brine_runs SET ended = {now}, beat = {now} WHERE jid = ?", jid)
	return err
}

// Forget removes what is known of a job.
func (s *Store) Forget(ctx context.Context, jid string) error {
	return s.tx(ctx, func(t *tx) error { return t.forget(ctx, jid) })
}

func (t *tx) forget(ctx context.Context, jid string) error {
	if err := t.exec(ctx, "DELETE FROM brine_notes WHERE jid = ?", jid); err != nil {
		return err
	}
	return t.exec(ctx, "DELETE FROM brine_runs WHERE jid = ?", jid)
}

// Alive says that a controller still works on jobs.
func (s *Store) Alive(ctx context.Context, jids []string) error {
	if len(jids) == 0 {
		return nil
	}
	args := make([]any, len(jids))
	for i, jid := range jids {
		args[i] = jid
	}
	_, err := s.exec(ctx, "UPDATE brine_runs SET beat = {now} WHERE jid IN (?"+strings.Repeat(", ?", len(jids)-1)+")", args...)
	return err
}

// partSize bounds a row of notes, in bytes: databases bound what a statement takes.
const partSize = 256 << 10

// Note stores the n-th part of the history of an orchestration; one that is stored
// stays as it is.
func (s *Store) Note(ctx context.Context, jid string, n int, kind string, data *value.Map) error {
	return s.tx(ctx, func(t *tx) error { return t.note(ctx, jid, n, noteText(kind, data)) })
}

func (t *tx) note(ctx context.Context, jid string, n int, text string) error {
	for part := 0; text != ""; part++ {
		piece := text[:min(partSize, len(text))]
		text = text[len(piece):]
		if err := t.exec(ctx, "{ignore} brine_notes (jid, n, part, data) VALUES (?, ?, ?, ?){nothing}", jid, n, part, piece); err != nil {
			return err
		}
	}
	return nil
}

// ascii is JSON without characters that some database has no room for.
func ascii(text []byte) string {
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case r < 0x80:
			b.WriteByte(byte(r))
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return b.String()
}

const runColumns = "jid, job_load, controller, host_name, cache, pid, beat, {now} - beat, lease, ended, resumes, resumed_by"

func scanRun(rows *sql.Rows) (Run, error) {
	var r Run
	var load string
	var beat, silent, lease, ended float64
	err := rows.Scan(&r.JID, &load, &r.Controller, &r.Host, &r.Cache, &r.PID, &beat, &silent, &lease, &ended, &r.Resumes, &r.ResumedBy)
	r.Load = decode(load)
	r.Silent, r.Lease, r.Ended = length(silent), length(lease), ended > 0
	r.LastHeartbeat = time.UnixMicro(int64(beat * 1e6)).UTC()
	return r, err
}

func decode(text string) *value.Map {
	v, err := value.ParseJSON(text)
	if m, ok := v.(*value.Map); ok && err == nil {
		return m
	}
	return value.NewMap(0)
}

// Run returns what is known of the controller of a job; nil where nothing is.
func (s *Store) Run(ctx context.Context, jid string) (*Run, error) {
	var out *Run
	err := s.query(ctx, func(rows *sql.Rows) error {
		r, err := scanRun(rows)
		out = &r
		return err
	}, "SELECT "+runColumns+" FROM brine_runs WHERE jid = ?", jid)
	return out, err
}

// Open returns the jobs from one jid to another ("" is no bound) that have not
// come to their end, in order.
func (s *Store) Open(ctx context.Context, from, to string) ([]Run, error) {
	q, args := "SELECT "+runColumns+" FROM brine_runs WHERE ended = 0 AND jid >= ?", []any{from}
	if to != "" {
		q, args = q+" AND jid <= ?", append(args, to)
	}
	var out []Run
	err := s.query(ctx, func(rows *sql.Rows) error {
		r, err := scanRun(rows)
		out = append(out, r)
		return err
	}, q+" ORDER BY jid", args...)
	return out, err
}

// Job returns the orchestration of a jid as its controller recorded it; nil where
// there is none.
func (s *Store) Job(ctx context.Context, jid string) (*jobs.Job, error) {
	r, err := s.Run(ctx, jid)
	if err != nil || r == nil {
		return nil, err
	}
	j := jobs.NewJob(jid, r.Load)
	return j, s.Complete(ctx, j, r)
}

// Complete adds to a job what its controller recorded: how far it came, and the
// history of an orchestration.
func (s *Store) Complete(ctx context.Context, j *jobs.Job, r *Run) error {
	j.State, j.Where, j.Silence = r.State(), r.Where(), r.Silent
	if j.State == jobs.Interrupted && len(j.Outstanding()) == 0 && j.Returns.Len() > 0 {
		j.State = jobs.Complete // it returned, and died before it could say so
	}
	if j.State == jobs.Interrupted {
		j.EndTime = ""
	}
	notes, err := read(func(each func(*sql.Rows) error) error {
		return s.query(ctx, each, selectNotes, j.JID)
	})
	if err != nil {
		return err
	}
	j.Definition, j.Steps = definition(notes), steps(notes)
	for _, data := range passed(notes) {
		j.Pass(data)
	}
	return nil
}

const selectNotes = "SELECT n, data FROM brine_notes WHERE jid = ? ORDER BY n, part"

// A note is a part of the history of an orchestration.
type note struct {
	n    int
	text string
	data *value.Map // with note and data
}

// read reads the notes of an orchestration.
func read(query func(each func(*sql.Rows) error) error) ([]note, error) {
	var out []note
	err := query(func(rows *sql.Rows) error {
		var n int
		var text string
		if err := rows.Scan(&n, &text); err != nil {
			return err
		}
		if k := len(out) - 1; k >= 0 && out[k].n == n {
			out[k].text += text
		} else {
			out = append(out, note{n: n, text: text})
		}
		return nil
	})
	for i := range out {
		out[i].data = decode(out[i].text)
	}
	return out, err
}

// definition returns the last definition: a run that continues an orchestration
// has noted the earlier definition first, and then its own.
func definition(notes []note) (def *value.Map) {
	for _, n := range notes {
		if n.data.Str("note") == "definition" {
			def = n.data.Map("data")
		}
	}
	return def
}

// steps returns the steps in the order that they ended in; of one that there is
// twice, the last counts.
func steps(notes []note) []*value.Map {
	var out []*value.Map
	at := map[string]int{}
	for _, n := range notes {
		if n.data.Str("note") != "step" || n.data.Map("data") == nil {
			continue
		}
		step := n.data.Map("data")
		tag := step.Str("tag")
		if i, twice := at[tag]; twice {
			out[i] = step
			continue
		}
		at[tag] = len(out)
		out = append(out, step)
	}
	return out
}

// passed returns the targets on which the steps that run in waves succeeded:
// one entry for each step, in the order in which they began. A run that
// continues another has noted the other's entries again.
func passed(notes []note) []*value.Map {
	var out []*value.Map
	at := map[string]int{}
	seen := map[[2]string]bool{}
	for _, n := range notes {
		data := n.data.Map("data")
		if n.data.Str("note") != "passed" || data == nil {
			continue
		}
		tag, ids := data.Str("tag"), data.List("ids")
		i, there := at[tag]
		if !there {
			i = len(out)
			at[tag] = i
			out = append(out, value.MapOf("tag", tag, "ids", value.NewList()))
		}
		for k := range ids.Len() {
			if id := value.Str(ids.Items[k]); !seen[[2]string{tag, id}] {
				seen[[2]string{tag, id}] = true
				out[i].List("ids").Append(id)
			}
		}
	}
	return out
}

// Clean forgets jobs that were last heard of longer than keep ago, and locks that
// nobody holds.
func (s *Store) Clean(ctx context.Context, keep time.Duration) error {
	if !s.HasTables(ctx) {
		return nil
	}
	_, err := s.exec(ctx, "DELETE FROM brine_notes WHERE jid IN (SELECT jid FROM brine_runs WHERE beat < {now} - ?)", keep.Seconds())
	_, err2 := s.exec(ctx, "DELETE FROM brine_runs WHERE beat < {now} - ?", keep.Seconds())
	_, err3 := s.exec(ctx, "DELETE FROM brine_locks WHERE beat < {now} - ?", max(keep, time.Hour).Seconds())
	var err4 error
	if s.hasTurns(ctx) {
		_, err4 = s.exec(ctx, "DELETE FROM brine_turns WHERE beat < {now} - ?", max(keep, time.Hour).Seconds())
	}
	return errors.Join(err, err2, err3, err4)
}
