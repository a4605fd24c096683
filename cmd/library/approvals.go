package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/cmd/assembly"
	"brine/cmd/session"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/queue"
)

// approvalTimeout bounds how long the database of a queue is waited for.
const approvalTimeout = 30 * time.Second

// Approvals returns the questions of runs that ask a second person, the newest first. Those
// of a queue are lost where their entries have ended.
func Approvals(ctx context.Context, s *session.Session) ([]*approval.Entry, error) {
	all, err := approval.New(s.Cfg.CacheDir, s.App.Host.Now).List("")
	queued := func(e *approval.Entry) bool { return e.Queued && e.Waits() }
	env := s.Env(ctx, "")
	if err != nil || !slices.ContainsFunc(all, queued) || !assembly.HasQueue(env) {
		return all, err
	}
	ctx, cancel := context.WithTimeout(ctx, approvalTimeout)
	defer cancel()
	q, err := assembly.OpenQueue(ctx, env)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if !queued(e) {
			continue
		}
		x, err := q.Entry(ctx, e.JID)
		if err != nil && !errors.Is(err, queue.ErrNone) {
			return nil, errors.Join(err, q.Close())
		}
		e.Lost = x == nil || x.State != queue.Queued && x.State != queue.Running
	}
	return all, q.Close()
}

// Approval returns one of [Approvals].
func Approval(ctx context.Context, s *session.Session, id string) (*approval.Entry, error) {
	all, err := Approvals(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.ID() == id {
			return e, nil
		}
	}
	return nil, fmt.Errorf("approval %s: %w", id, approval.ErrNotFound)
}

// Decide answers a question for somebody who may; definition is what was seen. See
// [approval.Store.Decide].
func Decide(ctx context.Context, s *session.Session, id, definition string, a approval.Answer) (*approval.Entry, error) {
	e, err := Approval(ctx, s, id)
	switch {
	case err != nil:
		return nil, err
	case e.Lost:
		return nil, fmt.Errorf("the run has ended: %w", approval.ErrAnswered)
	}
	e, err = approval.New(s.Cfg.CacheDir, s.App.Host.Now).Decide(id, definition, a)
	if err == nil && e.Queued {
		// A worker looks at the entry in a moment all the same.
		s.Doubt(wake(ctx, s, e.JID))
	}
	return e, err
}

// wake has a worker look at an entry of a queue.
func wake(ctx context.Context, s *session.Session, jid string) error {
	ctx, cancel := context.WithTimeout(ctx, approvalTimeout)
	defer cancel()
	q, err := assembly.OpenQueue(ctx, s.Env(ctx, ""))
	if err != nil {
		return err
	}
	return errors.Join(q.Wake(ctx, jid), q.Close())
}
