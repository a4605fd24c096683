package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"brine/internal/core/event"
	"brine/internal/fleet/bus"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// busChannel is the channel of NOTIFY that controllers share. brine_events keeps
// what is too long for a notification, for a while.
const (
	busChannel = "brine_events"
	busSchema  = `CREATE TABLE IF NOT EXISTS brine_events (
  id bigserial PRIMARY KEY,
  created timestamp with time zone NOT NULL DEFAULT now(),
  payload text NOT NULL
);
`
)

// maxNotify bounds a notification: PostgreSQL takes those of less than 8000 bytes.
const maxNotify = 7900

// A busLink is a bus by LISTEN and NOTIFY of PostgreSQL.
type busLink struct {
	conf  *pgconn.Config
	fault func(error) error // words why a connection failed
	from  string
	out   *pgSession // to send by; nil: there is none
}

// OpenBus connects to a PostgreSQL server, whose returner the settings are of. One
// that does not answer is tried again later. The error is one of configuration.
func OpenBus(ctx context.Context, s returner.Settings, o bus.Options) (*bus.Bus, error) {
	conf, err := postgresConfig(s)
	if err != nil {
		return nil, err
	}
	fault := func(err error) error { return pgFault(s, sslMode(s), err) }
	return bus.Open(ctx, &busLink{conf: conf, fault: fault, from: o.From}, o), nil
}

// Receive takes events over one connection, until it breaks; see [bus.Link].
func (l *busLink) Receive(ctx context.Context, b *bus.Bus, ready func()) error {
	dial, done := context.WithTimeout(ctx, dialTimeout)
	defer done()
	c, err := dialPostgres(dial, l.conf)
	if err != nil {
		return l.fault(err)
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.c.Close(end)
	}()
	if _, err := c.exec(dial, "LISTEN "+busChannel); err != nil {
		return err
	}
	ready()
	for {
		// A connection that is silent is asked now and then.
		wait, cancel := context.WithTimeout(ctx, 30*time.Second)
		n, err := c.notification(wait)
		cancel()
		switch {
		case err == nil:
			err = take(ctx, b, c, n)
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			ask, cancel := context.WithTimeout(ctx, dialTimeout)
			err = c.c.Ping(ask)
			cancel()
		}
		if err != nil {
			return err
		}
	}
}

// take fires an event that somebody sent, if it is a valid one.
func take(ctx context.Context, b *bus.Bus, c *pgSession, n *pgconn.Notification) error {
	m := bus.Decode(n.Payload)
	if m == nil || m.Str("from") == b.From() {
		return nil
	}
	if id, ok := value.AsInt(m.At("id")); ok {
		ask, cancel := context.WithTimeout(ctx, 4*dialTimeout)
		defer cancel()
		payload, err := c.one(ask, fmt.Sprintf("SELECT payload FROM brine_events WHERE id = $1 AND octet_length(payload) <= %d", bus.MaxEvent), id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			// A table that cannot be read loses this event, and not the connection.
			if _, ok := errors.AsType[*pgconn.PgError](err); ok {
				b.Warn("large events of other controllers cannot be read", err)
				return nil
			}
			return err
		}
		m = bus.Decode(payload)
	}
	b.Take(m.Str("from"), m.Str("tag"), m.Map("data"), time.Time{})
	return nil
}

// Send sends an event; see [bus.Link].
func (l *busLink) Send(ctx context.Context, e event.Event) error {
	frame, err := bus.Encode(value.MapOf("from", l.from, "tag", e.Tag, "data", e.Data))
	if err != nil {
		return err
	}
	if len(frame) > bus.MaxEvent {
		return &bus.LargeError{Tag: e.Tag, Size: len(frame), Max: bus.MaxEvent}
	}
	if l.out == nil {
		if l.out, err = dialPostgres(ctx, l.conf); err != nil {
			l.out = nil
			return l.fault(err)
		}
	}
	if err = l.notify(ctx, string(frame)); err != nil {
		l.Close(ctx)
	}
	return err
}

// Close ends the connection to send by; see [bus.Link].
func (l *busLink) Close(ctx context.Context) {
	if l.out != nil {
		_ = l.out.c.Close(ctx)
		l.out = nil
	}
}

// notify sends a frame. A long one is left in the table, and its number is sent.
func (l *busLink) notify(ctx context.Context, frame string) error {
	c := l.out
	if len(frame) > maxNotify {
		const insert = "INSERT INTO brine_events (payload) VALUES ($1) RETURNING id"
		text, err := c.one(ctx, insert, frame)
		if p, ok := errors.AsType[*pgconn.PgError](err); ok && p.Code == "42P01" { // there is no such table
			if _, err := c.exec(ctx, busSchema); err != nil {
				return err
			}
			text, err = c.one(ctx, insert, frame)
		}
		if err != nil {
			return err
		}
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		if _, err := c.exec(ctx, "DELETE FROM brine_events WHERE created < now() - interval '10 minutes'"); err != nil {
			return err
		}
		frame = string(value.StrictJSON(value.MapOf("from", l.from, "id", id)))
	}
	_, err := c.exec(ctx, "SELECT pg_notify($1, $2)", busChannel, frame)
	return err
}
