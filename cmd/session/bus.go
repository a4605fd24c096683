package session

import (
	"context"
	"time"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/fleet/bus"
	"brine/internal/py/value"
)

// openBus connects a session that hears events with those of other controllers, if
// the configuration names a bus.
func (s *Session) openBus(ctx context.Context, env *fun.Env, f *fleet.Fleet) error {
	if !s.listening || env.Opts.At("event_bus") == nil {
		return nil
	}
	ours := func(jid string) bool { return jid == env.JID || f.IsOwnJob(jid) }
	b, err := assembly.OpenBus(ctx, env, bus.Options{From: s.peers.Group(), IsOwnJob: ours, Fire: s.bus.FireRemote, Warn: s.Tell, Back: func() {
		s.Note("event_bus: events of other controllers arrive again")
	}})
	if err != nil {
		return &app.StatusError{Status: app.ExitUsage, Err: err}
	}
	s.shared = b
	s.bus.Tap(b.Send)
	s.OnEnd(b.Close)
	return nil
}

// BusSender connects a run that only sends to the bus that the configuration names: send
// returns when its server has an event, or with the reason why not. nil: there is no bus.
func (s *Session) BusSender(ctx context.Context, env *fun.Env) (send func(context.Context, event.Event) error, err error) {
	if env.Opts.At("event_bus") == nil {
		return nil, nil
	}
	b, err := assembly.OpenBus(ctx, env, bus.Options{From: s.peers.Group(), Fire: func(string, *value.Map, time.Time) {}, Warn: s.Tell})
	if err != nil {
		return nil, &app.StatusError{Status: app.ExitUsage, Err: err}
	}
	s.OnEnd(b.Close)
	return b.Deliver, nil
}

// Hear has the events of other controllers and of Salt masters come to the bus of the Env
// that it returns. Those of this machine's runs are those of [Session.HearRuns].
func (s *Session) Hear(ctx context.Context) (*fun.Env, error) {
	s.listening = true
	return s.Controller(ctx, s.JIDs.Next(s.App.Host.Now()))
}

// BusUp returns since when the events of other controllers arrive; zero: they do not. ok is false
// where no bus is configured.
func (s *Session) BusUp() (since time.Time, ok bool) {
	if s.shared == nil {
		return since, false
	}
	return s.shared.Up(), true
}

// Shape is the data of an event as the Env of [Session.Hear] has it.
func (s *Session) Shape(data *value.Map) *value.Map { return s.bus.Shape(data) }

// HearRuns calls each with the events of every run of the user on this machine; see
// [event.Peers.Watch].
func (s *Session) HearRuns(ctx context.Context, ready func(), each func(event.Event) bool) error {
	return s.peers.Watch(ctx, ready, each)
}

// Cause has the events of this session say which reactions led to them.
func (s *Session) Cause(jids []string) {
	cause := value.Strings(jids...)
	s.bus.Cause(cause)
	s.peers.Cause = cause
}
