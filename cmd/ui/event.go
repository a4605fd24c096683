package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/cmd/session"
	"brine/internal/core/event"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/internal/view/ui"
)

// Events shows the events of all runs of this user on this machine, as 'brine run state.event'
// does; see [ui.Backend].
func (b *backend) Events(ctx context.Context, ready func(), each func(tag string, data *value.Map) bool) error {
	return b.session(ctx, func(s *session.Session) error {
		from, ok := s.Env(ctx, "").Peers.(interface {
			Watch(ctx context.Context, ready func(), each func(event.Event) bool) error
		})
		if !ok {
			return errors.New("the events of other processes cannot be seen here")
		}
		known := s.Secrets
		if known == nil {
			known = redact.NewSet() // no program has them, whatever records do
		}
		if err := knowPillar(ctx, s, known); err != nil {
			return err
		}
		return from.Watch(ctx, ready, func(e event.Event) bool {
			data, _ := known.Mask(redact.Hide(e.Data)).(*value.Map)
			return each(e.Tag, data)
		})
	})
}

// SendEvent sends an event as 'brine run event.send' does; see [ui.Backend].
func (b *backend) SendEvent(ctx context.Context, tag string, data *value.Map) (by string, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		data.Set("_stamp", s.App.Host.Now().UTC().Format(event.StampFormat))
		env, err := s.Controller(ctx, s.JIDs.Next(s.App.Host.Now()))
		if err != nil {
			return err
		}
		var taken []string
		send, err := s.BusSender(ctx, env)
		if err != nil {
			return err
		}
		if send != nil {
			if err := send(ctx, event.Event{Tag: tag, Data: data}); err != nil {
				return fmt.Errorf("event_bus: %w", err)
			}
			taken = append(taken, "event_bus")
		}
		env.Bus.Fire(tag, data) // for event_return
		if v := env.Opts.At("event_return"); value.Truth(v) {
			taken = append(taken, "event_return")
		}
		if took := env.Peers.Send(tag, data); took.Runs > 0 || took.Watchers > 0 {
			taken = append(taken, took.String())
		}
		if len(taken) == 0 {
			return ui.ErrNotSent
		}
		by = strings.Join(taken, ", ")
		return nil
	})
	return by, err
}
