package shared

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Lock is held by the run of an orchestration. No other run of that name has it as
// long as they have a target in common.
type Lock struct {
	Name       string
	JID        string   // of the run
	Targets    []string // sorted; none: all that there are
	Owner      string   // USER@HOST
	PID        int
	Controller string // its id
	// Age is how long the lock has been held, Silent is how old its last heartbeat is,
	// and Lease how old that may become, by the clock of the database.
	Age, Silent, Lease time.Duration
	// Expired says that the next run that wants the lock gets it: the heartbeat is too
	// old, or the process is gone.
	Expired bool
}

// maxName is the length of the column name, in characters.
const maxName = 255

// A HeldError says that another run has a lock.
type HeldError struct {
	Wanted string
	By     Lock
	Common []string // targets of both runs; none: all that there are
}

// Error says who has the lock, for how long, and what to do.
func (e *HeldError) Error() string {
	l := e.By
	return fmt.Sprintf("%s is locked: job %s of %s (pid %d, controller %s) has run it%s for %s; its last heartbeat is %s old\n"+
		"wait for it with --lock-wait SECONDS or orchestrate_lock_wait; if that run is gone: brine run lock.break %s",
		e.Wanted, l.JID, l.Owner, l.PID, l.Controller, on(e.Common), round(l.Age), round(l.Silent), word(l.Name))
}

// on names some targets.
func on(ids []string) string {
	const most = 5
	switch {
	case len(ids) == 0:
		return ""
	case len(ids) > most:
		return fmt.Sprintf(" on %s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return " on " + strings.Join(ids, ", ")
}

// word is a name as a shell takes it.
func word(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-,/@:", r)
	}) {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

func round(d time.Duration) time.Duration { return d.Round(time.Second) }

// Round formats a duration for messages.
func Round(d time.Duration) string { return round(d).String() }

// common returns the targets that two locks have both, and whether they are in
// each other's way.
func common(a, b []string) ([]string, bool) {
	switch {
	case len(a) == 0:
		return b, true
	case len(b) == 0:
		return a, true
	}
	var out []string
	for _, id := range a {
		if _, both := slices.BinarySearch(b, id); both {
			out = append(out, id)
		}
	}
	return out, len(out) > 0
}

const lockColumns = "name, jid, targets, owner, pid, controller, {now} - taken, {now} - beat, lease"

// scan reads a row of lockColumns.
func (s *Store) scan(r *sql.Rows) (Lock, error) {
	var l Lock
	var targets string
	var age, silent, lease float64
	err := r.Scan(&l.Name, &l.JID, &targets, &l.Owner, &l.PID, &l.Controller, &age, &silent, &lease)
	l.Age, l.Silent, l.Lease = length(age), length(silent), length(lease)
	_ = json.Unmarshal([]byte(targets), &l.Targets) // what is none stands for all targets
	return l, err
}

// expired reports whether a lock is nobody's any more.
func (s *Store) expired(l *Lock) bool {
	return l.Silent > l.Lease || s.Dead != nil && s.Dead(l.JID)
}

// Take takes a lock, whose Name, JID, Targets, Owner, PID, Controller and Lease are
// set. It returns a [HeldError] where another run has it; a run whose jid is among
// own is in nobody's way.
func (s *Store) Take(ctx context.Context, l Lock, own []string) error {
	l.Name = clean(l.Name, maxName)
	l.Targets = append([]string{}, l.Targets...)
	slices.Sort(l.Targets)
	targets, err := json.Marshal(l.Targets)
	if err != nil {
		return err
	}
	return s.tx(ctx, func(t *tx) error {
		if err := t.exec(ctx, "{ignore} brine_lock_names (name) VALUES (?){nothing}", l.Name); err != nil {
			return err
		}
		if err := t.query(ctx, func(*sql.Rows) error { return nil }, "SELECT name FROM brine_lock_names WHERE name = ?{alone}", l.Name); err != nil {
			return err
		}
		var held []Lock
		err := t.query(ctx, func(r *sql.Rows) error {
			x, err := s.scan(r)
			held = append(held, x)
			return err
		}, "SELECT "+lockColumns+" FROM brine_locks WHERE name = ?{alone}", l.Name)
		if err != nil {
			return err
		}
		for _, x := range held {
			if s.expired(&x) || x.JID == l.JID {
				if err := t.exec(ctx, "DELETE FROM brine_locks WHERE name = ? AND jid = ?", x.Name, x.JID); err != nil {
					return err
				}
				continue
			}
			if both, overlap := common(l.Targets, x.Targets); overlap && !slices.Contains(own, x.JID) {
				return &HeldError{Wanted: l.Name, By: x, Common: both}
			}
		}
		return t.exec(ctx, "INSERT INTO brine_locks (name, jid, targets, owner, pid, controller, taken, beat, lease) VALUES (?, ?, ?, ?, ?, ?, {now}, {now}, ?)",
			l.Name, l.JID, clean(string(targets), 0), clean(l.Owner, 0), l.PID, clean(l.Controller, 0), l.Lease.Seconds())
	})
}

// Beat keeps a lock for another lease. It reports false where it is lost.
func (s *Store) Beat(ctx context.Context, name, jid string) (bool, error) {
	n, err := s.exec(ctx, "UPDATE brine_locks SET beat = {now} WHERE name = ? AND jid = ?", clean(name, maxName), jid)
	return n > 0, err
}

// Drop gives a lock back.
func (s *Store) Drop(ctx context.Context, name, jid string) error {
	_, err := s.exec(ctx, "DELETE FROM brine_locks WHERE name = ? AND jid = ?", clean(name, maxName), jid)
	return err
}

// Locks returns all locks, by name and jid.
func (s *Store) Locks(ctx context.Context) ([]Lock, error) {
	var out []Lock
	err := s.query(ctx, func(r *sql.Rows) error {
		l, err := s.scan(r)
		out = append(out, l)
		return err
	}, "SELECT "+lockColumns+" FROM brine_locks ORDER BY name, jid")
	for i := range out {
		out[i].Expired = s.expired(&out[i])
	}
	return out, err
}
