package sqldb

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/bus"
	"brine/internal/py/value"
	"brine/internal/testkit/bustest"
	"brine/internal/testkit/memtest"
	"brine/internal/testkit/servertest"
)

// newController has a controller on the bus of a server.
func newController(t *testing.T, db *value.Map, from string, tags ...string) *bustest.Controller {
	t.Helper()
	opts := value.MapOf("returner.postgres.host", "127.0.0.1")
	for k, v := range db.All() {
		opts.Set("returner.postgres."+value.Str(k), v)
	}
	return bustest.Join(t, func(o bus.Options) (*bus.Bus, error) {
		return OpenBus(t.Context(), settings("postgres", opts), o)
	}, from, tags...)
}

// Controllers hear each other over a real PostgreSQL, also after it was away; what
// is not a valid event is ignored.
func TestBus(t *testing.T) {
	t.Parallel()
	srv := servertest.Postgres(t, "")
	db := value.MapOf("port", int64(srv.Port))
	a, same, b := newController(t, db, "a"), newController(t, db, "a"), newController(t, db, "b", "deploy/*", "end")
	a.Ring.Fire("other", nil)
	a.Ring.FireForeign("deploy/foreign", nil)
	a.Ring.Fire("deploy/done", value.MapOf("text", "é ' \\ \x00 \U0001f9c2"))
	a.Ring.Fire("deploy/large", value.MapOf("text", strings.Repeat("x", 100_000)))
	a.Ring.Fire("deploy/huge", value.MapOf("text", strings.Repeat("x", bus.MaxEvent)))
	a.Ring.Fire("end", nil)
	b.Hears(t, "end")
	if got := b.Heard(t); got != "deploy/done deploy/large end" {
		t.Errorf("b heard %s\n%s", got, a.Warnings())
	}
	if got := b.Hears(t, "deploy/done").Data.Str("text"); got != "é ' \\ \x00 \U0001f9c2" {
		t.Errorf("the text came as %q", got)
	}
	if got := len(b.Hears(t, "deploy/large").Data.Str("text")); got != 100_000 {
		t.Errorf("the large text came with %d bytes", got)
	}
	if got := a.Warnings(); !strings.Contains(got, "deploy/huge has 10") {
		t.Errorf("warnings: %q", got)
	}
	b.Ring.Fire("deploy/back", nil) // that of another program or controller
	a.Hears(t, "deploy/back")
	same.Hears(t, "deploy/back")
	if got := a.Heard(t) + " " + same.Heard(t); got != "deploy/back deploy/back" {
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
	if e := b.Hears(t, "deploy/program"); value.Repr(e.Data.At("n")) != "1" {
		t.Errorf("the event of another program has %s", value.Repr(e.Data))
	}
	if got := b.Heard(t); got != "deploy/done deploy/large end deploy/program" {
		t.Errorf("b heard %s", got)
	}
	_ = r.Close()

	srv.Stop()
	a.Ring.Fire("deploy/lost", nil)
	late := newController(t, db, "c")
	if got := late.Warnings(); !strings.Contains(got, "events of other controllers do not arrive") {
		t.Errorf("without a server: %q", got)
	}
	srv.Start(t)
	b.HearsAgain(t, a, "deploy/again")
	if got := b.Warnings(); strings.Count(got, "\n") != 0 || !strings.Contains(got, "do not arrive") {
		t.Errorf("b warned %q, want one line", got)
	}
}

// A server that takes no connection is named in one line, whatever ways were tried.
func TestBusWithoutAConnection(t *testing.T) {
	t.Parallel()
	srv := servertest.Postgres(t, "")
	c := newController(t, value.MapOf("port", int64(srv.Port), "db", "nothing"), "a")
	if got := c.Warnings(); !strings.Contains(got, `database "nothing" does not exist`) || strings.ContainsAny(got, "\n\t") || strings.Contains(got, "TLS") {
		t.Errorf("warnings: %q", got)
	}
}

// TestHostileBusPeer: an account that locks the table of large events, and sends
// notifications without end meanwhile, costs little memory: a server that waits for a lock
// sends none. It runs alone, since memory is measured.
func TestHostileBusPeer(t *testing.T) {
	srv := servertest.Postgres(t, "")
	db := value.MapOf("port", int64(srv.Port))
	a := newController(t, db, "a")
	a.Ring.Fire("deploy/large", value.MapOf("text", strings.Repeat("x", 100_000))) // makes the table
	b := newController(t, db, "b")
	b.HearsAgain(t, a, "deploy/ready")
	conf, err := postgresConfig(settings("postgres", value.MapOf("returner.postgres.host", "127.0.0.1", "returner.postgres.port", int64(srv.Port))))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	connect := func() *sql.Conn {
		c, err := sql.OpenDB(pgConnector{conf}).Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	peer, locker := connect(), connect()
	tx, err := locker.BeginTx(ctx, nil)
	if err == nil {
		_, err = tx.ExecContext(ctx, "LOCK TABLE brine_events IN ACCESS EXCLUSIVE MODE")
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := peer.ExecContext(ctx, `SELECT pg_notify('brine_events', '{"id": 1}')`); err != nil {
		t.Fatal(err)
	}
	for waiting := 0; waiting == 0; time.Sleep(10 * time.Millisecond) {
		if err := peer.QueryRowContext(ctx, "SELECT count(*) FROM pg_locks WHERE NOT granted").Scan(&waiting); err != nil {
			t.Fatalf("nobody waits for the lock: %v", err)
		}
	}
	peak := memtest.Peak(func() {
		if _, err := peer.ExecContext(ctx, `SELECT pg_notify('brine_events', repeat('x', 7900) || g) FROM generate_series(1, 40000) g`); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // what would be kept arrives meanwhile
	})
	if peak > 100<<20 {
		t.Errorf("%d MiB of memory for 300 MiB of notifications", peak>>20)
	}
	t.Logf("%d MiB", peak>>20)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	b.HearsAgain(t, a, "deploy/last") // it may have tired of waiting, and connects again
}
