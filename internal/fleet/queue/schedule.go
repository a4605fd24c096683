package queue

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// What a schedule does if its last run has not ended.
const (
	OverlapSkip  = "skip"  // it leaves the time out
	OverlapQueue = "queue" // it runs afterwards
)

// What a schedule does with a time at which no worker was there.
const (
	MissedSkip = "skip" // it leaves the time out
	MissedRun  = "run"  // it runs once, late
)

// A Schedule is work that becomes an entry of a queue again and again.
type Schedule struct {
	Name, Queue      string
	Work             *Work // nil where it is not valid
	Version          int
	Recurrence, Zone string
	Jitter           time.Duration
	Overlap, Missed  string
	Paused           bool
	User, Controller string // who made it, and where
	Created          time.Time
	Planned, Due     time.Time // the next time, and that with its jitter; zero: there is none
	Last             time.Time // that became an entry
	LastJID          string
	Skipped          time.Time // that did not become one
	Why              string
	Skips            int

	Result *Entry // that of LastJID; nil: there is none any more
}

// Limits of schedules.
const (
	// MaxJitter bounds the jitter.
	MaxJitter = 24 * time.Hour
	// maxBehind is how many entries of a schedule may wait.
	maxBehind = 10
	// maxDueSchedules bounds how many schedules are looked at at once.
	maxDueSchedules = 100
)

// Supported reports whether this program knows how to run the work.
func (x *Schedule) Supported() bool {
	return x.Version == Version || x.Version == ChainVersion || x.Version == TemplateVersion
}

// lane is that of the entries of a schedule, which do not run at once.
func (x *Schedule) lane() string { return Key(x.Queue, "schedule", x.Name) }

// DueAt is when a time of the schedule is due: all workers draw the same jitter.
func (x *Schedule) DueAt(planned time.Time) time.Time {
	if x.Jitter <= 0 || planned.IsZero() {
		return planned
	}
	sum := sha256.Sum256([]byte(x.Name + "\x00" + strconv.FormatInt(planned.UnixMicro(), 10)))
	drawn := time.Duration(binary.BigEndian.Uint32(sum[:])) % (x.Jitter/time.Second + 1)
	return planned.Add(drawn * time.Second)
}

// Now is the time of the database.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var at int64
	err := s.db.QueryRowContext(ctx, "SELECT "+s.d.now()).Scan(&at)
	return moment(at), err
}

// AddSchedule adds a schedule, of which all but its last run is given. It returns ErrExists
// where the name is taken.
func (s *Store) AddSchedule(ctx context.Context, x *Schedule) error {
	payload, err := x.Work.Encode()
	if err != nil {
		return err
	}
	begins, ends := s.d.insertNew()
	n, err := s.exec(ctx, s.db, begins+scheduleTable+" (name, queue, version, payload, recurrence, zone, jitter, overlap, missed, paused, user_name, controller, created, planned, due, "+
		"last, last_jid, skipped, why, skips) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, 0, '', 0, '', 0)"+ends,
		x.Name, x.Queue, x.Work.version(), payload, x.Recurrence, x.Zone, x.Jitter.Microseconds(), x.Overlap, x.Missed, x.User, cut(x.Controller, maxText),
		x.Created.UnixMicro(), micros(x.Planned), micros(x.Due))
	if err == nil && n == 0 {
		err = ErrExists
	}
	return err
}

// micros is a time as the database has it; never, for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return neverDue
	}
	return t.UnixMicro()
}

// Schedules returns all schedules, or the one with a name, with the results of their last
// runs.
func (s *Store) Schedules(ctx context.Context, name string) ([]*Schedule, error) {
	where, args := "name <> ''", []any(nil)
	if name != "" {
		where, args = "name = ?", []any{name}
	}
	all, err := s.schedules(ctx, where+" ORDER BY name", args...)
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if x.LastJID == "" {
			continue
		}
		if x.Result, err = s.Entry(ctx, x.LastJID); err != nil && !errors.Is(err, ErrNone) {
			return nil, err
		}
	}
	return all, nil
}

// DueSchedules returns the schedules of a queue that are due.
func (s *Store) DueSchedules(ctx context.Context, queue string) ([]*Schedule, error) {
	return s.schedules(ctx, fmt.Sprintf("queue = ? AND %s AND paused = 0 AND due <= %s ORDER BY due, name LIMIT %d", versions, s.d.now(), maxDueSchedules), queue)
}

// schedules returns the schedules of a condition.
func (s *Store) schedules(ctx context.Context, where string, args ...any) (out []*Schedule, err error) {
	query := fmt.Sprintf("SELECT name, queue, version, CASE WHEN OCTET_LENGTH(payload) > %d THEN '' ELSE payload END, recurrence, zone, jitter, overlap, missed, paused, "+
		"user_name, controller, created, planned, due, last, last_jid, skipped, why, skips FROM %s WHERE %s", MaxPayload, scheduleTable, where)
	rows, err := s.db.QueryContext(ctx, s.d.bind(query), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		x, err := scanSchedule(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

// scanSchedule reads a row, which somebody else may have written.
func scanSchedule(rows *sql.Rows) (*Schedule, error) {
	x := &Schedule{}
	var payload string
	var jitter, paused, created, planned, due, last, skipped int64
	if err := rows.Scan(&x.Name, &x.Queue, &x.Version, &payload, &x.Recurrence, &x.Zone, &jitter, &x.Overlap, &x.Missed, &paused,
		&x.User, &x.Controller, &created, &planned, &due, &last, &x.LastJID, &skipped, &x.Why, &x.Skips); err != nil {
		return nil, err
	}
	if w, err := ParseWork(payload); err == nil && w.version() == x.Version {
		x.Work = w
	}
	if jitter >= 0 && jitter <= MaxJitter.Microseconds() {
		x.Jitter = time.Duration(jitter) * time.Microsecond
	}
	x.Paused = paused != 0
	x.Created, x.Planned, x.Due, x.Last, x.Skipped = moment(created), moment(planned), moment(due), moment(last), moment(skipped)
	for _, text := range []*string{&x.User, &x.Controller, &x.Why} {
		*text = cut(*text, maxError)
	}
	return x, nil
}

// RemoveSchedule removes a schedule. What it has put into the queue stays there. It returns
// ErrNone (wrapped) where there is none.
func (s *Store) RemoveSchedule(ctx context.Context, name string) error {
	n, err := s.exec(ctx, s.db, "DELETE FROM "+scheduleTable+" WHERE name = ?", name)
	return someSchedule(n, err, name)
}

// PauseSchedule keeps a schedule from being due until [Store.ResumeSchedule].
func (s *Store) PauseSchedule(ctx context.Context, name string) error {
	// MySQL does not count rows that stay as they are.
	n, err := s.exec(ctx, s.db, "UPDATE "+scheduleTable+" SET paused = paused + 1 WHERE name = ?", name)
	return someSchedule(n, err, name)
}

// ResumeSchedule ends the pause of a schedule, whose next time is planned, with its jitter
// due.
func (s *Store) ResumeSchedule(ctx context.Context, name string, planned, due time.Time) error {
	n, err := s.exec(ctx, s.db, "UPDATE "+scheduleTable+" SET paused = 0, planned = ?, due = ? WHERE name = ? AND paused <> 0", micros(planned), micros(due), name)
	return someSchedule(n, err, name)
}

// someSchedule is ErrNone where no row was changed.
func someSchedule(n int64, err error, name string) error {
	if err == nil && n == 0 {
		err = fmt.Errorf("schedule %s: %w", name, ErrNone)
	}
	return err
}

// A Firing is what becomes of the times of a schedule that have come.
type Firing struct {
	Time          time.Time // the newest of them
	Skip          string    // why it does not become an entry; "": it does
	Missed        int       // how many came before
	WhyMissed     string
	Planned, Due  time.Time // the next one
	JID           string    // of the entry
	MayHaveBehind bool      // entries of the schedule may wait for each other
}

// Fired is what became of a firing.
type Fired struct {
	Known bool   // another worker did it, or the schedule was changed
	Entry *Entry // nil: there is none
	Skip  string // why not
}

// Fire puts the entry of a schedule into its queue, once for each of its times however many
// workers try, and notes the next time.
func (s *Store) Fire(ctx context.Context, x *Schedule, f Firing) (out Fired, err error) {
	tx, err := s.db.BeginTx(ctx, s.isolation())
	if err != nil {
		return out, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	// Of several workers, one changes the row, and the others find it changed.
	n, err := s.exec(ctx, tx, "UPDATE "+scheduleTable+" SET planned = ?, due = ? WHERE name = ? AND created = ? AND planned = ? AND due = ? AND paused = 0",
		micros(f.Planned), micros(f.Due), x.Name, x.Created.UnixMicro(), micros(x.Planned), micros(x.Due))
	if err != nil || n == 0 {
		return Fired{Known: err == nil}, err
	}
	out.Skip = f.Skip
	if out.Skip == "" {
		if out, err = s.fireIn(ctx, tx, x, f); err != nil {
			return Fired{}, err
		}
	}
	if err := s.noteSkips(ctx, tx, x, f, out); err != nil {
		return Fired{}, err
	}
	return out, tx.Commit()
}

// fireIn adds the entry of a schedule, in a transaction.
func (s *Store) fireIn(ctx context.Context, tx *sql.Tx, x *Schedule, f Firing) (out Fired, err error) {
	if out.Skip, err = s.behind(ctx, tx, x, f.MayHaveBehind); err != nil || out.Skip != "" {
		return out, err
	}
	payload, err := x.Work.Encode()
	if err != nil {
		return out, err
	}
	e := &Entry{JID: f.JID, Queue: x.Queue, Version: x.Version, SLS: x.Work.Names(), User: x.User, Controller: x.Controller, Work: x.Work}
	if err := e.check(payload, int64(len(payload))); err != nil {
		return out, err
	}
	begins, ends := s.d.insertNew()
	key := Key(x.Queue, "schedule", x.Name, strconv.FormatInt(x.Created.UnixMicro(), 10), strconv.FormatInt(f.Time.UnixMicro(), 10))
	n, err := s.exec(ctx, tx, begins+eventTable+" (event, queue, same, jid, cause, created) VALUES (?, ?, '', ?, '', "+s.d.now()+")"+ends, key, x.Queue, e.JID)
	if err != nil {
		return out, err
	}
	if n == 0 { // the clock of the database was set back
		out.Skip = "it was queued before"
		return out, nil
	}
	out.Entry = e
	if err := s.insert(ctx, tx, e, payload, x.lane(), Queued, ""); err != nil {
		return out, err
	}
	_, err = s.exec(ctx, tx, "UPDATE "+scheduleTable+" SET last = ?, last_jid = ? WHERE name = ?", f.Time.UnixMicro(), e.JID, x.Name)
	return out, err
}

// behind says why a schedule is left out, whose entries have not ended; "": it is not.
func (s *Store) behind(ctx context.Context, tx *sql.Tx, x *Schedule, may bool) (string, error) {
	var n int
	var oldest sql.NullString
	err := tx.QueryRowContext(ctx, s.d.bind("SELECT COUNT(*), MIN(jid) FROM "+table+" WHERE lane = ? AND due < "+never), x.lane()).Scan(&n, &oldest)
	switch {
	case err != nil || n == 0:
		return "", err
	case !may:
		return fmt.Sprintf("the run %s has not ended", oldest.String), nil
	case n >= maxBehind:
		return fmt.Sprintf("%d runs have not ended, the oldest is %s", n, oldest.String), nil
	}
	return "", nil
}

// noteSkips notes the times of a schedule that became no entry.
func (s *Store) noteSkips(ctx context.Context, tx *sql.Tx, x *Schedule, f Firing, out Fired) error {
	n, why := f.Missed, f.WhyMissed
	if out.Skip != "" {
		n, why = n+1, out.Skip
	}
	if n == 0 {
		return nil
	}
	_, err := s.exec(ctx, tx, "UPDATE "+scheduleTable+" SET skipped = ?, why = ?, skips = skips + ? WHERE name = ?", f.Time.UnixMicro(), cut(why, maxError), n, x.Name)
	return err
}
