package trial

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// atATime is how many tests are run at a time, as far as memory has room for them.
func (l *Lab) atATime() int {
	if l.Jobs > 0 {
		return l.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// A room has the memory for machines. One without a semaphore bounds nothing: the memory is
// not known.
type room struct {
	all   int
	taken *semaphore.Weighted
}

// room looks how many machines this one has memory for. It says where that holds tests up,
// and refuses to keep more machines than that.
func (l *Lab) room(plans []*plan) (*room, error) {
	all, free := l.Pool.Room()
	if all == 0 {
		return &room{}, nil
	}
	machines, most := 0, 0
	for _, p := range plans {
		machines += p.machines()
		most = max(most, p.machines())
	}
	switch {
	case l.Hold != nil && machines > all:
		return nil, fmt.Errorf("%s cannot be kept: %d MiB of memory are free, which is room for %d: select fewer tests with --case and --system", count(machines, "machine"), free>>20, all)
	case all < min(machines, most*l.atATime()):
		l.Images.Note("%s at a time, since %d MiB of memory are free", count(all, "machine"), free>>20)
	}
	return &room{all, semaphore.NewWeighted(int64(all))}, nil
}

// machines is how many machines a test makes.
func (p *plan) machines() int {
	if p.given != nil {
		return 0
	}
	return len(p.all())
}

// take waits until there is memory for the machines of a test, and returns what gives it back.
// A test that needs more than all of it runs alone.
func (r *room) take(ctx context.Context, p *plan) (back func()) {
	if r.taken == nil {
		return func() {}
	}
	n := int64(min(p.machines(), r.all))
	if r.taken.Acquire(ctx, n) != nil {
		return func() {} // ctx has ended, and so does the test
	}
	return func() { r.taken.Release(n) }
}
