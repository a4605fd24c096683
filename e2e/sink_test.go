//go:build linux

package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"brine/internal/fleet/queue"
)

// Two workers hear the same events, the receiver is away, and the worker that sends is killed:
// each event arrives, and none is lost.
func TestSinkKilled(t *testing.T) {
	t.Parallel()
	const events = 12
	var away atomic.Bool
	away.Store(true)
	var mu sync.Mutex
	got := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			Events []struct {
				ID, Tag string
				Data    struct{ N int }
			}
		}
		if away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, e := range m.Events {
			got[fmt.Sprint(e.ID, e.Data.N)] = true
		}
	}))
	t.Cleanup(srv.Close)
	d := newQueueTree(t, "sink", "sqlite3", 0, "nothing: test.nop\n")
	d.append(t, "event_sinks:\n  siem: {kind: webhook, url: '"+srv.URL+"', allow_private: 127.0.0.1, tags: 'deploy/*', wait: 0, batch: 5}\n")
	byPID := []*queueWorker{d.worker(t), d.worker(t)}
	state := func() (s queue.SinkState) {
		all, err := d.q.Sinks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(all) > 0 {
			s = all[0]
		}
		return s
	}
	d.until(t, "both workers hear", func() bool {
		for _, w := range byPID {
			if !strings.Contains(w.says(), "events go to siem: webhook") {
				return false
			}
		}
		return true
	})
	for n := range events {
		d.brine(t, "run", "event.send", "deploy/a", fmt.Sprintf(`{"n": %d}`, n))
	}
	d.until(t, "the events wait", func() bool { s := state(); return s.Waiting == events && s.Tries > 0 })
	for _, w := range byPID {
		_ = w.cmd.Process.Kill()
	}
	away.Store(false)
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "queue.db")+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE brine_sinks SET held = 0, due = 0"); err != nil { // the lease has ended
		t.Fatal(err)
	}
	d.worker(t)
	d.until(t, "all are sent", func() bool { return state().Sent == events })
	if s := state(); s.Lost != 0 || s.Waiting != 0 || s.Bytes != 0 {
		t.Errorf("in the end: %+v", s)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(got) != events {
		t.Errorf("%d events arrived, want %d: %v", len(got), events, got)
	}
}
