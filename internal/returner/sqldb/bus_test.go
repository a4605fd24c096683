package sqldb

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/bus"
	"brine/internal/event"
	"brine/internal/testkit/servertest"
	"brine/internal/value"
)

// A controller has a bus of its own.
type controller struct {
	*bus.Bus
	ring *event.Ring

	mu   sync.Mutex
	said []string
}

func newController(t *testing.T, port int, from string, tags ...string) *controller {
	t.Helper()
	opts := value.MapOf("returner.postgres.host", "127.0.0.1", "returner.postgres.port", int64(port))
	c := &controller{ring: event.NewRing(0, time.Now)}
	b, err := OpenBus(t.Context(), settings("postgres", opts), bus.Options{From: from, Tags: tags, Fire: c.ring.FireRemote, Warn: func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.said = append(c.said, err.Error())
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.Bus = b
	c.ring.Tap(b.Send)
	t.Cleanup(b.Close)
	return c
}

func (c *controller) warnings() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.said, "\n")
}

// hears waits for an event from another controller.
func (c *controller) hears(t *testing.T, tag string) event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, _, err := c.ring.Next(ctx, 0, func(e event.Event) bool { return e.Remote && e.Tag == tag })
	if err != nil {
		t.Fatalf("no event %s: %v\n%s", tag, err, c.warnings())
	}
	return e
}

// heard lists the tags that came from others.
func (c *controller) heard(t *testing.T) (tags []string) {
	t.Helper()
	for after := uint64(0); after < c.ring.Seq(); {
		e, _, err := c.ring.Next(t.Context(), after, nil)
		if err != nil {
			t.Fatal(err)
		}
		after = e.Seq
		if e.Remote {
			tags = append(tags, e.Tag)
		}
	}
	return tags
}

// Controllers hear each other over a real PostgreSQL, also after it was away; what
// is not a valid event is ignored.
func TestBus(t *testing.T) {
	t.Parallel()
	srv := servertest.Postgres(t, "")
	a, same, b := newController(t, srv.Port, "a"), newController(t, srv.Port, "a"), newController(t, srv.Port, "b", "deploy/*", "end")
	a.ring.Fire("other", nil)
	a.ring.FireForeign("deploy/foreign", nil)
	a.ring.Fire("deploy/done", value.MapOf("text", "é ' \\ \x00 \U0001f9c2"))
	a.ring.Fire("deploy/large", value.MapOf("text", strings.Repeat("x", 100_000)))
	a.ring.Fire("deploy/huge", value.MapOf("text", strings.Repeat("x", bus.MaxEvent)))
	a.ring.Fire("end", nil)
	b.hears(t, "end")
	if got := strings.Join(b.heard(t), " "); got != "deploy/done deploy/large end" {
		t.Errorf("b heard %s\n%s", got, a.warnings())
	}
	if got := b.hears(t, "deploy/done").Data.Str("text"); got != "é ' \\ \x00 \U0001f9c2" {
		t.Errorf("the text came as %q", got)
	}
	if got := len(b.hears(t, "deploy/large").Data.Str("text")); got != 100_000 {
		t.Errorf("the large text came with %d bytes", got)
	}
	if got := a.warnings(); !strings.Contains(got, "deploy/huge has 10") {
		t.Errorf("warnings: %q", got)
	}
	b.ring.Fire("deploy/back", nil) // that of another program or controller
	a.hears(t, "deploy/back")
	same.hears(t, "deploy/back")
	if got := strings.Join(append(a.heard(t), same.heard(t)...), " "); got != "deploy/back deploy/back" {
		t.Errorf("a and its neighbour heard %s: they hear each other without the bus", got)
	}

	r, err := spec("postgres").New(t.Context(), settings("postgres", value.MapOf("returner.postgres.host", "127.0.0.1", "returner.postgres.port", int64(srv.Port))))
	if err != nil {
		t.Fatal(err)
	}
	notify := func(payload string) {
		if _, err := inner(r).db.ExecContext(t.Context(), "SELECT pg_notify('brine_events', $1)", payload); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{
		"", "{", "[]", `{"tag": 1}`, `{"tag": ""}`, `{"tag": "deploy/\u001b[2J"}`, `{"tag": "deploy/` + strings.Repeat("x", 2000) + `"}`,
		`{"id": 4611686018427387904}`, `{"id": "x"}`, `{"tag": "deploy/bad", "from": "b"}`, strings.Repeat("[", 7000),
	} {
		notify(bad)
	}
	notify(`{"tag": "deploy/program", "data": {"n": 1}}`)
	if e := b.hears(t, "deploy/program"); value.Repr(e.Data.At("n")) != "1" {
		t.Errorf("the event of another program has %s", value.Repr(e.Data))
	}
	if got := strings.Join(b.heard(t), " "); got != "deploy/done deploy/large end deploy/program" {
		t.Errorf("b heard %s", got)
	}
	_ = r.Close()

	srv.Stop()
	a.ring.Fire("deploy/lost", nil)
	late := newController(t, srv.Port, "c")
	if got := late.warnings(); !strings.Contains(got, "events of other controllers do not arrive") {
		t.Errorf("without a server: %q", got)
	}
	srv.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil { // until both are connected again
		a.ring.Fire("deploy/again", nil)
		wait, done := context.WithTimeout(ctx, 100*time.Millisecond)
		_, _, err := b.ring.Next(wait, 0, func(e event.Event) bool { return e.Tag == "deploy/again" })
		done()
		if err == nil {
			break
		}
	}
	b.hears(t, "deploy/again")
	if got := b.warnings(); strings.Count(got, "\n") != 0 || !strings.Contains(got, "do not arrive") {
		t.Errorf("b warned %q, want one line", got)
	}
}
