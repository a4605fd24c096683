package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// batch is how many notices are sent at once.
	batch = 8
	// lease is how long other processes leave a notice alone that this one sends. It is
	// sent again if the process dies meanwhile.
	lease = 3 * sendTimeout
	// firstRetry is the pause after the first attempt, doubled after each further one up
	// to longestRetry; after maxTries, which take a day, the notice is given up.
	firstRetry   = 30 * time.Second
	longestRetry = time.Hour
	maxTries     = 30
	// keeps is how long notices stay that were delivered or given up.
	keeps = 30 * 24 * time.Hour
)

// backoff is the pause after an attempt.
func backoff(tries int) time.Duration {
	return min(longestRetry, firstRetry<<min(max(tries-1, 0), 20))
}

// Deliver sends what is due, until nothing is or ctx ends. Each attempt is recorded;
// report, which may be nil, is called for each. Several processes may deliver at once.
func (s *Store) Deliver(ctx context.Context, x *Destinations, now func() time.Time, report func(*Notice)) error {
	for ctx.Err() == nil {
		due, err := s.read(ctx, fmt.Sprintf("state = ? AND due <= ? ORDER BY due, id LIMIT %d", batch), Pending, now().UnixMicro())
		if err != nil || len(due) == 0 {
			return errors.Join(err, s.clean(ctx, now()))
		}
		var g errgroup.Group
		for i := range due {
			g.Go(func() error { return s.attempt(ctx, x, &due[i], now, report) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// clean removes old notices.
func (s *Store) clean(ctx context.Context, now time.Time) error {
	_, err := s.exec(ctx, "DELETE FROM "+table+" WHERE state <> ? AND created < ?", Pending, now.Add(-keeps).UnixMicro())
	return err
}

// attempt sends a notice once, unless another process does.
func (s *Store) attempt(ctx context.Context, x *Destinations, n *Notice, now func() time.Time, report func(*Notice)) error {
	claimed, err := s.exec(ctx, "UPDATE "+table+" SET due = ?, tries = tries + 1 WHERE id = ? AND due = ? AND state = ?",
		now().Add(lease).UnixMicro(), n.ID, n.Due.UnixMicro(), Pending)
	if err != nil || claimed == 0 {
		return err
	}
	n.Tries++
	if n.Message.Version == 0 { // another brine, which knows it, sends it
		return nil
	}
	d := x.Find(n.Destination)
	if d == nil {
		err = &permanentError{err: errors.New("the configuration has no destination of this name any more")}
	} else {
		err = d.Send(ctx, n, now())
	}
	if ctx.Err() != nil && err != nil { // the sender stops: it is not the fault of the receiver
		n.Tries--
	}
	n.settle(err, now())
	// What was sent is noted also where the sender stops.
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	if _, err := s.exec(noting, "UPDATE "+table+" SET state = ?, due = ?, ended = ?, tries = ?, error = ? WHERE id = ?",
		n.State, n.Due.UnixMicro(), micros(n.Ended), n.Tries, n.Error, n.ID); err != nil {
		return err
	}
	if report != nil {
		report(n)
	}
	return nil
}

// micros is a time as the database has it; 0 is none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// settle notes how an attempt ended.
func (n *Notice) settle(err error, now time.Time) {
	switch {
	case err == nil:
		n.State, n.Error, n.Ended = Delivered, "", now
		return
	case permanent(err), n.Tries >= maxTries:
		n.State, n.Ended = GivenUp, now
	default:
		n.Due = now.Add(backoff(n.Tries))
	}
	n.Error = short(err.Error(), 500)
}
