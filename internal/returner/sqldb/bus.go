package sqldb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"brine/internal/event"
	"brine/internal/printable"
	"brine/internal/returner"
	"brine/internal/value"
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

// Limits of events. PostgreSQL takes notifications of less than 8000 bytes.
const (
	maxNotify   = 7900
	maxBusEvent = 1 << 20
	maxBusTag   = 1024
	maxBusQueue = 4096
)

// busGrace bounds how long a run that ends waits for its last events to be sent.
const busGrace = 2 * time.Second

// A Bus carries events between controllers, by LISTEN and NOTIFY of PostgreSQL. A
// database that is away makes it lose events, with a warning, and holds nobody up.
type Bus struct {
	conf *pgx.ConnConfig
	o    BusOptions

	stop   context.CancelFunc // of the listener
	wg     sync.WaitGroup     // of the listener
	mu     sync.Mutex
	closed bool
	out    chan event.Event
	sent   chan struct{}       // closed when the sender has ended
	abort  context.CancelFunc  // of the sender
	once   map[string]struct{} // warnings that were given
}

// BusOptions say what a bus carries.
type BusOptions struct {
	// From names the processes that hear each other without the bus.
	From string
	// Tags are globs of the tags that are sent and taken; none is all.
	Tags []string
	// Fire takes the events of others.
	Fire func(tag string, data *value.Map)
	// Warn is told what goes wrong.
	Warn func(error)
}

// OpenBus connects to a PostgreSQL server, whose returner the settings are of. One
// that does not answer is tried again later. The error is one of configuration.
func OpenBus(ctx context.Context, s returner.Settings, o BusOptions) (*Bus, error) {
	conf, err := postgresConfig(s)
	if err != nil {
		return nil, err
	}
	b := &Bus{conf: conf, o: o, out: make(chan event.Event, maxBusQueue), sent: make(chan struct{}), once: map[string]struct{}{}}
	listen, stop := context.WithCancel(context.WithoutCancel(ctx))
	send, abort := context.WithCancel(context.WithoutCancel(ctx))
	b.stop, b.abort = stop, abort
	ready := make(chan struct{})
	b.wg.Go(func() { b.listen(listen, sync.OnceFunc(func() { close(ready) })) })
	go b.send(send)
	select { // so that a run that begins now misses nothing
	case <-ready:
	case <-ctx.Done():
	}
	return b, nil
}

// warn tells of something once.
func (b *Bus) warn(what string, err error) {
	b.mu.Lock()
	_, told := b.once[what]
	b.once[what] = struct{}{}
	b.mu.Unlock()
	if !told {
		b.o.Warn(fmt.Errorf("event_bus: %s: %w", what, err))
	}
}

// backoff is the time before the n-th try to connect again.
func backoff(n int) time.Duration { return min(30*time.Second, time.Second<<min(n, 5)) }

// pause waits, but no longer than ctx lasts.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// listen takes events until ctx ends. ready is called when it has begun, or could
// not.
func (b *Bus) listen(ctx context.Context, ready func()) {
	defer ready()
	for tries := 0; ctx.Err() == nil; tries++ {
		err := b.hear(ctx, func() {
			ready()
			tries = -1
		})
		if ctx.Err() != nil {
			return
		}
		b.warn("events of other controllers do not arrive", err)
		ready()
		pause(ctx, backoff(max(tries, 0)))
	}
}

// hear takes events over one connection, until it breaks.
func (b *Bus) hear(ctx context.Context, ready func()) error {
	dial, done := context.WithTimeout(ctx, dialTimeout)
	defer done()
	c, err := pgx.ConnectConfig(dial, b.conf)
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.Close(end)
	}()
	if _, err := c.Exec(dial, "LISTEN "+busChannel); err != nil {
		return err
	}
	ready()
	for {
		// A connection that is silent is asked now and then.
		wait, cancel := context.WithTimeout(ctx, 30*time.Second)
		n, err := c.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			err = b.take(ctx, c, n)
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			ask, cancel := context.WithTimeout(ctx, dialTimeout)
			err = c.Ping(ask)
			cancel()
		}
		if err != nil {
			return err
		}
	}
}

// take fires an event that somebody sent, if it is a valid one.
func (b *Bus) take(ctx context.Context, c *pgx.Conn, n *pgconn.Notification) error {
	m := busFrame(n.Payload)
	if m == nil || m.Str("from") == b.o.From {
		return nil
	}
	if id, ok := value.AsInt(m.At("id")); ok {
		var payload string
		ask, cancel := context.WithTimeout(ctx, 4*dialTimeout)
		defer cancel()
		err := c.QueryRow(ask, fmt.Sprintf("SELECT payload FROM brine_events WHERE id = $1 AND octet_length(payload) <= %d", maxBusEvent), id).Scan(&payload)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			// A table that cannot be read loses this event, and not the connection.
			if _, ok := errors.AsType[*pgconn.PgError](err); ok {
				b.warn("large events of other controllers cannot be read", err)
				return nil
			}
			return err
		}
		m = busFrame(payload)
	}
	tag := m.Str("tag")
	if tag == "" || len(tag) > maxBusTag || printable.Line(tag) != tag || !b.carries(tag) {
		return nil
	}
	data := m.Map("data")
	if data == nil {
		data = value.NewMap(1)
	}
	b.o.Fire(tag, data)
	return nil
}

// busFrame reads a notification; nil for one that is not ours.
func busFrame(text string) *value.Map {
	if len(text) > maxBusEvent {
		return nil
	}
	v, _, err := value.ParseJSONWithin(text, 32*maxBusEvent)
	if err != nil {
		return nil
	}
	m, _ := v.(*value.Map)
	return m
}

// carries reports whether events with a tag go over the bus.
func (b *Bus) carries(tag string) bool {
	for _, g := range b.o.Tags {
		if value.Fnmatch(g, tag) {
			return true
		}
	}
	return len(b.o.Tags) == 0
}

// Send has an event sent, unless it came from another process. It does not wait.
func (b *Bus) Send(e event.Event) {
	if e.Foreign || !b.carries(e.Tag) {
		return
	}
	b.mu.Lock()
	full := false
	if !b.closed {
		select {
		case b.out <- e:
		default:
			full = true
		}
	}
	b.mu.Unlock()
	if full {
		b.warn("events are lost", fmt.Errorf("more than %d wait to be sent", maxBusQueue))
	}
}

// send sends events until out is closed.
func (b *Bus) send(ctx context.Context) {
	defer close(b.sent)
	var c *pgx.Conn
	defer func() {
		if c != nil {
			_ = c.Close(ctx)
		}
	}()
	var down time.Time // until when the server is left alone
	tries := 0
	for e := range b.out {
		if time.Now().Before(down) || ctx.Err() != nil {
			continue
		}
		frame, err := value.AppendJSON(nil, value.MapOf("from", b.o.From, "tag", e.Tag, "data", e.Data), value.JSONOptions{Repr: true, SkipKeys: true, EscapeNonASCII: true})
		if err == nil && len(frame) > maxBusEvent {
			err = fmt.Errorf("%s has %d bytes, more than %d", e.Tag, len(frame), maxBusEvent)
		}
		if err != nil {
			b.warn("an event is too large for other controllers", err)
			continue
		}
		try, cancel := context.WithTimeout(ctx, 2*dialTimeout)
		if c == nil {
			c, err = pgx.ConnectConfig(try, b.conf)
		}
		if err == nil {
			err = b.notify(try, c, string(frame))
		}
		cancel()
		if err == nil {
			tries = 0
			continue
		}
		b.warn("other controllers do not get the events of this one", err)
		if c != nil {
			_ = c.Close(ctx)
			c = nil
		}
		down = time.Now().Add(backoff(tries))
		tries++
	}
}

// notify sends a frame. A long one is left in the table, and its number is sent.
func (b *Bus) notify(ctx context.Context, c *pgx.Conn, frame string) error {
	if len(frame) > maxNotify {
		var id int64
		const insert = "INSERT INTO brine_events (payload) VALUES ($1) RETURNING id"
		err := c.QueryRow(ctx, insert, frame).Scan(&id)
		if p, ok := errors.AsType[*pgconn.PgError](err); ok && p.Code == "42P01" { // there is no such table
			if _, err := c.Exec(ctx, busSchema); err != nil {
				return err
			}
			err = c.QueryRow(ctx, insert, frame).Scan(&id)
		}
		if err != nil {
			return err
		}
		if _, err := c.Exec(ctx, "DELETE FROM brine_events WHERE created < now() - interval '10 minutes'"); err != nil {
			return err
		}
		frame = string(value.EncodeJSON(value.MapOf("from", b.o.From, "id", id)))
	}
	_, err := c.Exec(ctx, "SELECT pg_notify($1, $2)", busChannel, frame)
	return err
}

// Close sends what waits, for a moment, and ends the bus.
func (b *Bus) Close() {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.closed = true
	close(b.out)
	b.mu.Unlock()
	b.stop()
	select {
	case <-b.sent:
	case <-time.After(busGrace):
		b.abort()
		<-b.sent
	}
	b.abort()
	b.wg.Wait()
}
