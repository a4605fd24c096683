//go:build linux

package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/nats-io/nats.go"

	"brine/internal/fleet/queue"
	"brine/internal/testkit/natstest"
	"brine/internal/testkit/servertest"
)

// newReactTree makes a controller with a queue whose reaction to deploy/* is a line in a log, after some
// seconds.
func newReactTree(t *testing.T, name, store string, port int, sleep, more string) *queueTree {
	t.Helper()
	d := newQueueTree(t, name, store, port, "nothing: test.nop\n")
	d.append(t, "reactor:\n  - 'deploy/*': "+d.dir+"/react.sls\n"+more)
	sls := "note:\n  caller.cmd.run:\n    - args:\n      - cmd: \"sleep " + sleep + "; echo '{{ tag }} {{ data.n }}' >>" + d.dir + "/log\"\n      - python_shell: true\n"
	if err := os.WriteFile(filepath.Join(d.dir, "react.sls"), []byte(sls), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// append adds lines to the configuration.
func (d *queueTree) append(t *testing.T, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(d.dir, "master"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// hears starts a worker that reacts, in a directory of sockets; it returns when it hears.
func (d *queueTree) hears(t *testing.T, runDir string) *queueWorker {
	t.Helper()
	w := d.workerIn(t, runDir, "--react")
	d.until(t, "a worker hears events", func() bool { return strings.Contains(w.says(), "events are heard") })
	return w
}

// hearsFast is hears with a clock that is an hour ahead.
func (d *queueTree) hearsFast(t *testing.T) *queueWorker {
	t.Helper()
	d.env = []string{"BRINE_TEST_CLOCK=1h"}
	defer func() { d.env = nil }()
	return d.hears(t, "")
}

// settled waits until so many events are entries, and none of them waits or runs.
func (d *queueTree) settled(t *testing.T, n int) {
	t.Helper()
	d.until(t, fmt.Sprintf("%d events have ended", n), func() bool {
		return d.count(t, queue.Done)+d.count(t, queue.Poisoned)+d.count(t, queue.Failed)+d.count(t, queue.Refused) >= n && d.count(t, queue.Queued)+d.count(t, queue.Running) == 0
	})
}

// Workers that are killed in the midst of reactions: each event is reacted to once, in the
// order of its tag, or is set aside.
func testReactKilled(t *testing.T, store string, port int) {
	t.Helper()
	const tags = 5
	events, kills := soakCount(50, 2000), soakCount(2, 40)
	d := newReactTree(t, "killed-react", store, port, "0.02", "")
	var sls strings.Builder
	for i := range events {
		fmt.Fprintf(&sls, "s%d:\n  salt.runner: [{name: event.send}, {tag: deploy/%d}, {data: {n: %d}}]\n", i, i%tags, i)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "send.sls"), []byte(sls.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	byPID := map[int]*queueWorker{}
	start := func() {
		w := d.hears(t, "")
		byPID[w.cmd.Process.Pid] = w
	}
	for range 3 {
		start()
	}
	d.brine(t, "orchestrate", "send", "--out=quiet")
	for range kills {
		if !d.killBusy(t, byPID) {
			break
		}
		start()
	}
	d.settled(t, events)
	all, err := d.q.List(t.Context(), queue.Query{Queue: d.name})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != events {
		t.Errorf("%d events became %d entries", events, len(all))
	}
	done, poisoned := d.count(t, queue.Done), d.count(t, queue.Poisoned)
	if done+poisoned != events || poisoned > kills {
		t.Errorf("of %d events %d are done and %d set aside, with %d kills", events, done, poisoned, kills)
	}
	lines := d.log(t)
	if len(lines) < done {
		t.Errorf("%d reactions left a line, and %d are done", len(lines), done)
	}
	for line, n := range lines {
		if n != 1 {
			t.Errorf("the reaction to %s ran %d times", line, n)
		}
	}
	d.inOrder(t)
	t.Logf("%s: %d events, %d kills, %d set aside", store, events, kills, poisoned)
}

// killBusy kills a worker that has an entry; false: there is none any more.
func (d *queueTree) killBusy(t *testing.T, byPID map[int]*queueWorker) bool {
	t.Helper()
	killed := false
	d.until(t, "a worker is busy", func() bool {
		busy, err := d.q.Workers(t.Context(), d.name)
		if err != nil {
			t.Fatal(err)
		}
		for name := range busy {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[1])
			if w := byPID[pid]; w != nil {
				_ = w.cmd.Process.Kill()
				delete(byPID, pid)
				killed = true
				return true
			}
		}
		return d.count(t, queue.Queued)+d.count(t, queue.Running) == 0
	})
	return killed
}

// inOrder checks that the lines of each tag are in the order of their numbers.
func (d *queueTree) inOrder(t *testing.T) {
	t.Helper()
	b, _ := os.ReadFile(filepath.Join(d.dir, "log"))
	last := map[string]int{}
	for line := range strings.Lines(string(b)) {
		tag, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Errorf("the log has %q", line)
		}
		if before, ok := last[tag]; ok && n <= before {
			t.Errorf("%s: %d came after %d", tag, n, before)
		}
		last[tag] = n
	}
}

func TestReactSQLite(t *testing.T) {
	t.Parallel()
	testReactKilled(t, "sqlite3", 0)
}

// Workers on two machines share a queue and hear the same events over a bus, those of other
// controllers and those of programs which give no _stamp: each is reacted to once. emit has
// such a program send an event.
func testReactBus(t *testing.T, store string, port int, bus string, emit func(n int)) {
	t.Helper()
	const sent, foreign = 5, 10
	d := newReactTree(t, "bus-react", store, port, "0", "event_bus: "+bus+"\n")
	d.hears(t, filepath.Join(d.dir, "machine1"))
	d.hears(t, filepath.Join(d.dir, "machine2"))
	for n := range sent {
		d.brine(t, "run", "event.send", "deploy/sent", fmt.Sprintf(`{"n": %d}`, n))
	}
	for n := range foreign {
		emit(n)
	}
	d.settled(t, sent+foreign)
	time.Sleep(300 * time.Millisecond) // the other worker may still bring what the first one brought
	lines := d.log(t)
	if len(lines) != sent+foreign {
		t.Errorf("%d events were reacted to, want %d: %v", len(lines), sent+foreign, lines)
	}
	for line, n := range lines {
		if n != 1 {
			t.Errorf("the reaction to %s ran %d times", line, n)
		}
	}
	d.inOrder(t)
}

func TestReactNATS(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, nil)
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	testReactBus(t, "sqlite3", 0, "{url: '"+srv.URL()+"'}", func(n int) {
		if err := nc.Publish("brine.deploy.foreign", fmt.Appendf(nil, `{"n": %d}`, n)); err != nil {
			t.Fatal(err)
		}
	})
}

// testReactPostgres has PostgreSQL for the queue and for the bus.
func testReactPostgres(t *testing.T, srv *servertest.Server) {
	t.Helper()
	db, err := pgconn.Connect(t.Context(), fmt.Sprintf("host=127.0.0.1 port=%d user=salt dbname=salt sslmode=disable", srv.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	testReactBus(t, "postgres", srv.Port, fmt.Sprintf("{host: 127.0.0.1, port: %d, user: salt, db: salt}", srv.Port), func(n int) {
		if _, err := db.Exec(t.Context(), fmt.Sprintf(`NOTIFY brine_events, '{"tag": "deploy/foreign", "data": {"n": %d}}'`, n)).ReadAll(); err != nil {
			t.Fatal(err)
		}
	})
	testReactKilled(t, "postgres", srv.Port)
	testSinkClock(t, srv.Port, db)
}

// testSinkClock: the clock of the database of the queue is an hour ahead of that of the stream, in
// which sinks read on where they ended. It stays so.
func testSinkClock(t *testing.T, port int, db *pgconn.PgConn) {
	t.Helper()
	if _, err := db.Exec(t.Context(), "CREATE SCHEMA fast; CREATE FUNCTION fast.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "+
		"$$SELECT pg_catalog.clock_timestamp() + interval '1 hour'$$; ALTER ROLE salt SET search_path = fast, pg_catalog, public").ReadAll(); err != nil {
		t.Fatal(err)
	}
	ns := natstest.StartProcess(t)
	js := stream(t, ns.URL())
	d := newQueueTree(t, "sinkclock", "postgres", port, "nothing: test.nop\n")
	d.append(t, "event_bus: {url: '"+ns.URL()+"', stream: BRINE}\nevent_sinks:\n  audit: {kind: file, path: audit.ndjson, tags: 'deploy/*', wait: 0}\n")
	for n := range 3 { // each but the first is sent while no worker runs
		if _, err := js.Publish(t.Context(), "brine.deploy.a", fmt.Appendf(nil, `{"n": %d}`, n)); err != nil {
			t.Fatal(err)
		}
		w := d.worker(t)
		d.until(t, "a worker has sent the event on", func() bool { return strings.Count(d.audit(), `"tag":"deploy/a"`) > n })
		w.stop(t)
	}
	if states, err := d.q.Sinks(t.Context()); err != nil || len(states) != 1 || time.Until(states[0].Seen) < 59*time.Minute {
		t.Errorf("the clock of the database is not ahead: %+v, %v", states, err)
	}
}

// TestReactBehind: a worker that starts reads a stream from where others have come to in it,
// however late they brought what they had heard, and counts what is too old to be acted on.
func TestReactBehind(t *testing.T) {
	t.Parallel()
	ns := natstest.StartProcess(t)
	js := stream(t, ns.URL())
	d := newReactTree(t, "behind", "sqlite3", 0, "0", "event_bus: {url: '"+ns.URL()+"', stream: BRINE}\n")
	sent := 0
	publish := func(n int) {
		t.Helper()
		for range n {
			if _, err := js.Publish(t.Context(), "brine.deploy.a", fmt.Appendf(nil, `{"n": %d}`, sent)); err != nil {
				t.Fatal(err)
			}
			sent++
		}
	}
	reactions := func(want int) {
		t.Helper()
		d.until(t, fmt.Sprintf("%d reactions", want), func() bool { return len(d.log(t)) == want })
		d.settled(t, want)
	}
	w := d.hears(t, "")
	publish(2)
	reactions(2)
	_ = w.cmd.Process.Kill() // a worker that is behind has brought no more
	<-w.ended
	publish(3)
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "queue.db")+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// The database got what was brought an hour later than the stream.
	if _, err := db.ExecContext(t.Context(), "UPDATE brine_queue_events SET created = created + 3600000000 WHERE same <> 'reached'"); err != nil {
		t.Fatal(err)
	}
	w = d.hears(t, "")
	reactions(5)
	w.stop(t)

	publish(2)
	d.append(t, "reactor_max_age: 1\n")
	time.Sleep(1100 * time.Millisecond) // until they are too old
	w = d.hears(t, "")
	publish(1)
	reactions(6)
	w.stop(t)
	d.inOrder(t)
	all, err := d.q.List(t.Context(), queue.Query{Queue: d.name, State: queue.Refused})
	if err != nil || len(all) != 1 || !strings.Contains(all[0].Error, "2 events were not taken, since they were older than 1s") {
		t.Errorf("events that were too old are %+v, %v", all, err)
	}
	for line, n := range d.log(t) {
		if n != 1 {
			t.Errorf("the reaction to %s ran %d times", line, n)
		}
	}
}

// TestReactClock: a worker whose clock is an hour ahead neither has those that start after it
// skip events, nor takes those that wait in the stream for old ones; where it is known by such
// a clock how far workers have come, all that may be reacted to is read.
func TestReactClock(t *testing.T) {
	t.Parallel()
	ns := natstest.StartProcess(t)
	js := stream(t, ns.URL())
	d := newReactTree(t, "clock", "sqlite3", 0, "0", "event_bus: {url: '"+ns.URL()+"', stream: BRINE}\n")
	sent := 0
	var last uint64 // number of the last event in the stream
	publish := func(n int) {
		t.Helper()
		for range n {
			ack, err := js.Publish(t.Context(), "brine.deploy.a", fmt.Appendf(nil, `{"n": %d}`, sent))
			if err != nil {
				t.Fatal(err)
			}
			last = ack.Sequence
			sent++
		}
	}
	reactions := func() {
		t.Helper()
		d.until(t, fmt.Sprintf("%d reactions", sent), func() bool { return len(d.log(t)) == sent })
		d.settled(t, sent)
	}
	reached := func() time.Time {
		t.Helper()
		at, err := d.q.Reached(t.Context(), d.name)
		if err != nil || at.IsZero() || time.Until(at) > time.Minute {
			t.Fatalf("workers have come to %v, %v", at, err)
		}
		return at
	}
	w := d.hearsFast(t)
	reached()
	publish(1)
	reactions()
	publish(1) // the worker has read what the stream had: this one arrives
	reactions()
	s, err := js.Stream(t.Context(), "BRINE")
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.GetMsg(t.Context(), last)
	if err != nil {
		t.Fatal(err)
	}
	d.until(t, "it is noted how far the worker has come", func() bool { return !reached().Before(m.Time.Truncate(time.Microsecond)) })
	_ = w.cmd.Process.Kill()
	<-w.ended
	publish(2)
	w = d.hears(t, "")
	reactions()
	w.stop(t)
	publish(2) // these wait in the stream
	w = d.hearsFast(t)
	reactions()
	w.stop(t)
	reached()

	if err := d.q.Reach(t.Context(), d.name, time.Now().Add(time.Hour)); err != nil { // as those of before noted it
		t.Fatal(err)
	}
	publish(2)
	d.hears(t, "")
	reactions()
	d.inOrder(t)
}
