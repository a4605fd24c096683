package cmd

import (
	"context"

	"brine/cmd/assembly"
	"brine/internal/bus"
	"brine/internal/fun"
)

// openBus connects a session that hears events with those of other controllers, if
// the configuration names a bus.
func (s *session) openBus(ctx context.Context, env *fun.Env) error {
	if !s.listening || env.Opts.At("event_bus") == nil {
		return nil
	}
	b, err := assembly.OpenBus(ctx, env, bus.Options{From: s.peers.Group(), Fire: s.bus.FireRemote, Warn: s.tell})
	if err != nil {
		return &statusError{status: exitUsage, err: err}
	}
	s.bus.Tap(b.Send)
	s.close = append(s.close, b.Close)
	return nil
}
