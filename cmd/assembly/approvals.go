//go:build !slim

package assembly

import (
	"context"
	"errors"
	"slices"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/approval"
)

// approvalTimeout bounds how long the database of a queue is waited for.
const approvalTimeout = 30 * time.Second

// Approvals returns the questions of runs that ask a second person, the newest first: those
// of processes of this machine, and those of the queue.
func Approvals(ctx context.Context, env *fun.Env) ([]*approval.Entry, error) {
	all, err := approval.New(env.CacheDir, env.Host.Now).List("")
	if err != nil || !HasQueue(env) {
		return all, err
	}
	ctx, cancel := context.WithTimeout(ctx, approvalTimeout)
	defer cancel()
	q, err := OpenQueue(ctx, env)
	if err != nil {
		return nil, err
	}
	queued, err := q.Approvals(ctx, "")
	if err = errors.Join(err, q.Close()); err != nil {
		return nil, err
	}
	all = append(all, queued...)
	slices.SortStableFunc(all, func(a, b *approval.Entry) int { return b.Asked.Compare(a.Asked) })
	return all, nil
}
