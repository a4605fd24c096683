package sqldb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/notify"
	"brine/internal/fleet/queue"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
	"brine/internal/testkit/historytest"
	"brine/internal/testkit/queuetest"
	"brine/internal/testkit/servertest"
	"brine/internal/testkit/sharedtest"
)

func spec(name string) *returner.Spec {
	s, _ := returner.Find(Specs(), name)
	return s
}

func settings(name string, opts *value.Map) returner.Settings {
	return returner.Settings{Spec: spec(name), Env: &fun.Env{Data: fun.Data{Opts: opts}}}
}

func ret(jid, id string, v value.Value) *value.Map {
	return value.MapOf("fun_args", value.NewList(), "jid", jid, "return", v, "retcode", int64(0), "success", true, "fun", "test.ping", "id", id)
}

// testStore tries what a store of jobs must do.
func testStore(t *testing.T, s returner.Settings) {
	t.Helper()
	ctx := t.Context()
	r, err := s.Spec.New(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const a, b = "20261121090807000001", "20261121090807000002"
	var loads []*value.Map
	for _, jid := range []string{a, b} {
		loads = append(loads, jobs.Load{JID: jid, Fun: "test.ping", Tgt: "*", TgtType: "glob", User: "zoe", Minions: []string{"web1", "web2"}}.Map())
	}
	// A load that is there already is no fault.
	for range 2 {
		if err := r.(jobs.LoadSaver).SaveLoad(ctx, loads); err != nil {
			t.Fatal(err)
		}
	}
	odd := "quote ' \" \\ ` %s ? $1 \x00 é \U0001f9c2"
	if err := r.Return(ctx, []*value.Map{ret(a, "web1", true), ret(a, "web2", value.MapOf("text", odd)), ret(b, "web1", nil)}); err != nil {
		t.Fatal(err)
	}
	if err := r.(jobs.EventSaver).SaveEvents(ctx, []jobs.EventRow{{Tag: "deploy/done", Data: value.MapOf("release", "1.4"), Master: "ctl"}}); err != nil {
		t.Fatal(err)
	}
	st := r.(jobs.Store)
	j, err := st.Job(ctx, a)
	if err != nil || j == nil {
		t.Fatalf("Job = %v, %v", j, err)
	}
	if j.Load.Str("fun") != "test.ping" || j.Returns.Len() != 2 || j.Returns.Map("web1").At("return") != true {
		t.Errorf("job = %s, %s", value.Repr(j.Load), value.Repr(j.Returns))
	}
	if got := j.Returns.Map("web2").Map("return").Str("text"); got != "quote ' \" \\ ` %s ? $1 \ufffd é \U0001f9c2" {
		t.Errorf("text came back as %q", got)
	}
	if none, err := st.Job(ctx, "20200101000000000000"); none != nil || err != nil {
		t.Errorf("a job that is not there = %v, %v", none, err)
	}
	if l, err := st.Jobs(ctx, "", ""); err != nil || len(l) != 2 || l[0].JID != a {
		t.Errorf("Jobs = %v, %v", l, err)
	}
	if l, err := st.Jobs(ctx, b, b); err != nil || len(l) != 1 || l[0].JID != b {
		t.Errorf("Jobs from %s = %v, %v", b, l, err)
	}
	servertest.Load(t, s.Spec.Name, opener(s))
	testHistory(t, s)
	testQueue(t, s)
	testShared(t, s)
	testNotices(t, s)
	testEvents(t, s)
}

// testEvents tries the log of events: those since a time, in their order.
func testEvents(t *testing.T, s returner.Settings) {
	t.Helper()
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const n = 3*eventPage/2 + 1
	at := time.Now().UTC().Truncate(time.Millisecond)
	var rows []jobs.EventRow
	for i := range n {
		rows = append(rows, jobs.EventRow{Tag: fmt.Sprint("log/", i), Data: value.MapOf("n", int64(i), "text", "é \U0001f9c2", "_stamp", at.Add(time.Duration(i-n)*time.Second).Format(event.StampFormat)), Master: "ctl"})
	}
	if err := r.(jobs.EventSaver).SaveEvents(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	log := r.(interface {
		Events(context.Context, time.Time, func(event.Event) bool) error
	})
	read := func(since time.Time, most int) (got []string) {
		t.Helper()
		if err := log.Events(t.Context(), since, func(e event.Event) bool {
			if strings.HasPrefix(e.Tag, "log/") {
				got = append(got, e.Tag)
			}
			return len(got) < most
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := read(at.Add(-time.Hour), 1<<30); len(got) != n || got[0] != "log/0" || got[n-1] != fmt.Sprint("log/", n-1) {
		t.Errorf("the log has %d events", len(got))
	}
	if got := read(at.Add(-2*time.Second), 1<<30); fmt.Sprint(got) != fmt.Sprintf("[log/%d log/%d]", n-2, n-1) {
		t.Errorf("the last two events are %v", got)
	}
	if got := read(at.Add(-time.Hour), 3); len(got) != 3 {
		t.Errorf("of three events %d were read", len(got))
	}
	if got := read(at.Add(2*time.Hour), 1<<30); got != nil {
		t.Errorf("events to come: %v", got)
	}
}

// testNotices tries the notifications that are kept until they arrive, beside the history.
func testNotices(t *testing.T, s returner.Settings) {
	t.Helper()
	taken := 0
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if taken++; taken == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer receiver.Close()
	to, err := notify.Parse(value.MapOf("ops", value.MapOf("kind", "webhook", "url", receiver.URL, "allow_private", "127.0.0.1")), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	h := r.(interface{ History() *history.Store }).History()
	defer h.Close()
	db, dialect := h.Database()
	st := notify.New(db, dialect, func() error { return nil })
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for range 2 {
		if err := st.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, n := range to.For(notify.Message{Event: notify.Failed, Kind: "orchestration", Name: "é 'quoted'", JID: "20261129120000000000", Cause: "no space"}, nil, at) {
			row, err := n.Row()
			if err == nil {
				err = st.Return(t.Context(), []*value.Map{row})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []string{notify.Pending, notify.Delivered} {
		if err := st.Deliver(t.Context(), to, func() time.Time { return at }, nil); err != nil {
			t.Fatal(err)
		}
		all, err := st.List(t.Context(), "", 10)
		if err != nil || len(all) != 1 || all[0].State != want || all[0].Message.Name != "é 'quoted'" {
			t.Fatalf("List = %+v, %v, want one that is %s", all, err, want)
		}
		at = all[0].Due
	}
	if known, err := st.Has(t.Context(), "20261129120000000000"); err != nil || !known || taken != 2 {
		t.Errorf("Has = %t, %v after %d requests", known, err, taken)
	}
	if err := st.Retry(t.Context(), "none", at); !errors.Is(err, notify.ErrNone) {
		t.Errorf("Retry = %v", err)
	}
}

// testQueue tries the queue of orchestrations, in a table that is made when it is
// missing.
func testQueue(t *testing.T, s returner.Settings) {
	t.Helper()
	open := func() *queue.Store {
		r, err := s.Spec.New(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		q := r.(interface{ Queue() *queue.Store }).Queue()
		t.Cleanup(func() { _ = q.Close() })
		return q
	}
	q := open()
	for range 2 {
		if err := q.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	db := inner(r).db
	queuetest.Store(t, open, func(query string) {
		if s.Spec.Name == "mysql" && strings.HasPrefix(query, "DROP INDEX ") {
			query += " ON brine_queue"
		}
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	})
}

// testShared tries what controllers share in the database, and what the job cache
// tells of it.
func testShared(t *testing.T, s returner.Settings) {
	t.Helper()
	open := func() *shared.Store {
		r, err := s.Spec.New(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return r.(interface{ Shared() *shared.Store }).Shared()
	}
	sharedtest.Store(t, open)
	const alive, dead = "20261121090807000501", "20261121090807000502"
	sh := open()
	defer sh.Close()
	for jid, lease := range map[string]time.Duration{alive: time.Hour, dead: 0} {
		load := jobs.Load{JID: jid, Fun: "runner.state.orchestrate", Tgt: "ctl", Minions: []string{"ctl"}}.Map()
		r := shared.Run{JID: jid, Load: load, Controller: "ctl", Host: "machine", PID: 7, Lease: lease}
		if err := sh.BeginNote(t.Context(), r, 0, "definition", value.MapOf("sls", "orch")); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := map[string]jobs.State{alive: jobs.Active, dead: jobs.Interrupted}
	for jid, state := range want {
		if j, err := r.(jobs.Store).Job(t.Context(), jid); err != nil || j == nil || j.State != state || !strings.Contains(j.Where, "pid 7 on machine") {
			t.Errorf("Job = %+v, %v", j, err)
		}
	}
	list, err := r.(jobs.Store).Jobs(t.Context(), alive, dead)
	if err != nil || len(list) != 2 || list[0].State != jobs.Active || list[1].State != jobs.Interrupted {
		t.Errorf("Jobs = %+v, %v", list, err)
	}
	open2, err := r.(jobs.Sharer).Unended(t.Context())
	if err != nil || len(open2) != 2 || open2[0].State != jobs.Active {
		t.Errorf("Unended = %+v, %v", open2, err)
	}
	for jid := range want {
		if err := sh.Forget(t.Context(), jid); err != nil {
			t.Error(err)
		}
	}
}

// testHistory tries what the database keeps of orchestrations, in tables that are
// made when they are missing.
func testHistory(t *testing.T, s returner.Settings) {
	t.Helper()
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	h := r.(interface{ History() *history.Store }).History()
	defer h.Close()
	for range 2 {
		if err := h.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	db := inner(r).db
	// One connection: a setting of the session is to hold for all statements.
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	historytest.Migrates(t, inner(r).d.history, func(query string) {
		t.Helper()
		if _, err := c.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}, func() *history.Store {
		r, err := s.Spec.New(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		h := r.(interface{ History() *history.Store }).History()
		t.Cleanup(func() { _ = h.Close() })
		return h
	})
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	lite, err := history.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lite.Close()
	historytest.Transfers(t, lite, h)
	if err := h.Clean(t.Context(), 1, false); err != nil {
		t.Fatal(err)
	}
	historytest.Store(t, h)
}

// testUnfit tries that a row that a server does not take holds up no other one.
func testUnfit(t *testing.T, s returner.Settings) {
	t.Helper()
	const jid = "20261121090807000077"
	var said []string
	sink := &jobs.Sink{Name: s.Spec.Name, Spool: t.TempDir(), Open: opener(s), Warn: func(err error) { said = append(said, err.Error()) }}
	for _, id := range []string{"web1", strings.Repeat("x", 300), "web2"} {
		sink.Return(ret(jid, id, true))
	}
	if err := sink.Close(); err == nil || len(said) != 1 || !strings.Contains(said[0], "refused 1 row") {
		t.Errorf("said %q, %v", said, err)
	}
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if j, err := r.(jobs.Store).Job(t.Context(), jid); err != nil || j == nil || j.Returns.Len() != 2 {
		t.Errorf("Job = %+v, %v", j, err)
	}
	if jobs.Spooled(sink.Spool) {
		t.Error("rows are left in the spool")
	}
}

// testCut tries what is told of a return that a server without strict mode cut to
// the length of its column.
func testCut(t *testing.T, s returner.Settings) {
	t.Helper()
	const jid = "20261121090807000078"
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Return(t.Context(), []*value.Map{ret(jid, "web1", strings.Repeat("x", 1000)), ret(jid, "web2", true)}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.(*store).db.ExecContext(t.Context(), "UPDATE salt_returns SET full_ret = SUBSTR(full_ret, 1, 100) WHERE id = 'web1' AND jid = ?", jid); err != nil {
		t.Fatal(err)
	}
	j, err := r.(jobs.Store).Job(t.Context(), jid)
	if err != nil || j == nil || !strings.Contains(j.Unread["web1"], "the database has 100 bytes of its return") || len(j.Unread) != 1 || j.Returns.Map("web2").At("return") != true {
		t.Errorf("Job = %+v, %v", j, err)
	}
}

// The estimate is what the driver writes, at least.
func TestStatementsFitIntoPackets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 3, "abc": 6, `a"b'c\`: 12, "\x00\n\r\x1a": 11, "é": 5} {
		if got := escaped(text); got != want {
			t.Errorf("%q takes %d bytes, want %d", text, got, want)
		}
	}
	s := &store{limit: 1000, limitIs: "the limit", cost: escaped}
	sizes, err := s.sizes("t", [][]any{{"a", strings.Repeat("x", 100)}, {"b", nil}})
	if err != nil || len(sizes) != 2 || sizes[0] < 101 || sizes[0] > 101+perRow+6 {
		t.Errorf("sizes = %v, %v", sizes, err)
	}
	_, err = s.sizes("t", [][]any{{"a"}, {strings.Repeat(`"`, 300)}})
	u, ok := errors.AsType[*jobs.UnfitError](err)
	if !ok || len(u.Rows) != 1 || !strings.Contains(u.Rows[1].Error(), "the limit is 1000") {
		t.Errorf("sizes of a large row = %v", err)
	}
}

func opener(s returner.Settings) func(context.Context) (jobs.Returner, error) {
	return func(ctx context.Context) (jobs.Returner, error) { return s.Spec.New(ctx, s) }
}

// counter counts the rows of jobs whose id begins with a prefix.
func counter(t *testing.T, s returner.Settings) func(prefix string) int {
	return func(prefix string) (n int) {
		t.Helper()
		r, err := s.Spec.New(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.(*store).db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM salt_returns WHERE jid LIKE '"+prefix+"%'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

func TestMySQL(t *testing.T) {
	t.Parallel()
	srv := servertest.MariaDB(t, mysqlSchema)
	opts := value.MapOf("mysql.host", "127.0.0.1", "mysql.port", int64(srv.Port))
	testStore(t, settings("mysql", opts))
	testClean(t, settings("mysql", opts))
	testUnfit(t, settings("mysql", opts))
	testChars(t, srv, opts)

	servertest.Large(t, "mysql", 20<<20, "max_allowed_packet is 16777216", opener(settings("mysql", opts)))
	testCut(t, settings("mysql", opts))

	servertest.Outage(t, "mysql", srv, opener(settings("mysql", opts)))
	servertest.Killed(t, "mysql", srv, opener(settings("mysql", opts)), counter(t, settings("mysql", opts)))
}

func TestPgjsonb(t *testing.T) {
	t.Parallel()
	srv := servertest.Postgres(t, pgjsonbSchema)
	s := settings("pgjsonb", value.MapOf("returner.pgjsonb.host", "127.0.0.1", "returner.pgjsonb.port", int64(srv.Port)))
	testStore(t, s)
	testClean(t, s)
	testUnfit(t, s)
	servertest.Outage(t, "pgjsonb", srv, opener(s))
	servertest.Killed(t, "pgjsonb", srv, opener(s), counter(t, s))
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	srv := servertest.Postgres(t, postgresSchema)
	// The schema may be run again.
	s := settings("postgres", value.MapOf("postgres", value.MapOf("host", "127.0.0.1", "port", int64(srv.Port), "passwd", "salt")))
	testStore(t, s)
	testClean(t, s)
	testText(t, s, "SELECT return FROM salt_returns WHERE jid = '"+textJID+"'", "\"é 日本 \U0001f9c2\"")
}

// fails tries that the settings lead to an error that says want.
func fails(t *testing.T, s returner.Settings, want string) {
	t.Helper()
	r, err := s.Spec.New(t.Context(), s)
	if err == nil {
		r.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("err = %v, want %q", err, want)
	}
}

const textJID = "20261121090807000077"

// testChars tries the character sets of MySQL's tables, and its socket.
func testChars(t *testing.T, srv *servertest.Server, opts *value.Map) {
	t.Helper()
	const query = "SELECT `return` FROM salt_returns WHERE jid = '" + textJID + "'"
	s := settings("mysql", opts)
	testText(t, s, query, `"é 日本 \ud83e\uddc2"`)
	socket := filepath.Join(srv.Dir, "s.sock")
	for _, more := range []*value.Map{
		value.MapOf("mysql.unix_socket", socket),
		value.MapOf("mysql.unix_socket", socket, "mysql.host", "localhost"),
		value.MapOf("mysql.host", socket),
	} {
		if got := over(t, settings("mysql", more), "SELECT SUBSTRING_INDEX(USER(), '@', -1)"); got != "localhost" {
			t.Errorf("by the socket of %s the server sees %q", value.Repr(more), got)
		}
	}
	// For another machine a socket does not count.
	away := opts.Copy()
	away.Set("mysql.unix_socket", "/nonexistent")
	over(t, settings("mysql", away), "SELECT 1")
	// Tables of a smaller character set have the rest written out.
	alter(t, s, "DELETE FROM salt_returns") // what it does not hold
	alter(t, s, "ALTER TABLE salt_returns CONVERT TO CHARACTER SET latin1")
	testText(t, s, query, `"\u00e9 \u65e5\u672c \ud83e\uddc2"`)
	for _, table := range []string{"salt_returns", "jids", "salt_events"} {
		alter(t, s, "ALTER TABLE "+table+" CONVERT TO CHARACTER SET utf8mb4")
	}
	testText(t, s, query, "\"é 日本 \U0001f9c2\"")
}

// testText tries how text is stored: query selects it.
func testText(t *testing.T, s returner.Settings, query, want string) {
	t.Helper()
	alter(t, s, "DELETE FROM salt_returns WHERE jid = '"+textJID+"'")
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Return(t.Context(), []*value.Map{ret(textJID, "web1", "é 日本 \U0001f9c2")})
	r.Close()
	if err != nil {
		t.Fatal(err)
	}
	if got := over(t, s, query); got != want {
		t.Errorf("stored %q, want %q", got, want)
	}
}

// alter runs a statement over the connection that the settings make.
func alter(t *testing.T, s returner.Settings, statement string) {
	t.Helper()
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.(*store).db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// over returns what a query says over the connection that the settings make.
func over(t *testing.T, s returner.Settings, query string) string {
	t.Helper()
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var said string
	if err := r.(*store).db.QueryRowContext(t.Context(), query).Scan(&said); err != nil {
		t.Fatal(err)
	}
	return said
}

func TestMySQLTLS(t *testing.T) {
	t.Parallel()
	ca := servertest.NewCA(t)
	srv := servertest.MariaDB(t, mysqlSchema, ca)
	with := func(host string, more ...any) returner.Settings {
		return settings("mysql", value.MapOf("mysql", value.MapOf(append(more, "host", host, "port", int64(srv.Port))...)))
	}
	const cipher = "SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'"
	for _, tt := range []struct {
		s         returner.Settings
		encrypted bool
	}{
		{with("localhost", "ssl_ca", ca.File), true},
		{with("127.0.0.1", "tls", "skip-verify"), true},
		{with("127.0.0.1", "tls", "preferred"), true},
		{with("127.0.0.1"), false},
		{with("localhost", "tls", false, "ssl_ca", ca.File), false},
	} {
		if c := over(t, tt.s, cipher); (c != "") != tt.encrypted {
			t.Errorf("%s: cipher %q", value.Repr(tt.s.Env.Opts), c)
		}
	}
	testStore(t, with("localhost", "tls", true, "ssl_ca", ca.File))
	fails(t, with("127.0.0.1", "ssl_ca", ca.File), "mysql.ssl_ca names")
	fails(t, with("localhost", "tls", true), "mysql.ssl_ca names")
	fails(t, with("localhost", "tls", "perhaps"), "none of True, False, preferred and skip-verify")
	fails(t, with("localhost", "ssl_ca", "/nonexistent"), "mysql.ssl_ca")
}

func TestPostgresTLS(t *testing.T) {
	t.Parallel()
	ca := servertest.NewCA(t)
	srv := servertest.Postgres(t, pgjsonbSchema, ca)
	with := func(host string, more ...any) returner.Settings {
		return settings("pgjsonb", value.MapOf("returner.pgjsonb", value.MapOf(append(more, "host", host, "port", int64(srv.Port))...)))
	}
	const encrypted = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
	for _, tt := range []struct {
		s    returner.Settings
		want string
	}{
		{with("localhost", "sslmode", "verify-full", "sslrootcert", ca.File), "true"},
		{with("127.0.0.1", "sslmode", "verify-ca", "sslrootcert", ca.File), "true"},
		{with("127.0.0.1"), "true"},
		{with("127.0.0.1", "sslmode", "disable"), "false"},
		{with(srv.Dir), "false"},
	} {
		if got := over(t, tt.s, encrypted); got != tt.want {
			t.Errorf("%s: encrypted is %s", value.Repr(tt.s.Env.Opts), got)
		}
	}
	testStore(t, with("localhost", "sslmode", "verify-full", "sslrootcert", ca.File, "pass", `it's \ odd`))
	fails(t, with("127.0.0.1", "sslmode", "verify-full", "sslrootcert", ca.File), "returner.pgjsonb.sslrootcert names")
	fails(t, with("localhost", "sslmode", "verify-full"), "returner.pgjsonb.sslrootcert names")
	fails(t, with("localhost", "sslmode", "perhaps"), "sslmode")

	plain := servertest.Postgres(t, pgjsonbSchema)
	fails(t, settings("pgjsonb", value.MapOf("returner.pgjsonb", value.MapOf("host", "127.0.0.1", "port", int64(plain.Port), "sslmode", "verify-full"))), "disable goes on without encryption")

	// A server without TLS that takes no connection has another reason.
	wrong := value.MapOf("returner.pgjsonb", value.MapOf("host", "127.0.0.1", "port", int64(plain.Port), "db", "nothing"))
	_, err := spec("pgjsonb").New(t.Context(), settings("pgjsonb", wrong))
	if err == nil || !strings.Contains(err.Error(), `database "nothing" does not exist`) || strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), "TLS") {
		t.Errorf("an unknown database: %v", err)
	}
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok {
		t.Errorf("%T is not what the server said", err)
	}
}

func TestSSLMode(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"db.example.org": "verify-full", "salt": "verify-full", "192.0.2.7": "verify-full", "localhost.example.org": "verify-full", "2001:db8::1": "verify-full",
		"localhost": "prefer", "127.0.0.1": "prefer", "::1": "prefer", "/run/postgresql": "prefer",
	} {
		if got := sslMode(settings("postgres", value.MapOf("postgres.host", host))); got != want {
			t.Errorf("sslmode of %s is %s, want %s", host, got, want)
		}
	}
	if got := sslMode(settings("postgres", value.MapOf("postgres.host", "db.example.org", "postgres.sslmode", "require"))); got != "require" {
		t.Errorf("sslmode is %s", got)
	}
}
