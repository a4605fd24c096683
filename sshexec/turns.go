package sshexec

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Turns of pushes.
//
// Hosts that are sent the agent often share a way, such as an uplink. More
// pushes at once than fill it make each of them later and none earlier, and all
// that passes besides waits behind them. So they begin with few and become more
// as long as more of them bring more bytes in the same time: where each host has
// a slow way of its own, up to the limit.

// DefaultPushes is how many hosts are sent the agent at once at most.
const DefaultPushes = 8

const (
	firstPushes = 2
	// turnPeriod is how long a number of pushes is measured. A push that takes
	// less needs no care.
	turnPeriod = 2 * time.Second
	// turnRetry is how long a number that brought nothing is not tried again.
	turnRetry = 30 * time.Second
)

// errEnded is why the turn of a host does not come.
var errEnded = errors.New("the connection ended")

// turns say whose agent is sent now. The zero value has no limit.
type turns struct {
	limit int // 0: none
	now   func() time.Time

	mu      sync.Mutex
	allowed int
	active  int
	queue   []chan struct{} // closed when it is one's turn

	// The measurement under way, and the one before with fewer pushes.
	since  time.Time
	bytes  int64
	fewer  int
	rate   float64 // bytes in a second with that many; 0: unknown
	settle time.Time
}

func newTurns(limit int) *turns {
	if limit <= 0 {
		limit = DefaultPushes
	}
	return &turns{limit: limit, now: time.Now, allowed: min(limit, firstPushes)}
}

// A turn is that of one host. A nil turn counts nothing.
type turn struct {
	t     *turns
	begun time.Time
	bytes int64
}

// take waits for a turn, until the connection that it is for has ended.
func (t *turns) take(ctx context.Context, ended <-chan struct{}) (*turn, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	if t.active < t.allowed && len(t.queue) == 0 {
		defer t.mu.Unlock()
		if t.active++; t.active == t.allowed {
			t.measure()
		}
		return &turn{t: t, begun: t.now()}, nil
	}
	mine := make(chan struct{})
	t.queue = append(t.queue, mine)
	t.mu.Unlock()
	var err error
	select {
	case <-mine:
		return &turn{t: t, begun: t.now()}, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-ended:
		err = errEnded
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.queue {
		if c == mine {
			t.queue = append(t.queue[:i], t.queue[i+1:]...)
			return nil, err
		}
	}
	t.active-- // it came just now
	t.admit()
	return nil, err
}

// measure begins a measurement. mu is held.
func (t *turns) measure() { t.since, t.bytes = t.now(), 0 }

// admit lets those in for whom there is room. mu is held.
func (t *turns) admit() {
	for t.active < t.allowed && len(t.queue) > 0 {
		close(t.queue[0])
		t.queue = t.queue[1:]
		t.active++
	}
}

// leave ends a turn.
func (x *turn) leave() {
	if x == nil {
		return
	}
	t := x.t
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active--
	if x.bytes > 0 && t.now().Sub(x.begun) < turnPeriod && t.allowed < t.limit {
		t.allowed++
		t.rate = 0 // the way is fast
		t.measure()
	}
	t.admit()
}

// moved notes that bytes have arrived, and judges the number of pushes.
func (x *turn) moved(n int64) {
	if x == nil {
		return
	}
	t := x.t
	t.mu.Lock()
	defer t.mu.Unlock()
	x.bytes += n
	t.bytes += n
	took := t.now().Sub(t.since)
	if took < turnPeriod || t.active != t.allowed || len(t.queue) == 0 {
		return
	}
	rate := float64(t.bytes) / took.Seconds()
	// Half of what as many more would bring if each had a way of its own.
	gain := 1 + (float64(t.allowed)/float64(max(1, t.fewer))-1)/2
	switch {
	case t.rate > 0 && t.fewer < t.allowed && rate < t.rate*gain:
		t.allowed, t.rate = t.fewer, 0
		t.settle = t.now().Add(turnRetry)
	case t.allowed < t.limit && !t.now().Before(t.settle):
		t.fewer, t.rate = t.allowed, rate
		t.allowed = min(t.limit, t.allowed+max(1, t.allowed/2))
		t.admit()
	}
	t.measure()
}
