package worker

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"brine/cmd/assembly"
	"brine/cmd/runner"
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
	earlier, err := h.earlier(ctx, env)
	if err != nil {
		cancel()
		return nil, err
	}
	h.wg.Go(func() {
		earlier()
		h.hearRemote(ctx, env.Bus, after)
	})
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

const (
	// overlap is how long before the last event that was brought a worker begins to read a
	// stream: others may have heard earlier ones that are not in the queue yet.
	overlap = time.Minute
	// longestGap is how old the events are at most that a worker reads of a stream when it
	// starts.
	longestGap = 10 * time.Minute
)

// earlier returns what hears the events that the stream of the bus has, from a moment before
// the last one on that was brought into the queue. So each worker brings all events in their
// order, also one that starts while others wait for the database with what they heard; those
// that are known are not brought again. Without a stream nothing is heard.
func (h *hearing) earlier(ctx context.Context, env *fun.Env) (read func(), err error) {
	if !h.o.react {
		return func() {}, nil
	}
	log, ok, err := assembly.EventStream(env)
	if !ok || err != nil {
		return func() {}, err
	}
	return func() {
		for told := false; ctx.Err() == nil; h.wait(ctx, time.Second) {
			since, err := h.lastBrought(ctx)
			if err == nil && since.IsZero() {
				return
			}
			if err == nil {
				err = log.Read(ctx, since, func(e event.Event) bool {
					h.hear(ctx, e)
					return ctx.Err() == nil
				})
			}
			if err == nil || ctx.Err() != nil {
				return
			}
			if !told {
				told = true
				h.s.Tell(fmt.Errorf("earlier events of %s cannot be read, it is tried again: %w", log.Name, err))
			}
		}
	}, nil
}

// lastBrought is from when on earlier events are heard; zero: there are none.
func (h *hearing) lastBrought(ctx context.Context) (time.Time, error) {
	ask, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
	defer cancel()
	at, err := h.q.LastEvent(ask, h.o.queue)
	if err != nil || at.IsZero() {
		return at, err
	}
	since := at.Add(-overlap)
	if oldest := h.app.Host.Now().Add(-longestGap); since.Before(oldest) {
		since = oldest
	}
	return since, nil
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
