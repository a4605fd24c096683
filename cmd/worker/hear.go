package worker

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A listener takes events that a worker hears. It does not wait.
type listener interface {
	hear(ctx context.Context, e event.Event)
	// miss notes that n events were lost before anybody saw their tags.
	miss(n int)
	// begin begins to handle what is heard; stop is called after the last event was heard.
	begin(ctx context.Context, env *fun.Env) (stop func())
}

// A hearing hears events for those who take them.
type hearing struct {
	*worker
	to []listener
	wg sync.WaitGroup
}

// listen begins to hear events for those who take them, until the function that it returns is
// called. No event of this machine or of another controller that is fired after its return is
// missed.
func (w *worker) listen(ctx context.Context, to []listener) (stop func(), err error) {
	h := &hearing{worker: w, to: to}
	ctx, cancel := context.WithCancel(ctx)
	env, err := w.s.Hear(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	after := env.Bus.Seq()
	if m, ok := env.Fleet.(fun.Masters); ok {
		m.Listen(ctx)
	}
	h.wg.Go(func() { h.hearRemote(ctx, env.Bus, after) })
	if err := h.hearLocal(ctx); err != nil {
		cancel()
		h.wg.Wait()
		return nil, err
	}
	var stops []func()
	for _, l := range to {
		stops = append(stops, l.begin(ctx, env))
	}
	return func() {
		cancel()
		h.wg.Wait()
		for _, stop := range stops {
			stop()
		}
	}, nil
}

// hear hands an event to those who take it.
func (h *hearing) hear(ctx context.Context, e event.Event) {
	if e.Tag == event.LostTag {
		if n, ok := value.AsInt(e.Data.At("lost")); ok && n > 0 {
			h.miss(int(min(n, maxArrivals*1000)))
		}
	}
	for _, l := range h.to {
		l.hear(ctx, e)
	}
}

// miss tells all that events were lost.
func (h *hearing) miss(n int) {
	for _, l := range h.to {
		l.miss(n)
	}
}

// hearLocal hears the runs of this user on this machine; it returns when it does. If that
// ends later, it says so and begins again.
func (h *hearing) hearLocal(ctx context.Context) error {
	ready, failed := make(chan struct{}), make(chan error, 1)
	begun := sync.OnceFunc(func() { close(ready) })
	h.wg.Go(func() {
		for ctx.Err() == nil {
			err := h.s.HearRuns(ctx, begun, func(e event.Event) bool {
				h.hear(ctx, e)
				return true
			})
			if ctx.Err() != nil {
				return
			}
			err = fmt.Errorf("the events of this machine cannot be heard: %w", err)
			select {
			case <-ready:
			default:
				failed <- err
				return
			}
			h.s.Tell(fmt.Errorf("%w; it is tried again, and what was sent meanwhile is missed", err))
			h.wait(ctx, time.Second)
		}
	})
	select {
	case <-ready:
		return nil
	case err := <-failed:
		return err
	}
}

// hearRemote hears other controllers and Salt masters.
func (h *hearing) hearRemote(ctx context.Context, bus event.Bus, after uint64) {
	for {
		e, lost, err := bus.Next(ctx, after, func(e event.Event) bool { return e.Foreign })
		if lost > 0 {
			h.miss(int(min(lost, math.MaxInt32)))
		}
		if err != nil {
			return
		}
		h.hear(ctx, e)
		after = e.Seq
	}
}
