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
	// earlier takes an event that the stream had when the worker began, at a time by the clock
	// of the stream.
	earlier(ctx context.Context, e event.Event, begun time.Time)
	// ready reports whether there is room for more, of what need not be taken at once.
	ready() bool
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
	// stream has what other controllers sent, where kept is true.
	stream assembly.Log
	kept   bool
	// age is how old an event of the stream may be that something reacts to.
	age time.Duration
}

// A start is when a worker began, and from when on it reads the stream: both by the clock of the
// stream, since that of this machine may be another one.
type start struct{ begun, since time.Time }

// listen begins to hear events for those who take them, until the function that it returns is
// called. No event of this machine or of another controller that is fired after its return is
// missed. age is how old an event of a stream may be that something reacts to.
func (w *worker) listen(ctx context.Context, to []listener, age time.Duration) (stop func(), err error) {
	h := &hearing{worker: w, to: to, age: age}
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
	if h.stream, h.kept, err = assembly.EventStream(env); err != nil {
		cancel()
		return nil, err
	}
	if h.kept {
		local := time.Now()
		first := start{}
		if up, ok := h.s.BusUp(); ok && !up.IsZero() {
			first, _ = h.starts(ctx, local)
		}
		h.wg.Go(func() { h.hearStream(ctx, env.Bus, after, first, local) })
		h.wg.Go(func() { h.hearForeign(ctx, env.Bus, after, func(e event.Event) bool { return !e.Remote }) })
	} else {
		h.wg.Go(func() { h.hearForeign(ctx, env.Bus, after, func(event.Event) bool { return true }) })
	}
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

// overlap is how long before the event that others have come to a worker begins to read a
// stream: the clocks of its servers may differ a little.
const overlap = time.Minute

// starts is when a worker began, which was at a time by the clock of this machine, and from when
// on it reads the stream.
func (h *hearing) starts(ctx context.Context, local time.Time) (s start, err error) {
	if s.begun, err = h.stream.Now(ctx); err != nil {
		return start{}, err
	}
	if s.begun.IsZero() { // a server that does not say it
		s.begun = time.Now()
	}
	now := s.begun
	s.begun = now.Add(-time.Since(local))
	if s.since = s.begun; h.o.react {
		s.since = h.reached(ctx, s.begun, now)
	}
	return s, nil
}

// readStream hears the events that the stream of the bus has since a time, and hands them to
// take. A worker that starts reads from where the others have come to in the stream, however
// far they are behind it: each worker brings all events in their order, also one that starts while
// others wait for the database with what they heard, or while the server of the bus is down;
// those that are known are not brought again.
func (h *hearing) readStream(ctx context.Context, since time.Time, take func(event.Event)) {
	h.untilRead(ctx, h.stream, func() error {
		return h.stream.Read(ctx, since, func(e event.Event) bool {
			h.room(ctx)
			if e.Stamp.After(since) {
				since = e.Stamp // of what is read again if the server goes away
			}
			e.Data, e.Remote = h.s.Shape(e.Data), true
			take(e)
			return ctx.Err() == nil
		})
	})
}

// busIsUp waits until the events of other controllers arrive.
func (w *worker) busIsUp(ctx context.Context) {
	for ctx.Err() == nil {
		if since, ok := w.s.BusUp(); !ok || !since.IsZero() {
			return
		}
		w.wait(ctx, 100*time.Millisecond)
	}
}

// untilRead reads a log, again where it fails.
func (w *worker) untilRead(ctx context.Context, log assembly.Log, read func() error) {
	for n, said := 0, false; ctx.Err() == nil; n++ {
		err := read()
		if err == nil || ctx.Err() != nil {
			return
		}
		if !said {
			said = true
			w.s.Tell(fmt.Errorf("earlier events of %s cannot be read, it is tried again: %w", log.Name, err))
		}
		w.wait(ctx, min(30*time.Second, time.Second<<min(n, 5)))
	}
}

// reached is from when on a worker that began at a time reads the stream, by the clock of that.
func (h *hearing) reached(ctx context.Context, begun, now time.Time) time.Time {
	for n := 0; ctx.Err() == nil; n++ {
		ask, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
		at, err := h.q.Reached(ask, h.o.queue)
		cancel()
		switch {
		case err != nil:
			h.wait(ctx, min(5*time.Second, 100*time.Millisecond<<min(n, 6)))
			continue
		case at.IsZero(): // this is the first worker
			ask, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
			_ = h.q.Reach(ask, h.o.queue, begun) // else the first event that is brought says it
			cancel()
			return begun
		case at.After(now.Add(overlap)): // by a clock that was wrong: nothing is known
			return begun.Add(-h.age - overlap)
		}
		return at.Add(-overlap)
	}
	return begun
}

// room waits until those who take events have room for more.
func (h *hearing) room(ctx context.Context) {
	for _, l := range h.to {
		for !l.ready() && ctx.Err() == nil {
			h.wait(ctx, 10*time.Millisecond)
		}
	}
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

// hearForeign hears other controllers and Salt masters.
func (h *hearing) hearForeign(ctx context.Context, bus event.Bus, after uint64, which func(event.Event) bool) {
	for {
		e, lost, err := bus.Next(ctx, after, func(e event.Event) bool { return e.Foreign && which(e) })
		if lost > 0 && (!h.kept || h.s.Cfg.Opts.At("fleets") != nil) { // else the stream has them
			h.miss(int(min(lost, math.MaxInt32)))
		}
		if err != nil {
			return
		}
		after, e.Remote = e.Seq, false // of no stream: that it was read says nothing
		h.hear(ctx, e)
	}
}

// hearStream hears other controllers, and first what the stream of the bus has had since others
// have come to it. s is the start of the worker, which was at a time by the clock of this machine;
// zero: the server did not answer then. What comes faster than it is brought into the queue is
// read again from the stream.
func (h *hearing) hearStream(ctx context.Context, bus event.Bus, after uint64, s start, local time.Time) {
	h.busIsUp(ctx) // else what is sent between the end of the stream and the connection is missed
	if s.begun.IsZero() {
		h.untilRead(ctx, h.stream, func() (err error) {
			s, err = h.starts(ctx, local)
			return err
		})
	}
	if h.o.react {
		h.readStream(ctx, s.since, func(e event.Event) {
			for _, l := range h.to {
				l.earlier(ctx, e, s.begun)
			}
		})
	}
	for last := s.begun; ; {
		h.room(ctx)
		e, lost, err := bus.Next(ctx, after, func(e event.Event) bool { return e.Remote })
		if err != nil {
			return
		}
		if lost > 0 {
			h.readStream(ctx, last.Add(-overlap), func(e event.Event) { h.hear(ctx, e) })
		}
		h.hear(ctx, e)
		after, last = e.Seq, e.Stamp
	}
}
