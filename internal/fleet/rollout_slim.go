//go:build slim

package fleet

import (
	"context"

	"brine/internal/core/fun"
)

// An agent is the only target of its fleet, so waves are nothing to it.

func (*Fleet) waves(_ context.Context, _ fun.Job, ids []string) ([][]string, error) {
	return [][]string{ids}, nil
}

func (*running) between(context.Context) {}

func (*running) reportWave(string, []string) {}

func (r *running) count(_ string, failed, _ bool) {
	if failed && r.job.FailHard {
		r.halt = fun.ErrNotBegun
	}
}
