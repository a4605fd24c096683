//go:build linux

package e2e

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"brine/internal/testkit/natstest"
)

// stream makes the stream BRINE of a server.
func stream(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BRINE", Subjects: []string{"brine.>"}}); err != nil {
		t.Fatal(err)
	}
	return js
}

// stop has a worker stop as by Ctrl-C.
func (w *queueWorker) stop(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-w.ended
	if s := w.cmd.ProcessState; !s.Success() {
		t.Errorf("a worker that was stopped: %v\n%s", s, w.says())
	}
}

// A worker that starts while NATS is down says so, waits, and then acts on what was sent while
// no worker ran, and on what was sent before it was connected. So do sinks.
func TestWorkerStartsWithoutNATS(t *testing.T) {
	t.Parallel()
	ns := natstest.StartProcess(t)
	js := stream(t, ns.URL())
	d := newReactTree(t, "down", "sqlite3", 0, "0", "event_bus: {url: '"+ns.URL()+"', stream: BRINE}\n"+
		"event_sinks:\n  audit: {kind: file, path: audit.ndjson, tags: 'deploy/*', wait: 0}\n")
	n := 0
	publish := func() {
		t.Helper()
		if _, err := js.Publish(t.Context(), "brine.deploy.a", fmt.Appendf(nil, `{"n": %d}`, n)); err != nil {
			t.Fatal(err)
		}
		n++
	}
	heard := func() {
		t.Helper()
		d.until(t, fmt.Sprintf("%d events are reacted to and sent on", n), func() bool {
			return len(d.log(t)) == n && strings.Count(d.audit(), `"tag":"deploy/a"`) == n
		})
	}
	w := d.hears(t, "")
	publish()
	heard()
	w.stop(t)
	publish() // while no worker runs
	ns.Kill()
	w = d.hears(t, "")
	d.until(t, "a worker says that NATS is down", func() bool { return strings.Contains(w.says(), "events of other controllers do not arrive") })
	d.brine(t, "run", "event.send", "deploy/a", `{"n": "local"}`, "--out=quiet")
	n++
	d.until(t, "an event of this machine is reacted to", func() bool { return d.log(t)["deploy/a local"] == 1 })
	ns.Again(t)
	publish() // before the worker is connected
	heard()
	if says := w.says(); !strings.Contains(says, "events of other controllers arrive again") || strings.Contains(says, "are lost") {
		t.Errorf("the worker says %q", says)
	}
	for line, n := range d.log(t) {
		if n != 1 {
			t.Errorf("the reaction to %s ran %d times", line, n)
		}
	}
	w.stop(t)
}

// audit is what a sink wrote.
func (d *queueTree) audit() string {
	b, _ := os.ReadFile(filepath.Join(d.dir, "audit.ndjson"))
	return string(b)
}

// What was sent while no worker ran reaches a sink from the table of a returner; without one, a
// worker says that it does not.
func TestSinkReadsOn(t *testing.T) {
	t.Parallel()
	d := newQueueTree(t, "log", "sqlite3", 0, "nothing: test.nop\n")
	d.append(t, "event_sinks:\n  audit: {kind: file, path: audit.ndjson, tags: 'deploy/*', wait: 0}\n")
	start := func() *queueWorker {
		w := d.worker(t)
		d.until(t, "a worker hears", func() bool { return strings.Contains(w.says(), "events go to audit") })
		return w
	}
	send := func(n int) {
		d.brine(t, "run", "event.send", "deploy/a", fmt.Sprintf(`{"n": %d, "password": "hunter%d"}`, n, n), "--out=quiet")
	}
	arrived := func(want int) {
		t.Helper()
		d.until(t, fmt.Sprintf("%d events arrived", want), func() bool { return strings.Count(d.audit(), `"tag":"deploy/a"`) >= want })
		if got := strings.Count(d.audit(), `"tag":"deploy/a"`); got != want {
			t.Errorf("%d events arrived, want %d:\n%s", got, want, d.audit())
		}
	}
	w := start()
	send(0)
	arrived(1)
	w.stop(t)
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "queue.db")+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE brine_sinks SET seen = seen - 3600000000"); err != nil { // an hour has passed
		t.Fatal(err)
	}
	send(1)
	w = start()
	d.until(t, "a worker says what it misses", func() bool {
		return strings.Contains(w.says(), "do not get to audit: no worker ran, and nothing keeps them")
	})
	w.stop(t)

	d.append(t, "event_return: sqlite3\nreturner.sqlite3.database: "+filepath.Join(d.dir, "jobs.db")+"\n")
	w = start()
	send(2) // heard, and in the log
	arrived(2)
	d.until(t, "the sink has noted what it sent", func() bool { // what was not noted is sent again
		var waiting int
		return db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM brine_sink_events WHERE waits = 1").Scan(&waiting) == nil && waiting == 0
	})
	_ = w.cmd.Process.Kill()
	<-w.ended
	if _, err := db.ExecContext(t.Context(), "UPDATE brine_sinks SET held = 0"); err != nil { // its lease has ended
		t.Fatal(err)
	}
	send(3)
	send(4)
	w = start()
	arrived(4)
	send(5)
	arrived(5)
	w.stop(t)
	if says := w.says(); strings.Contains(says, "lost") || strings.Contains(says, "nothing keeps them") {
		t.Errorf("the worker says %q", says)
	}
}
