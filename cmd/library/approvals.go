package library

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/cmd/assembly"
	"brine/cmd/session"
	"brine/internal/fleet/approval"
)

// approvalTimeout bounds how long the database of a queue is waited for.
const approvalTimeout = 30 * time.Second

// Approvals returns the questions of runs that ask a second person, the newest first.
func Approvals(ctx context.Context, s *session.Session) ([]*approval.Entry, error) {
	return assembly.Approvals(ctx, s.Env(ctx, ""))
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
// [approval.Entry.Accept].
func Decide(ctx context.Context, s *session.Session, id, definition string, a approval.Answer) (*approval.Entry, error) {
	e, err := Approval(ctx, s, id)
	if err != nil {
		return nil, err
	}
	if !e.Queued {
		return approval.New(s.Cfg.CacheDir, s.App.Host.Now).Decide(id, definition, a)
	}
	ctx, cancel := context.WithTimeout(ctx, approvalTimeout)
	defer cancel()
	q, err := assembly.OpenQueue(ctx, s.Env(ctx, ""))
	if err != nil {
		return nil, err
	}
	e, err = q.Decide(ctx, id, definition, a)
	if err == nil { // a worker looks at the entry in a moment all the same
		s.Doubt(q.Wake(ctx, e.JID))
	}
	return e, errors.Join(err, q.Close())
}
