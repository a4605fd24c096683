package shared

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// A Turn is a due time of a scheduled job that several controllers have: the first
// of them that asks for it runs the job.
type Turn struct {
	Name string // of the job, the same on all controllers
	// Due is a time of a calendar. Where it is zero, the job runs every so often: a
	// turn is over Every after it was taken, of which Slack may be missing.
	Due          time.Time
	Every, Slack time.Duration
	Most         int // how many turns of the job may be under way; at least 1

	token string
	who   Run
}

// A TurnError says why a controller does not run a scheduled job.
type TurnError struct{ Text string }

// Error says it.
func (e *TurnError) Error() string { return e.Text }

// Turn takes a turn of a scheduled job. A [TurnError] says that another controller
// has had it, or that as many as may are under way. The turn of a controller whose
// heartbeat is older than its lease is as if it had never been.
func (s *Store) Turn(ctx context.Context, t Turn) error {
	if err := s.makeTurns(ctx); err != nil {
		return err
	}
	name := clean(t.Name, maxName)
	return s.tx(ctx, func(x *tx) error {
		if err := x.exec(ctx, "{ignore} brine_lock_names (name) VALUES (?){nothing}", "turn:"+clean(name, maxName-5)); err != nil {
			return err
		}
		none := func(*sql.Rows) error { return nil }
		if err := x.query(ctx, none, "SELECT name FROM brine_lock_names WHERE name = ?{alone}", "turn:"+clean(name, maxName-5)); err != nil {
			return err
		}
		var drop []string
		var taken *TurnError
		under := 0
		err := x.query(ctx, func(r *sql.Rows) error {
			var token, controller, host string
			var due, age, silent, lease, ended float64
			if err := r.Scan(&token, &controller, &host, &due, &age, &silent, &lease, &ended); err != nil {
				return err
			}
			had := due >= seconds(t.Due)
			if t.Due.IsZero() {
				had = length(age) < t.Every-t.Slack
			}
			switch open := ended == 0; {
			case open && length(silent) > length(lease):
				drop = append(drop, token)
			case had:
				taken = &TurnError{fmt.Sprintf("controller %s (%s) has run it %s ago", controller, host, round(length(age)))}
				if open {
					taken.Text = fmt.Sprintf("controller %s (%s) has run it for %s", controller, host, round(length(age)))
				}
			case open:
				under++
			default:
				drop = append(drop, token)
			}
			return nil
		}, "SELECT token, controller, host_name, due, {now} - taken, {now} - beat, lease, ended FROM brine_turns WHERE name = ?{alone}", name)
		switch {
		case err != nil:
			return err
		case taken != nil:
			return taken
		case under >= max(t.Most, 1):
			return &TurnError{fmt.Sprintf("%d of it run already, of all controllers (maxrunning)", under)}
		}
		for _, token := range drop {
			if err := x.exec(ctx, "DELETE FROM brine_turns WHERE name = ? AND token = ?", name, token); err != nil {
				return err
			}
		}
		return x.exec(ctx, "INSERT INTO brine_turns (name, token, due, controller, host_name, pid, taken, beat, lease, ended) VALUES (?, ?, ?, ?, ?, ?, {now}, {now}, ?, 0)",
			name, t.token, seconds(t.Due), clean(t.who.Controller, 0), clean(t.who.Host, 0), t.who.PID, t.who.Lease.Seconds())
	})
}

// seconds is a time as the tables have it; the zero time is 0.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// makeTurns makes the table of turns, which databases of earlier versions do not
// have.
func (s *Store) makeTurns(ctx context.Context) error {
	if s.hasTurns(ctx) {
		return nil
	}
	for i, stmt := range statements(s.d) {
		if tables[i].name != "brine_turns" {
			continue
		}
		if _, err := s.db.ExecContext(ctx, stmt); err != nil && !s.hasTurns(ctx) {
			return fmt.Errorf("make the table brine_turns: %w", err)
		}
	}
	return nil
}

func (s *Store) hasTurns(ctx context.Context) bool {
	var n int
	return s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM brine_turns WHERE name = ''").Scan(&n) == nil
}

// keepTurn sends the heartbeat of a turn, and endTurn says that the job has ended.
func (s *Store) keepTurn(ctx context.Context, t Turn) error {
	_, err := s.exec(ctx, "UPDATE brine_turns SET beat = {now} WHERE name = ? AND token = ?", clean(t.Name, maxName), t.token)
	return err
}

func (s *Store) endTurn(ctx context.Context, t Turn) error {
	_, err := s.exec(ctx, "UPDATE brine_turns SET ended = {now} WHERE name = ? AND token = ?", clean(t.Name, maxName), t.token)
	return err
}

// Turn takes a turn of a scheduled job, which ends with this process; see
// [Store.Turn]. A store that cannot be asked is an error.
func (c *Controller) Turn(ctx context.Context, t Turn) error {
	t.token, t.who = rand.Text(), c.Self
	ctx, cancel := context.WithTimeout(ctx, 2*queryTimeout)
	defer cancel()
	s, err := c.opened(ctx)
	if err == nil {
		err = s.Turn(ctx, t)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.turns = append(c.turns, t)
	c.mu.Unlock()
	c.start()
	return nil
}

// keepTurns sends the heartbeats of turns. One that is late makes the next turn
// another's, and does not end the job.
func (c *Controller) keepTurns() {
	c.mu.Lock()
	turns := slices.Clone(c.turns)
	c.mu.Unlock()
	for _, t := range turns {
		_ = c.ask(func(ctx context.Context, s *Store) error { return s.keepTurn(ctx, t) }) // the lease has room for some that fail
	}
}

// endTurns says that the jobs have ended.
func (c *Controller) endTurns() {
	c.mu.Lock()
	turns := c.turns
	c.turns = nil
	c.mu.Unlock()
	for _, t := range turns {
		if err := c.ask(func(ctx context.Context, s *Store) error { return s.endTurn(ctx, t) }); err != nil {
			c.Warn(fmt.Sprintf("the database that controllers share was not told that the scheduled job %s has ended: after the lease it counts as not run: %v", t.Name, err))
		}
	}
}
