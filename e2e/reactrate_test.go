//go:build linux

package e2e

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"brine/internal/fleet/queue"
	"brine/internal/testkit/natstest"
)

// TestReactRateSQLite sends events at 10,000 a second, over a bus that keeps none, to a worker that
// has one reaction stand for those that wait. Each of them is in the queue, with others or alone,
// or is counted as lost by an entry that says so.
func TestReactRateSQLite(t *testing.T) {
	t.Parallel()
	const rate, burst = 10_000, 100
	events := soakCount(500, 100_000)
	srv := natstest.Start(t, nil)
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	d := newReactTree(t, "rate", "sqlite3", 0, "0.2", "event_bus: {url: '"+srv.URL()+"'}\nreactor_coalesce: [{'deploy/*': [id]}]\n")
	w := d.hears(t, "")
	tick := time.NewTicker(time.Second * burst / rate)
	defer tick.Stop()
	began := time.Now()
	for i := range events {
		if i%burst == 0 {
			<-tick.C
		}
		if err := nc.Publish("brine.deploy.full", fmt.Appendf(nil, `{"id": "web%d", "n": %d, "_stamp": "2026-11-29T12:00:00.%06d"}`, i%3, i, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "queue.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// brought is how many events the queue has, and lost how many its entries say are not there.
	brought, lost := 0, 0
	d.until(t, "all events are counted", func() bool {
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM brine_queue_events").Scan(&brought); err != nil {
			return false // it is busy
		}
		entries, err := d.q.List(t.Context(), queue.Query{Queue: d.name, State: queue.Refused})
		if err != nil {
			return false
		}
		lost = 0
		for _, e := range entries {
			number, rest, _ := strings.Cut(e.Error, " events were ")
			n, err := strconv.Atoi(number)
			if err != nil || !strings.HasPrefix(rest, "lost") && !strings.HasPrefix(rest, "heard") {
				t.Fatalf("an entry is refused: %s", e.Error)
			}
			lost += n
		}
		return brought+lost >= events && d.count(t, queue.Queued)+d.count(t, queue.Running) == 0
	})
	reactions := d.count(t, queue.Done)
	if brought+lost != events {
		t.Errorf("of %d events %d are in the queue, and %d are said to be lost", events, brought, lost)
	}
	if reactions < 3 || reactions > brought/2 {
		t.Errorf("%d events had %d reactions", brought, reactions)
	}
	if said := strings.Count(w.says(), "lost"); (lost > 0) != (said > 0) {
		t.Errorf("%d events are lost, and the worker says so %d times: %s", lost, said, w.says())
	}
	t.Logf("%d events in %v: %d in the queue after %v, %d lost and counted; %d reactions", events, took.Round(time.Millisecond), brought, time.Since(began).Round(time.Second), lost, reactions)
}
