package queue

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/internal/core/printable"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// An Event is what an entry reacts to.
type Event struct {
	Tag  string
	Data *value.Map
	// Cause are the entries whose reactions led to it, the oldest first.
	Cause []string
}

// Limits of an event.
const (
	maxTag = 1024
	// MaxCause bounds how many reactions may lead to an event.
	MaxCause = 100
)

// encode writes an event as the JSON that a queue has.
func (e *Event) encode() (string, error) {
	m := value.MapOf("tag", e.Tag, "data", e.Data)
	if len(e.Cause) > 0 {
		m.Set("cause", value.Strings(e.Cause...))
	}
	b, err := value.AppendJSON(nil, value.MapOf("event", m), value.JSONOptions{Repr: true, Strict: true, SkipKeys: true, EscapeNonASCII: true})
	if err != nil {
		return "", err
	}
	if len(b) > MaxPayload {
		return "", fmt.Errorf("the event takes %d bytes, and an entry of a queue may have %d", len(b), MaxPayload)
	}
	_, err = ParseWork(string(b))
	return string(b), err
}

// parseEvent reads an event that somebody else wrote, and checks it.
func parseEvent(v value.Value) (*Event, error) {
	m, ok := v.(*value.Map)
	if !ok {
		return nil, errors.New("its event is not a mapping")
	}
	e := &Event{Tag: m.Str("tag")}
	if e.Tag == "" || len(e.Tag) > maxTag || printable.Line(e.Tag) != e.Tag {
		return nil, errors.New("the tag of its event is not valid")
	}
	if e.Data, ok = m.At("data").(*value.Map); !ok {
		return nil, errors.New("the data of its event is not a mapping")
	}
	if v := m.At("cause"); v != nil {
		if e.Cause, ok = CauseOf(v); !ok {
			return nil, errors.New("the cause of its event is not a list of jids")
		}
	}
	return e, nil
}

// CauseOf reads the entries that led to an event; ok is whether it is a list of jids.
func CauseOf(v value.Value) (cause []string, ok bool) {
	cause, ok = texts(v)
	if !ok || len(cause) > MaxCause || slices.ContainsFunc(cause, func(jid string) bool { return !jobs.IsJID(jid) }) {
		return nil, false
	}
	return cause, true
}

// Key is a key of a table that is made of texts.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// An Arrival is an event that a worker heard and that something reacts to.
type Arrival struct {
	Key string // of the event: who hears the same one has the same key
	// Same is the key of the events that one entry can stand for while it waits; "": there
	// are none.
	Same string
	// Refuse says why nothing is to react; "": it is.
	Refuse string
	// Late says that it is too old for a reaction: unless it is known, it is not taken.
	Late bool
	// MaxWaiting is how many events may wait in the queue.
	MaxWaiting int
}

// Decision is what became of an event.
type Decision int

// Decisions.
const (
	Added    Decision = iota // it is an entry of its own
	Known                    // another worker, or this one, had brought it
	Joined                   // an entry that waits stands for it, too
	NotTaken                 // too many wait, or it is late
	Declined                 // it is an entry that is refused
)

// Bring puts an event into a queue, once however many workers bring it: e has its JID,
// Queue, User, Controller and Work.
func (s *Store) Bring(ctx context.Context, e *Entry, a Arrival) (decision Decision, err error) {
	const tries = 5
	for n := range tries { // databases end transactions that wait for each other
		if decision, err = s.bring(ctx, e, a); err == nil || ctx.Err() != nil || n == tries-1 {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond << n):
		}
	}
	return decision, err
}

func (s *Store) bring(ctx context.Context, e *Entry, a Arrival) (Decision, error) {
	payload, err := e.Work.Encode()
	if err != nil {
		return 0, err
	}
	e.Version, e.SLS = EventVersion, e.Work.Names()
	if err := e.check(payload, int64(len(payload))); err != nil {
		return 0, err
	}
	tx, err := s.db.BeginTx(ctx, s.isolation())
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	decision, err := s.bringIn(ctx, tx, e, a, payload)
	if err != nil || decision == Known {
		return decision, err
	}
	return decision, tx.Commit()
}

// isolation is that of transactions: MySQL locks gaps otherwise.
func (s *Store) isolation() *sql.TxOptions {
	if s.d == SQLite {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
}

// bringIn does what Bring does, in a transaction.
func (s *Store) bringIn(ctx context.Context, tx *sql.Tx, e *Entry, a Arrival, payload string) (Decision, error) {
	begins, ends := s.d.insertNew()
	key := Key(e.Queue, a.Key)
	n, err := s.exec(ctx, tx, begins+eventTable+" (event, queue, same, jid, cause, created) VALUES (?, ?, ?, ?, ?, "+s.d.now()+")"+ends,
		key, e.Queue, a.Same, e.JID, strings.Join(e.Work.Event.Cause, ","))
	if err != nil || n == 0 {
		return Known, err
	}
	notTaken := func(err error) (Decision, error) {
		_, uerr := s.exec(ctx, tx, "UPDATE "+eventTable+" SET jid = '' WHERE event = ?", key)
		return NotTaken, errors.Join(err, uerr)
	}
	if a.Late {
		return notTaken(nil)
	}
	if a.Refuse != "" {
		return Declined, s.insertEvent(ctx, tx, e, payload, Refused, a.Refuse)
	}
	if a.Same != "" {
		jid, err := s.sameWaits(ctx, tx, e.Queue, a.Same, key)
		if err != nil {
			return 0, err
		}
		if jid != "" {
			_, err = s.exec(ctx, tx, "UPDATE "+eventTable+" SET jid = ? WHERE event = ?", jid, key)
			return Joined, err
		}
	}
	if full, err := s.full(ctx, tx, e.Queue, a.MaxWaiting); err != nil || full {
		return notTaken(err)
	}
	return Added, s.insertEvent(ctx, tx, e, payload, Queued, "")
}

// sameWaits returns the entry that waits and can stand for an event; "": there is none. No
// worker takes it before the transaction ends.
func (s *Store) sameWaits(ctx context.Context, tx *sql.Tx, queue, same, key string) (jid string, err error) {
	lock := " FOR UPDATE"
	if s.d == SQLite { // the transaction has written, so no other one can
		lock = ""
	}
	err = tx.QueryRowContext(ctx, s.d.bind("SELECT entry.jid FROM "+eventTable+" event JOIN "+table+" entry ON entry.jid = event.jid WHERE event.same = ? AND event.queue = ? AND event.event <> ?"+
		" AND entry.state = '"+Queued+"' AND entry.tries = 0 ORDER BY entry.jid LIMIT 1"+lock), same, queue, key).Scan(&jid)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return jid, err
}

// full reports whether as many events wait as may.
func (s *Store) full(ctx context.Context, tx *sql.Tx, queue string, most int) (bool, error) {
	var n int
	err := tx.QueryRowContext(ctx, s.d.bind(fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE queue = ? AND due < %s AND version = %d", table, never, EventVersion)), queue).Scan(&n)
	return n >= most, err
}

// noted is the jid of an event that was not taken, once an entry says so.
const noted = "-"

// NoteNotTaken records that events were not taken, as an entry that is refused and cannot be
// retried: those of keys, of [Arrival], or without keys those that no entry says so of for longer
// than a time, since their worker has died. e is as for [Store.Lost]. Each event is counted
// once, and n is their number.
func (s *Store) NoteNotTaken(ctx context.Context, e *Entry, keys []string, longer time.Duration, why func(n int64) string) (n int64, err error) {
	e.Work = &Work{Event: &Event{Tag: e.SLS, Data: value.NewMap(0)}}
	err = s.again(ctx, func(tx *sql.Tx) error {
		n = 0
		const note = "UPDATE " + eventTable + " SET jid = '" + noted + "' WHERE queue = ? AND jid = ''"
		if keys == nil {
			if n, err = s.exec(ctx, tx, note+" AND event <> ? AND created < "+s.d.now()+" - ?", e.Queue, Key(e.Queue, "sole"), longer.Microseconds()); err != nil {
				return err
			}
		}
		for part := range slices.Chunk(keys, maxIDs) {
			args := []any{e.Queue}
			for _, key := range part {
				args = append(args, Key(e.Queue, key))
			}
			changed, err := s.exec(ctx, tx, note+" AND event IN (?"+strings.Repeat(", ?", len(part)-1)+")", args...)
			if err != nil {
				return err
			}
			n += changed
		}
		if n == 0 {
			return nil
		}
		return s.insertEvent(ctx, tx, e, "", Refused, why(n))
	})
	return n, err
}

// insertEvent adds the entry of an event, behind those of its lane.
func (s *Store) insertEvent(ctx context.Context, tx *sql.Tx, e *Entry, payload, state, why string) error {
	e.Version = EventVersion
	return s.insert(ctx, tx, e, payload, Key(e.Queue, e.Work.Event.Tag), state, why)
}

// insert adds an entry behind those of a lane.
func (s *Store) insert(ctx context.Context, tx *sql.Tx, e *Entry, payload, lane, state, why string) error {
	var at int64
	err := tx.QueryRowContext(ctx, s.d.bind("SELECT "+s.d.greatest(s.d.now(), "COALESCE(MAX(created) + 1, 0)")+" FROM "+table+" WHERE lane = ? AND due < "+never), lane).Scan(&at)
	if err != nil {
		return err
	}
	due, ended := at, int64(0)
	if state != Queued {
		due, ended = neverDue, at
	}
	_, err = s.exec(ctx, tx, "INSERT INTO "+table+" (jid, queue, version, state, sls, user_name, controller, payload, created, due, started, ended, "+
		"worker, tries, failures, runs, error, retcode, wish, lane) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, '', 0, 0, '', ?, 0, '', ?)",
		e.JID, e.Queue, e.Version, state, e.SLS, e.User, cut(e.Controller, maxText), payload, at, due, ended, cut(why, maxError), lane)
	return err
}

// Lost records events that nobody reacts to, as an entry that is refused and that cannot
// be retried: e has its JID, Queue, User, Controller and the tag as SLS.
func (s *Store) Lost(ctx context.Context, e *Entry, why string) error {
	e.Work = &Work{Event: &Event{Tag: e.SLS, Data: value.NewMap(0)}}
	tx, err := s.db.BeginTx(ctx, s.isolation())
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := s.insertEvent(ctx, tx, e, "", Refused, why); err != nil {
		return err
	}
	return tx.Commit()
}

// soleFor is how long a worker alone brings the events that cannot be told apart, after
// each of them.
const soleFor = 15 * time.Second

// Sole reports whether a worker is the only one that is to bring events which others hear
// as well and cannot recognize: the first who asks is, until it has not asked for a while.
func (s *Store) Sole(ctx context.Context, queue, worker string) (bool, error) {
	key, name := Key(queue, "sole"), Key(worker)
	begins, ends := s.d.insertNew()
	if _, err := s.exec(ctx, s.db, begins+eventTable+" (event, queue, same, jid, cause, created) VALUES (?, ?, '', '', '', 0)"+ends, key, queue); err != nil {
		return false, err
	}
	n, err := s.exec(ctx, s.db, "UPDATE "+eventTable+" SET same = ?, created = "+s.d.now()+" + ? WHERE event = ? AND (same = ? OR created < "+s.d.now()+")",
		name, soleFor.Microseconds(), key, name)
	return n > 0, err
}

// reachedRow is the row of eventTable that has how far the events of a stream were brought, in
// created; [Store.Clean] leaves it.
const reachedRow = "reached"

// Reach notes that a worker has brought all events that a stream had until a time. Who is
// behind others changes nothing.
func (s *Store) Reach(ctx context.Context, queue string, at time.Time) error {
	key := Key(queue, reachedRow)
	begins, ends := s.d.insertNew()
	if _, err := s.exec(ctx, s.db, begins+eventTable+" (event, queue, same, jid, cause, created) VALUES (?, ?, '"+reachedRow+"', '"+noted+"', '', 0)"+ends, key, queue); err != nil {
		return err
	}
	_, err := s.exec(ctx, s.db, "UPDATE "+eventTable+" SET created = ? WHERE event = ? AND created < ?", at.UnixMicro(), key, at.UnixMicro())
	return err
}

// Reached returns until when all events of a stream were brought into a queue; zero: it is not
// known. It is by the clock of the stream, and does not move with what else comes into the
// queue: workers may be behind the stream by more than any pause between events.
func (s *Store) Reached(ctx context.Context, queue string) (time.Time, error) {
	var at int64
	err := s.db.QueryRowContext(ctx, s.d.bind("SELECT created FROM "+eventTable+" WHERE event = ?"), Key(queue, reachedRow)).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil || at == 0 {
		return time.Time{}, err
	}
	return time.UnixMicro(at).UTC(), nil
}

// A Link is an entry of a chain of causes.
type Link struct {
	JID   string
	Entry *Entry // nil: it was removed
}

// Trace returns the entries whose reactions led to the event of an entry, the oldest
// first, and those that its own reactions led to. It returns ErrNone where no event
// became the entry.
func (s *Store) Trace(ctx context.Context, jid string) (before, after []Link, err error) {
	var text string
	err = s.db.QueryRowContext(ctx, s.d.bind("SELECT cause FROM "+eventTable+" WHERE jid = ? ORDER BY created LIMIT 1"), jid).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, fmt.Errorf("%s: %w", jid, ErrNone)
	}
	if err != nil {
		return nil, nil, err
	}
	var earlier []string
	if text != "" {
		earlier = strings.Split(text, ",")
	}
	later, err := s.jids(ctx, "SELECT DISTINCT jid FROM "+eventTable+" WHERE cause LIKE ? AND jid NOT IN ('', '"+noted+"') ORDER BY jid LIMIT 1000", "%"+jid+"%")
	if err != nil {
		return nil, nil, err
	}
	if before, err = s.links(ctx, earlier); err != nil {
		return nil, nil, err
	}
	after, err = s.links(ctx, later)
	return before, after, err
}

// jids returns the jids that a query finds.
func (s *Store) jids(ctx context.Context, query string, args ...any) (out []string, err error) {
	rows, err := s.db.QueryContext(ctx, s.d.bind(query), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var jid string
		if err := rows.Scan(&jid); err != nil {
			return nil, err
		}
		out = append(out, jid)
	}
	return out, rows.Err()
}

// links returns the entries of jids.
func (s *Store) links(ctx context.Context, jids []string) ([]Link, error) {
	var out []Link
	for _, jid := range jids {
		e, err := s.Entry(ctx, jid)
		if err != nil && !errors.Is(err, ErrNone) {
			return nil, err
		}
		out = append(out, Link{jid, e})
	}
	return out, nil
}
