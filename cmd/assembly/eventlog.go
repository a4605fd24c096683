//go:build !slim

package assembly

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet/bus/natsbus"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
	"brine/runner/fn/events"
)

// errNoEventLog says what keeps events, and what has to be configured.
var errNoEventLog = errors.New("since needs a log of events, and none is configured: set event_return to mysql, pgjsonb, postgres or sqlite3, or stream in event_bus (NATS); a bus on PostgreSQL alone keeps no events")

// A Log keeps events of before.
type Log = events.Log

// EventStream returns the stream of the bus, which keeps what all controllers sent; ok is false
// where the bus has none.
func EventStream(env *fun.Env) (log events.Log, ok bool, err error) {
	name, set, carried, err := busSettings(env)
	if err != nil || name != natsStore || set.Str("stream") == "" {
		return log, false, err
	}
	opt, err := natsOptions(set, env.Opts.Str("config_dir"))
	if err != nil {
		return log, false, fmt.Errorf("event_bus: %w", err)
	}
	opt.Name = "brine " + env.ID
	l, err := natsbus.New(opt)
	if err != nil {
		return log, false, fmt.Errorf("event_bus: %w", err)
	}
	return events.Log{Name: "the stream " + opt.Stream, Now: l.Now, Read: func(ctx context.Context, since time.Time, each func(event.Event) bool) error {
		return l.History(ctx, since, func(e event.Event) bool {
			if len(carried) > 0 && !slices.ContainsFunc(carried, func(glob string) bool { return value.Fnmatch(glob, e.Tag) }) {
				return true
			}
			return each(e)
		})
	}}, true, nil
}

// EventLog returns what keeps the events of before; ok is false where nothing does.
func EventLog(ctx context.Context, env *fun.Env) (log events.Log, ok bool, err error) {
	if log, err = eventLog(ctx, env); errors.Is(err, errNoEventLog) {
		return log, false, nil
	}
	return log, err == nil, err
}

// eventLog returns what keeps the events of before: the stream of the bus, else the database of
// a returner of events.
func eventLog(_ context.Context, env *fun.Env) (events.Log, error) {
	if log, ok, err := EventStream(env); ok || err != nil {
		return log, err
	}
	var names []string
	switch v := env.Opts.At("event_return").(type) {
	case string:
		names = jobs.Names(v)
	case *value.List:
		names = fun.StringsOf(v)
	}
	i := slices.IndexFunc(names, func(n string) bool { s, ok := returner.Find(Returners(), n); return ok && s.History })
	if i < 0 {
		return events.Log{}, errNoEventLog
	}
	return events.Log{Name: "the table salt_events of " + names[i], Read: func(ctx context.Context, since time.Time, each func(event.Event) bool) error {
		r, err := OpenReturner(ctx, env, names[i], returner.Settings{})
		if err != nil {
			return err
		}
		h, ok := r.(interface {
			Events(context.Context, time.Time, func(event.Event) bool) error
		})
		if !ok {
			return errors.Join(errNoEventLog, r.Close())
		}
		return errors.Join(h.Events(ctx, since, each), r.Close())
	}}, nil
}
