package worker

import (
	"context"
	"fmt"
	"time"

	"brine/cmd/assembly"
	"brine/cmd/runner"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet/sink"
)

const (
	// silentFor is how long nobody has heard events if a worker says that they are lost: each
	// notes every tellEvery that it hears them.
	silentFor = 3 * tellEvery
	// storedSoon is how long after it was sent an event is in the table of a returner at the
	// latest, if that answers.
	storedSoon = 3 * time.Second
)

// A sinkLog is what keeps the events that were sent while no worker ran.
type sinkLog struct {
	assembly.Log
	kept   bool                     // there is one
	stream bool                     // it is the one of the bus
	from   map[*sink.Sink]time.Time // until when all events were brought
	begun  time.Time                // by the clock of the database
}

// A beat is when a worker last looked whether it hears all events.
type beat struct {
	at    time.Time // by the clock of the database
	local time.Time // the same by that of this machine
	heard int       // events until then
}

// findLog finds what keeps events, and from when on they are to be brought.
func (k *sinking) findLog(ctx context.Context, env *fun.Env) (err error) {
	l := &k.log
	if l.Log, l.kept, err = assembly.EventLog(ctx, env); err != nil {
		return err
	}
	_, l.stream, err = assembly.EventStream(env)
	l.from = map[*sink.Sink]time.Time{}
	for _, s := range k.all {
		_ = k.asked(ctx, func(ctx context.Context) (err error) {
			l.from[s], l.begun, err = k.q.SinkSeen(ctx, s.Name)
			return err
		})
		if gap := l.begun.Sub(l.from[s]); !l.kept && gap > silentFor {
			k.s.Tell(fmt.Errorf("events that were sent since %s do not get to %s: no worker ran, and nothing keeps them; set stream in event_bus (NATS), or event_return to a database",
				l.from[s].Format(time.RFC3339), s.Name))
		}
	}
	return err
}

// catchUp brings what the log has to the sinks, until the worker stops.
func (k *sinking) catchUp(ctx context.Context, env *fun.Env) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-ctx.Done():
		case <-k.stopping:
			cancel()
		}
	}()
	if err := k.findLog(ctx, env); err != nil {
		k.s.Tell(fmt.Errorf("event_sinks: what keeps events cannot be read: %w", err))
		return
	}
	l := &k.log
	if l.kept && len(l.from) > 0 {
		since := l.begun
		for _, at := range l.from {
			if at.Before(since) {
				since = at
			}
		}
		if l.stream {
			k.busIsUp(ctx) // else what is sent between the end of the stream and the connection is missed
			since = since.Add(-k.skew(ctx))
		}
		k.readLog(ctx, since.Add(-overlap))
		if !l.stream { // what was sent just before this worker heard events may not have been stored
			k.pause(ctx, storedSoon)
			k.readLog(ctx, l.begun.Add(-overlap))
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.caught = ctx.Err() == nil
}

// readLog brings the events that the log has since a time, as fast as they are sent.
func (k *sinking) readLog(ctx context.Context, since time.Time) {
	k.untilRead(ctx, k.log.Log, func() error {
		var some []event.Event
		bring := func() {
			k.roomInSpools(ctx)
			if len(some) > 0 && ctx.Err() == nil {
				k.spool(ctx, some, k.isDue)
			}
			some = some[:0]
		}
		err := k.log.Read(ctx, since, func(e event.Event) bool {
			e.Data = k.s.Shape(e.Data)
			if some = append(some, e); len(some) >= gatherMost {
				bring()
			}
			return ctx.Err() == nil
		})
		bring()
		return err
	})
}

// skew has the log know the times of the database by the clock of the stream: it returns by how much
// that of the database is fast.
func (k *sinking) skew(ctx context.Context) (fast time.Duration) {
	l := &k.log
	k.untilRead(ctx, l.Log, func() error {
		now, err := l.Now(ctx)
		if err != nil || now.IsZero() {
			return err
		}
		return k.asked(ctx, func(ctx context.Context) error {
			_, at, err := k.q.SinkSeen(ctx, k.all[0].Name)
			fast = at.Sub(now)
			return err
		})
	})
	l.begun = l.begun.Add(-fast)
	for s, at := range l.from {
		l.from[s] = at.Add(-fast)
	}
	return fast
}

// isDue reports whether an event of the log is for a sink: one that is new begins with what comes.
func (k *sinking) isDue(s *sink.Sink, e event.Event) bool {
	return !e.Stamp.Before(k.log.from[s].Add(-overlap))
}

// roomInSpools waits until no more than half of what may wait for a sink does.
func (k *sinking) roomInSpools(ctx context.Context) {
	for ctx.Err() == nil {
		full := false
		ask, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
		states, err := k.q.Sinks(ask)
		cancel()
		for _, x := range states {
			for _, s := range k.all {
				full = full || s.Name == x.Name && x.Bytes > s.Spool/2
			}
		}
		if err == nil && !full {
			return
		}
		k.pause(ctx, sinkLook)
	}
}

// sawAll notes until when all events were brought, if this worker has heard all since it did so
// before: that of the last time, by when all that it heard until then is kept.
func (k *sinking) sawAll(ctx context.Context, ends bool) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	k.mu.Lock()
	heard, kept, caught := k.heard, k.kept, k.caught
	k.mu.Unlock()
	before := k.beaten
	_, now, err := k.q.SinkSeen(ctx, k.all[0].Name)
	if err != nil { // the worker says that the queue does not answer
		return
	}
	k.beaten = beat{at: now, local: time.Now(), heard: heard}
	if up, ok := k.s.BusUp(); !caught || kept < before.heard || ok && (up.IsZero() || up.After(before.local)) {
		return
	}
	until := before.at
	if ends {
		until = now
	}
	for _, s := range k.all {
		_ = k.q.SawSink(ctx, s.Name, until)
	}
}
