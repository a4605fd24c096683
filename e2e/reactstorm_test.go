//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"brine/internal/fleet/queue"
	"brine/internal/testkit/natstest"
	"brine/internal/testkit/servertest"
	"brine/internal/testkit/turn"
)

// TestReactStormPostgres sends events, of which some have a reaction, through a stream of NATS to five
// workers on as many machines, which share a queue in PostgreSQL. Workers, NATS and the
// database are killed in between. Each event that has a reaction is reacted to once, in the
// order of its tag, or is reported as failed.
func TestReactStormPostgres(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	testReactStorm(t, soakCount(400, 100_000), soakCount(40, 1000), soakCount(3, 30), 0)
}

// TestReactStormManyPostgres is the same where one event of five has a reaction, and more come
// than may wait: those are counted, also where the worker that counted them is killed.
func TestReactStormManyPostgres(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	testReactStorm(t, soakCount(300, 100_000), soakCount(60, 20_000), soakCount(3, 30), mayWait())
}

// mayWait is how many events may wait in TestReactStormManyPostgres: BRINE_STORM_HWM of them,
// which a slow machine keeps low, since all that waited is reacted to in the end.
func mayWait() int {
	if n, err := strconv.Atoi(os.Getenv("BRINE_STORM_HWM")); err == nil && n > 0 {
		return n
	}
	return soakCount(30, 3000)
}

// standstill is how long nothing may move in a storm, whose servers are away for a second at a time.
const standstill = 3 * time.Minute

// testReactStorm sends events, of which some match, and deals blows. hwm is how many may wait;
// 0: all.
func testReactStorm(t *testing.T, events, matching, blows, hwm int) {
	t.Helper()
	srv := servertest.Postgres(t, "")
	const workers, tags = 5, 5
	ns := natstest.StartProcess(t)
	js := stream(t, ns.URL())
	d := newReactTree(t, fmt.Sprint("storm", hwm), "postgres", srv.Port, "0", "event_bus: {url: '"+ns.URL()+"', stream: BRINE}\n")
	if hwm > 0 {
		d.append(t, fmt.Sprintf("reactor_worker_hwm: %d\n", hwm))
	}
	var all []*queueWorker
	start := func(n int) *queueWorker { return d.hears(t, filepath.Join(d.dir, fmt.Sprint("machine", n))) }
	for n := range workers {
		all = append(all, start(n))
	}

	var sent atomic.Int64
	began := time.Now()
	failed := make(chan error, 1)
	go func() { failed <- publish(t.Context(), js, events, events/matching, tags, &sent) }()
	// notTaken is how many events the entries say were not taken.
	notTaken := func() (n int) {
		entries, err := d.q.List(t.Context(), queue.Query{Queue: d.name, State: queue.Refused})
		if err != nil {
			return 0
		}
		for _, e := range entries {
			if of, ok := notTakenOf(e); ok {
				n += of - 1 // it is an entry itself
			}
		}
		return n
	}
	ended := func() (n, open int) {
		counts, err := d.q.Stats(t.Context(), d.name) // the database may be away
		if err != nil {
			return 0, 1
		}
		for _, c := range counts {
			switch c.State {
			case queue.Queued, queue.Running:
				open += c.N
			default:
				n += c.N
			}
		}
		return n + notTaken(), open
	}
	waitFor := func(what string, holds func(n, open int) bool) {
		t.Helper()
		for last, since := 0, time.Now(); ; time.Sleep(100 * time.Millisecond) {
			n, open := ended()
			if holds(n, open) {
				return
			}
			if n != last {
				last, since = n, time.Now()
			}
			if time.Since(since) > standstill {
				t.Fatalf("%s: of %d events with a reaction %d have ended, and %d wait or run", what, matching, n, open)
			}
		}
	}
	killed := 0
	for i := range blows {
		waitFor(fmt.Sprintf("blow %d", i), func(n, _ int) bool { return n > i*matching/(blows+1) })
		switch i % 3 {
		case 0: // a worker, which others outlive
			n := killed % workers
			_ = all[n].cmd.Process.Kill()
			<-all[n].ended
			killed++
			all[n] = start(n)
		case 1:
			srv.Stop() // with SIGKILL
			time.Sleep(time.Second)
			srv.Start(t)
		case 2:
			ns.Kill()
			time.Sleep(time.Second)
			ns.Again(t)
		}
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	waitFor("all", func(n, open int) bool { return n >= matching && open == 0 })
	entries, err := d.q.List(t.Context(), queue.Query{Queue: d.name})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	entries = slices.DeleteFunc(entries, func(e *queue.Entry) bool {
		n, ok := notTakenOf(e)
		refused += n
		return ok
	})
	if len(entries)+refused != matching || hwm == 0 && refused > 0 {
		t.Errorf("%d events with a reaction became %d entries, and %d were not taken", matching, len(entries), refused)
	}
	lines := d.log(t)
	for line, n := range lines {
		if n != 1 {
			t.Errorf("the reaction to %s ran %d times", line, n)
		}
	}
	states, done, others, left := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for line := range lines {
		tag, _, _ := strings.Cut(line, " ")
		left[tag]++
	}
	for _, e := range entries {
		states[e.State]++
		if e.State == queue.Done {
			done[e.SLS]++
			continue
		}
		others[e.SLS]++
		if e.Error == "" {
			t.Errorf("%s (%s) is %s, and nothing says why", e.JID, e.SLS, e.State)
		}
	}
	for tag, n := range done { // what is set aside may have run
		if left[tag] < n || left[tag] > n+others[tag] {
			t.Errorf("%s: %d reactions are done, %d are not, and %d left a line", tag, n, others[tag], left[tag])
		}
	}
	// A blow sets aside what runs then, at most.
	if taken := matching - refused; states[queue.Done] < min(taken*9/10, taken-blows*workers) {
		t.Errorf("of %d events with a reaction only %d are done: %v", taken, states[queue.Done], states)
	}
	d.inOrder(t)
	said := 0
	for _, w := range all {
		said += strings.Count(w.says(), "are lost")
	}
	t.Logf("%d events in %v, %d with a reaction, %d blows (%d workers): %v and %d not taken after %v; lines about losses: %d", events, took.Round(time.Second), matching, blows, killed, states, refused, time.Since(began).Round(time.Second), said)
}

// notTakenOf is how many events an entry says were not taken; ok is whether it is one that says so.
func notTakenOf(e *queue.Entry) (n int, ok bool) {
	_, err := fmt.Sscanf(e.Error, "%d events were not taken", &n)
	return n, err == nil && strings.Contains(e.Error, "were not taken")
}

// publish sends events until each is stored, once: one of each so many has a reaction. It gives up
// where none is stored for longer than any server is away.
func publish(ctx context.Context, js jetstream.JetStream, events, each, tags int, sent *atomic.Int64) error {
	for i := range events {
		subject, n := fmt.Sprintf("brine.noise.%d", i%97), i
		if i%each == 0 {
			n = i / each
			subject = fmt.Sprintf("brine.deploy.%d", n%tags)
		}
		for since := time.Now(); ; {
			try, cancel := context.WithTimeout(ctx, 5*time.Second)
			_, err := js.Publish(try, subject, fmt.Appendf(nil, `{"n": %d}`, n), jetstream.WithMsgID(fmt.Sprint(i)))
			cancel()
			if err == nil {
				break
			}
			if time.Since(since) > standstill || ctx.Err() != nil {
				return fmt.Errorf("event %d of %d is not stored: %w", i, events, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		sent.Add(1)
	}
	return nil
}
