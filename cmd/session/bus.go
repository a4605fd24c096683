package session

import (
	"context"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/fleet/bus"
)

// openBus connects a session that hears events with those of other controllers, if
// the configuration names a bus.
func (s *Session) openBus(ctx context.Context, env *fun.Env, f *fleet.Fleet) error {
	if !s.listening || env.Opts.At("event_bus") == nil {
		return nil
	}
	ours := func(jid string) bool { return jid == env.JID || f.IsOwnJob(jid) }
	b, err := assembly.OpenBus(ctx, env, bus.Options{From: s.peers.Group(), IsOwnJob: ours, Fire: s.bus.FireRemote, Warn: s.Tell})
	if err != nil {
		return &app.StatusError{Status: app.ExitUsage, Err: err}
	}
	s.bus.Tap(b.Send)
	s.OnEnd(b.Close)
	return nil
}
