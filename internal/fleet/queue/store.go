package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/internal/fleet/migration"
)

// A Store is a queue in a database. It is safe for concurrent use.
type Store struct {
	db    *sql.DB
	d     Dialect
	close func() error
}

// New returns the queue in a database. close is called by Close.
func New(db *sql.DB, d Dialect, close func() error) *Store {
	return &Store{db: db, d: d, close: close}
}

// Close closes the database.
func (s *Store) Close() error { return s.close() }

// Ping returns an error where the database does not answer.
func (s *Store) Ping(ctx context.Context) error { return s.db.PingContext(ctx) }

// Create makes the tables where they are missing, and brings those of an older brine up
// to date. A [migration.NewerError] says that they are those of a newer one.
func (s *Store) Create(ctx context.Context) error {
	for _, t := range []*migration.Tables{s.d.tables(), s.d.scheduleTables(), s.d.sinkTables(), s.d.approvalTables()} {
		if err := t.Create(ctx, s.db, migration.Dialect(s.d)); err != nil {
			return err
		}
	}
	return nil
}

var (
	// ErrExists is returned by [Store.Put] where the jid is taken.
	ErrExists = errors.New("the queue has an entry with this jid")
	// ErrLost is returned (wrapped) for a claim that another worker may have by now.
	ErrLost = errors.New("the lease of the entry has ended")
	// ErrNone is returned (wrapped) where the queue has no such entry.
	ErrNone = errors.New("no such entry")
)

// A querier is a database or one of its transactions.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// exec runs a statement and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, q querier, query string, args ...any) (int64, error) {
	res, err := q.ExecContext(ctx, s.d.bind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Put adds an entry, which may run at once: its JID, Queue, User, Controller and
// Work.
func (s *Store) Put(ctx context.Context, e *Entry) error {
	payload, err := e.Work.Encode()
	if err != nil {
		return err
	}
	e.Version, e.SLS = e.Work.version(), e.Work.Names()
	if err := e.check(payload, int64(len(payload))); err != nil {
		return err
	}
	now := s.d.now()
	_, err = s.exec(ctx, s.db, "INSERT INTO "+table+" (jid, queue, version, state, sls, user_name, controller, payload, created, due, started, ended, "+
		"worker, tries, failures, runs, error, retcode, wish) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "+now+", "+now+", 0, 0, '', 0, 0, '', '', 0, '')",
		e.JID, e.Queue, e.Version, Queued, e.SLS, e.User, cut(e.Controller, maxText), payload)
	if err == nil {
		return nil
	}
	// The answer may have been lost on its way, after the row was stored.
	var there, from string
	row := s.db.QueryRowContext(ctx, s.d.bind("SELECT payload, controller FROM "+table+" WHERE jid = ?"), e.JID)
	switch {
	case row.Scan(&there, &from) != nil:
		return err
	case there == payload && from == cut(e.Controller, maxText):
		return nil
	}
	return ErrExists
}

// A Claim is what a worker asks for.
type Claim struct {
	Queue  string
	Worker string        // a name that no other worker has
	Lease  time.Duration // until another worker may claim the entry
	// MaxCrashes is how many workers may end with an entry before it is set aside.
	MaxCrashes int
	NewJID     func() string // of a run after the first claim
}

// maxSetAside bounds how many entries one Take sets aside.
const maxSetAside = 100

// Take claims the entry of a queue that has waited longest; nil if there is
// none. Entries that may not run are set aside: setAside is called for each,
// with its new State and its Error.
func (s *Store) Take(ctx context.Context, c Claim, setAside func(*Entry)) (*Entry, error) {
	for range maxSetAside {
		e, err := s.take(ctx, c)
		if err != nil || e == nil || e.State == Running {
			return e, err
		}
		if e.State != Queued { // another worker was first
			setAside(e)
		}
	}
	return nil, nil
}

// take claims one entry, sets one aside, or returns it as Queued where another
// worker was faster.
func (s *Store) take(ctx context.Context, c Claim) (*Entry, error) {
	if s.d == SQLite { // one writer at a time; claim compares before it writes
		return s.claim(ctx, s.db, c, "")
	}
	tx, err := s.db.BeginTx(ctx, s.isolation())
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	e, err := s.claim(ctx, tx, c, " FOR UPDATE SKIP LOCKED")
	if err != nil {
		return nil, err
	}
	return e, tx.Commit()
}

// inTurn is the condition that no entry of the same lane comes before an entry.
const inTurn = "(lane = '' OR NOT EXISTS (SELECT 1 FROM " + table + " earlier WHERE earlier.lane = " + table + ".lane AND earlier.due < " + never +
	" AND earlier.queue = " + table + ".queue AND (earlier.created < " + table + ".created OR earlier.created = " + table + ".created AND earlier.jid < " + table + ".jid)))"

func (s *Store) claim(ctx context.Context, q querier, c Claim, lock string) (*Entry, error) {
	// A payload that is too large is not even read.
	where := fmt.Sprintf("queue = ? AND %s AND state IN ('%s', '%s') AND due <= %s AND %s ORDER BY due, jid LIMIT 1%s", versions, Queued, Running, s.d.now(), inTurn, lock)
	var payload string
	var size int64
	found, err := s.read(ctx, q, fmt.Sprintf(", CASE WHEN OCTET_LENGTH(payload) > %d THEN '' ELSE payload END, OCTET_LENGTH(payload)", MaxPayload), where, []any{&payload, &size}, c.Queue)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	e := found[0]
	was, tries := e.State, e.Tries
	switch err := e.check(payload, size); {
	case err != nil:
		e.State, e.Error = Refused, "the entry is not valid: "+err.Error()
	case e.Requested == RequestCancel:
		e.State, e.Error = Cancelled, "it was cancelled, and its worker died"
	case was == Running && e.Work.Event != nil:
		e.State, e.Error = Poisoned, fmt.Sprintf("the worker %s died with it, and what it had called may have run", e.Worker)
	case was == Running && e.Crashes() >= c.MaxCrashes:
		e.State, e.Error = Poisoned, fmt.Sprintf("%d workers died with it, the last one was %s", e.Crashes(), e.Worker)
	}
	if e.State != was {
		forget := ""
		if e.State == Cancelled {
			forget = ", payload = ''"
		}
		n, err := s.exec(ctx, q, "UPDATE "+table+" SET state = ?, error = ?, due = "+never+", ended = "+s.d.now()+forget+" WHERE jid = ? AND state = ? AND tries = ?",
			e.State, cut(e.Error, maxError), e.JID, was, tries)
		if n == 0 {
			e.State = Queued
		}
		return e, err
	}
	run := e.JID
	if !e.Started.IsZero() { // an earlier run had it, also where Runs were forgotten
		run = c.NewJID()
	}
	e.Runs = append(e.Runs[max(0, len(e.Runs)-maxRuns+1):], run)
	e.State, e.Worker = Running, c.Worker
	e.Tries++
	n, err := s.exec(ctx, q, "UPDATE "+table+" SET state = ?, worker = ?, tries = ?, runs = ?, due = "+s.d.now()+" + ?, started = "+s.d.now()+
		" WHERE jid = ? AND state = ? AND tries = ? AND due <= "+s.d.now(),
		Running, e.Worker, e.Tries, strings.Join(e.Runs, ","), c.Lease.Microseconds(), e.JID, was, tries)
	if n == 0 {
		e.State = Queued
	}
	return e, err
}

// mine is the condition that a worker still has an entry.
const mine = " WHERE jid = ? AND worker = ? AND tries = ? AND state = '" + Running + "'"

// Renew renews the lease of a claimed entry, and returns what is requested for
// it ([RequestCancel] or ""). It returns ErrLost if another worker may have the
// entry.
func (s *Store) Renew(ctx context.Context, e *Entry, lease time.Duration) (wish string, err error) {
	n, err := s.exec(ctx, s.db, "UPDATE "+table+" SET due = "+s.d.now()+" + ?"+mine, lease.Microseconds(), e.JID, e.Worker, e.Tries)
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", fmt.Errorf("%s: %w", e.JID, ErrLost)
	}
	err = s.db.QueryRowContext(ctx, s.d.bind("SELECT wish FROM "+table+" WHERE jid = ?"), e.JID).Scan(&wish)
	return wish, err
}

// An Outcome is how the run of a claimed entry ended.
type Outcome struct {
	State   string        // Queued: it is to run again, after Delay
	Delay   time.Duration // by the clock of the database
	Retcode int
	Error   string
	Failed  bool // the run came to its end and failed
	Uncount bool // the claim does not count as a try
	Unrun   bool // the run of the claim did not begin
}

// End gives a claimed entry back. The arguments of one that is done or cancelled
// are forgotten. It returns ErrLost where another worker may have the entry.
func (s *Store) End(ctx context.Context, e *Entry, o Outcome) error {
	tries, failures := e.Tries, e.Failures
	if o.Failed {
		failures++
	}
	if o.Uncount {
		tries--
	}
	runs := e.Runs
	if o.Unrun && len(runs) > 0 {
		runs = runs[:len(runs)-1]
	}
	set := "state = ?, retcode = ?, error = ?, tries = ?, failures = ?, runs = ?, ended = " + s.d.now()
	args := []any{o.State, o.Retcode, cut(o.Error, maxError), tries, failures, strings.Join(runs, ",")}
	if o.State == Queued {
		set += ", due = " + s.d.now() + " + ?"
		args = append(args, o.Delay.Microseconds())
	} else {
		set += ", due = " + never
	}
	if o.State == Done || o.State == Cancelled {
		set += ", payload = ''"
	}
	n, err := s.exec(ctx, s.db, "UPDATE "+table+" SET "+set+mine, append(args, e.JID, e.Worker, e.Tries)...)
	if err == nil && n == 0 {
		err = fmt.Errorf("%s: %w", e.JID, ErrLost)
	}
	return err
}
