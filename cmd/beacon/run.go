package beacon

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/beacon"
	"brine/internal/core/event"
	"brine/internal/py/value"
)

func newRun(a *app.App) *cobra.Command {
	return newSub(a, &options{}, "run [<beacon>...]", "Have the beacons look once that are due",
		`Have the beacons look once whose interval has passed, or those that are named, due
or not. The report says what became of each, with its events.

Exit status: 0 all that were due looked at everything; 1 a beacon is configured wrong,
or could not look at something; 64 usage error; 130 interrupted.`,
		true, run)
}

func run(ctx context.Context, b *bench, names []string) error {
	b.read()
	d := &delivery{bench: b, spool: beacon.NewSpool(b.env.Host, b.env.CacheDir, b.warn)}
	r := &beacon.Runner{Env: b.env, Store: beacon.NewStore(b.env.Host, b.env.CacheDir, b.warn), Deliver: func(e []beacon.Event) error { return d.take(ctx, e) }}
	reports, err := r.Run(ctx, b.Config, names)
	out := value.NewMap(len(reports))
	for _, rep := range reports {
		row := value.MapOf("result", rep.What)
		if len(rep.Events) > 0 {
			row.Set("events", listed(rep.Events))
		}
		if rep.Err != nil {
			b.faulty = true
			row.Set("error", rep.Err.Error())
			b.s.Tell(fmt.Errorf("beacon %q: %w", rep.Name, rep.Err))
		}
		out.Set(rep.Name, row)
	}
	if len(reports) > 0 {
		if perr := b.rep.Print(out, "nested", 0); perr != nil {
			return perr
		}
	} else if err == nil && !b.faulty {
		b.s.Note("no beacon is configured")
	}
	var unknown *beacon.UnknownError
	switch {
	case ctx.Err() != nil:
		return app.ErrInterrupted
	case errors.As(err, &unknown):
		return &app.StatusError{Status: app.ExitUsage, Err: err}
	}
	return err
}

// listed returns events as the report shows them.
func listed(events []beacon.Event) *value.List {
	out := value.NewList()
	for _, e := range events {
		out.Append(value.MapOf("tag", e.Tag, "data", e.Data))
	}
	return out
}

// A delivery takes the events of beacons to where events go.
type delivery struct {
	*bench
	send  func(context.Context, event.Event) error // nil: there is no bus, or it is not open yet
	open  bool                                     // it was tried to open the bus
	spool *beacon.Spool
	down  bool // the bus did not take an event
}

// take takes events to the bus, and what it does not take to the spool; then the runs and
// watchers of this user hear them, who know by _stamp what they hear twice.
func (d *delivery) take(ctx context.Context, events []beacon.Event) error {
	var rest []beacon.Event
	for i := range events {
		if m, ok := d.s.Mask(events[i].Data).(*value.Map); ok {
			events[i].Data = m
		}
		if !d.sent(ctx, events[i]) {
			rest = append(rest, events[i])
		}
	}
	if len(rest) > 0 {
		if err := d.spool.Add(rest); err != nil {
			return err
		}
	}
	for _, e := range events {
		d.env.Peers.Send(e.Tag, e.Data)
	}
	return nil
}

// sent reports whether the server of the bus has an event. A server that did not answer is
// not asked again in this run.
func (d *delivery) sent(ctx context.Context, e beacon.Event) bool {
	var err error
	if !d.open {
		d.open = true
		d.send, err = d.s.BusSender(ctx, d.env)
	}
	if err == nil {
		if d.send == nil || d.down {
			return false
		}
		err = d.send(ctx, event.Event{Tag: e.Tag, Data: e.Data})
	}
	if err != nil {
		d.down = true
		d.s.Tell(fmt.Errorf("events wait in the spool: %w", err))
	}
	return err == nil
}
