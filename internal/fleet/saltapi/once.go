package saltapi

import (
	"context"
	"maps"
	"sync"
	"time"
)

// answers are what was found out of late: those who ask the same within [holds]
// share one answer. It is safe for concurrent use.
type answers[T any] struct {
	now    func() time.Time
	faults bool // that something cannot be found out holds, too

	mu  sync.Mutex
	all map[string]*shared[T]
}

// A shared answer is there when done is closed.
type shared[T any] struct {
	done chan struct{}
	at   time.Time // when it was found; zero: not yet
	v    *T
	err  error
	left bool // its finder gave up, because its context ended
	once bool // it is for those alone who waited for it
}

// holds is how long what was found holds for the same question: the steps of one
// moment share the answer.
const holds = 5 * time.Second

// get returns what find finds; once says that it is of the moment, and does not hold
// when it is found. Who waits for somebody else's find waits no longer
// than ctx, and finds it out where that one gave up.
func (a *answers[T]) get(ctx context.Context, key string, once bool, find func(context.Context) (*T, error)) (*T, error) {
	for {
		s, mine := a.begin(key, once)
		if mine {
			s.v, s.err = find(ctx)
			s.left = s.err != nil && ctx.Err() != nil
			a.end(key, s)
			return s.v, s.err
		}
		select {
		case <-s.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if ctx.Err() != nil || !s.left {
			return s.v, s.err
		}
	}
}

// begin returns the answer to a question, and whether it is to be found out.
func (a *answers[T]) begin(key string, once bool) (s *shared[T], mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string]*shared[T]{}
	}
	expired := func(s *shared[T]) bool { return !s.at.IsZero() && a.now().Sub(s.at) > holds }
	if s = a.all[key]; s != nil && !expired(s) {
		return s, false
	}
	maps.DeleteFunc(a.all, func(_ string, old *shared[T]) bool { return expired(old) })
	s = &shared[T]{done: make(chan struct{}), once: once}
	a.all[key] = s
	return s, true
}

// end gives the answer to those who wait for it.
func (a *answers[T]) end(key string, s *shared[T]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.once || s.err != nil && (!a.faults || s.left) {
		delete(a.all, key)
	}
	s.at = a.now()
	close(s.done)
}
