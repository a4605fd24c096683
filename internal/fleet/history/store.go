package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/migration"
	"brine/internal/py/value"
)

// A Store is a history in a database. As a jobs.Returner it takes the rows of a
// [Recorder], also more than once.
type Store struct {
	db *sql.DB
	d  Dialect
	// Alive says what became of an execution that has no end, as far as this machine
	// knows: see [Outcome]. nil: nothing is known.
	Alive func(ctx context.Context, e *Execution) Outcome
	// Waits reports whether an execution waits for the approval of a person; nil: none does.
	Waits func(jid string) bool
	close func() error
	file  *file // nil if it is not a file of this machine
}

// An Outcome is what became of an execution without an end.
type Outcome struct {
	Status string
	Signal int
	At     time.Time // zero: nobody knows
}

// New returns the history in a database. What ends the database, ends it; close is
// called by Close.
func New(db *sql.DB, d Dialect, close func() error) *Store { return &Store{db: db, d: d, close: close} }

// Close closes the database.
func (s *Store) Close() error { return s.close() }

// Database is the database, for what is kept beside the history. Close ends it.
func (s *Store) Database() (*sql.DB, migration.Dialect) { return s.db, migration.Dialect(s.d) }

// Create makes the tables where they are missing, and brings those of an older brine up
// to date. A [migration.NewerError] says that they are those of a newer one.
func (s *Store) Create(ctx context.Context) error {
	return s.d.tables().Create(ctx, s.db, migration.Dialect(s.d))
}

// maxRows bounds a statement: databases bound its parameters.
const maxRows = 50

// Return stores rows of a Recorder, in one transaction.
func (s *Store) Return(ctx context.Context, rows []*value.Map) error {
	return s.file.checked(s.store(ctx, rows))
}

func (s *Store) store(ctx context.Context, rows []*value.Map) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	w := &writer{d: s.d, run: func(query string, args ...any) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	}}
	for _, r := range rows {
		if err := known(r); err != nil {
			return err
		}
		switch r.Str("kind") {
		case "begin":
			w.begin(r)
		case "step":
			w.step(r)
		case "host":
			w.host(r)
		case "end":
			w.end(r)
		}
	}
	w.flush()
	if w.err != nil {
		return w.err
	}
	return tx.Commit()
}

// A writer stores rows of one transaction; its first fault ends it.
type writer struct {
	run      func(query string, args ...any) error
	d        Dialect
	err      error
	hosts    [][]any
	affected int64 // rows of the last statement, where somebody asks
}

func (w *writer) exec(query string, args ...any) {
	if w.err == nil {
		w.err = w.run(query, args...)
	}
}

// insert stores rows of a table.
func (w *writer) insert(t *table, replace bool, rows [][]any) {
	for len(rows) > 0 {
		n := min(len(rows), maxRows)
		var args []any
		for _, r := range rows[:n] {
			args = append(args, r...)
		}
		w.exec(t.insert(w.d, n, replace), args...)
		rows = rows[n:]
	}
}

func (w *writer) begin(r *value.Map) {
	d := r.Map("definition")
	hash := d.Str("hash")
	w.insert(&states, false, [][]any{states.values(map[string]any{
		"hash": hash, "kind": d.Str("kind"), "name": d.Str("name"), "description": d.Str("description"), "source": d.Str("source"), "created": d.Str("created"),
	})})
	l := d.List("steps")
	var rows [][]any
	for i := range l.Len() {
		m, ok := l.Items[i].(*value.Map)
		if !ok {
			continue
		}
		rows = append(rows, steps.values(map[string]any{
			"hash": hash, "step_order": i + 1, "step_id": m.Str("id"), "label": m.Str("label"), "fun": m.Str("fun"), "tgt": m.Str("tgt"), "action_id": m.Str("action_id"),
			"args": string(value.StrictJSON(m.At("args"))),
		}))
	}
	w.insert(&steps, false, rows)
	w.insert(&executions, false, [][]any{executions.values(map[string]any{
		"jid": r.Str("jid"), "hash": hash, "kind": d.Str("kind"), "name": d.Str("name"), "user_name": r.Str("user"), "controller": r.Str("controller"), "cache": r.Str("cache"),
		"pid": number(r, "pid"), "started": r.Str("started"), "status": Running, "test": truth(r.At("test")), "resumes": r.Str("resumes"), "parent": r.Str("parent"),
		"revision": r.Str("revision"), "pillar": r.Str("pillar"), "steps": l.Len(), "program": r.Str("program"),
		"run_limit": short(r.Str("limit"), maxLimit),
	})})
}

func (w *writer) step(r *value.Map) {
	w.flush()
	jid, order := r.Str("jid"), number(r, "order")
	w.insert(&executionSteps, true, [][]any{executionSteps.values(map[string]any{
		"jid": jid, "step_order": order, "step_id": r.Str("step"), "fun": r.Str("fun"), "action_id": r.Str("action_id"), "step_jid": r.Str("step_jid"), "result": r.Str("result"),
		"started": r.Str("started"), "duration": float(r, "duration"), "comment": r.Str("comment"), "tgt": r.Str("tgt"), "pillar": r.Str("pillar"),
	})})
	w.assign(jid, order, r.List("jids"))
	w.assign(jid, -order, r.List("tries"))
	w.counts(r, jid)
}

// assign stores which step the results of jobs belong to; below 0 they are those of
// its earlier tries.
func (w *writer) assign(jid string, order int64, steps *value.List) {
	if steps.Len() == 0 {
		return
	}
	args := []any{order, jid}
	for _, v := range steps.Items {
		args = append(args, value.Str(v))
	}
	w.exec(fmt.Sprintf("UPDATE %s SET step_order = %s WHERE jid = %s AND step_jid IN %s", executionHosts.name, w.d.Mark(1), w.d.Mark(2), w.d.marks(2, steps.Len())), args...)
}

// counts stores how far an execution came.
func (w *writer) counts(r *value.Map, jid string) {
	w.exec(fmt.Sprintf("UPDATE %s SET steps_done = %s, steps_failed = %s, hosts = %s WHERE jid = %s", executions.name, w.d.Mark(1), w.d.Mark(2), w.d.Mark(3), w.d.Mark(4)),
		number(r, "done"), number(r, "failed"), number(r, "hosts"), jid)
}

func (w *writer) host(r *value.Map) {
	detail := ""
	if m := r.Map("detail"); m.Len() > 0 {
		detail = string(value.StrictJSON(m))
	}
	w.hosts = append(w.hosts, executionHosts.values(map[string]any{
		"jid": r.Str("jid"), "step_jid": r.Str("step_jid"), "host": r.Str("host"), "step_order": 0, "result": r.Str("result"), "duration": float(r, "duration"),
		"changed": number(r, "changed"), "ended": r.Str("ended"), "detail": detail,
	}))
}

// flush stores the hosts that wait. The step that they belong to is stored after
// them. Of a host that comes twice the last row counts, as a statement takes one.
func (w *writer) flush() {
	last := map[[3]string]int{}
	var rows [][]any
	for _, r := range w.hosts {
		key := [3]string{r[0].(string), r[1].(string), r[2].(string)}
		if i, twice := last[key]; twice {
			rows[i] = r
			continue
		}
		last[key] = len(rows)
		rows = append(rows, r)
	}
	w.insert(&executionHosts, true, rows)
	w.hosts = nil
}

func (w *writer) end(r *value.Map) {
	w.flush()
	jid := r.Str("jid")
	w.counts(r, jid)
	w.exec(fmt.Sprintf("UPDATE %s SET status = %s, ended = %s WHERE jid = %s", executions.name, w.d.Mark(1), w.d.Mark(2), w.d.Mark(3)), r.Str("status"), r.Str("ended"), jid)
}

func number(m *value.Map, key string) int64 {
	n, _ := value.AsInt(m.At(key))
	return n
}

func float(m *value.Map, key string) float64 {
	f, err := value.ToFloat(m.At(key))
	if err != nil {
		return 0
	}
	return f
}

func truth(v value.Value) int {
	if value.Truth(v) {
		return 1
	}
	return 0
}

// cleanChunk is how many executions one transaction of a clean-up takes.
const cleanChunk = 50

// Clean forgets executions older than keep, and then definitions that nothing
// executed. Nothing is put aside.
func (s *Store) Clean(ctx context.Context, keep time.Duration, _ bool) error {
	old := jobs.JIDAt(time.Now().Add(-keep))
	for {
		var jids []any
		err := s.rows(ctx, func(r *sql.Rows) error {
			var jid string
			err := r.Scan(&jid)
			jids = append(jids, jid)
			return err
		}, fmt.Sprintf("SELECT jid FROM %s WHERE jid < %s ORDER BY jid LIMIT %d", executions.name, s.d.Mark(1), cleanChunk), old)
		if err != nil {
			return err
		}
		if len(jids) == 0 {
			break
		}
		if err := s.forget(ctx, jids); err != nil {
			return err
		}
	}
	for _, t := range []*table{&steps, &states} {
		q := fmt.Sprintf("DELETE FROM %s WHERE NOT EXISTS (SELECT 1 FROM %s e WHERE e.hash = %s.hash)", t.name, executions.name, t.name)
		if _, err := s.db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) forget(ctx context.Context, jids []any) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	for _, t := range []*table{&executionHosts, &executionSteps, &executions} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+t.name+" WHERE jid IN "+s.d.marks(0, len(jids)), jids...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// rows calls each for the rows of a query.
func (s *Store) rows(ctx context.Context, each func(*sql.Rows) error, query string, args ...any) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return s.file.checked(err)
	}
	for rows.Next() {
		if err := each(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return s.file.checked(errors.Join(rows.Err(), rows.Close()))
}
