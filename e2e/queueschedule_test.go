//go:build linux

package e2e

import (
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

// TestMissedSchedules: of several workers that come late, one runs what was missed, once, if
// the schedule says so, and what is left out is noted.
func TestMissedSchedules(t *testing.T) {
	t.Parallel()
	d := newQueueTree(t, "sched", "sqlite3", 0, "hello:\n  test.succeed_without_changes: []\n")
	now, err := d.q.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begin := now.Add(-3*time.Hour - 20*time.Minute)
	for _, missed := range []string{queue.MissedRun, queue.MissedSkip} {
		x := &queue.Schedule{
			Name: missed, Queue: d.name, Work: &queue.Work{Args: []value.Value{"orch"}, Kwargs: value.NewMap(0)}, Recurrence: "every 1h", Zone: "UTC",
			Overlap: queue.OverlapSkip, Missed: missed, User: "zoe", Controller: "ctl", Created: begin, Planned: begin.Add(time.Hour), Due: begin.Add(time.Hour),
		}
		if err := d.q.AddSchedule(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	var workers []*queueWorker
	for range 3 {
		workers = append(workers, d.worker(t, "--drain-empty"))
	}
	for _, w := range workers {
		<-w.ended
	}
	all, err := d.q.Schedules(t.Context(), "")
	if err != nil || len(all) != 2 {
		t.Fatalf("%d schedules, %v", len(all), err)
	}
	late, skipped := all[0], all[1]
	if late.Result == nil || late.Result.State != queue.Done || late.Skips != 2 || !late.Last.Equal(begin.Add(3*time.Hour)) {
		t.Errorf("what was missed and runs late is %+v, with %+v", late, late.Result)
	}
	if skipped.LastJID != "" || skipped.Skips != 3 || !strings.Contains(skipped.Why, "it was missed: no worker looked at the queue until") {
		t.Errorf("what was missed and left out is %+v", skipped)
	}
	for _, x := range all {
		if !x.Due.Equal(begin.Add(4 * time.Hour)) {
			t.Errorf("%s is due next at %s", x.Name, x.Due)
		}
	}
	if entries, err := d.q.List(t.Context(), queue.Query{Queue: d.name}); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// TestKilledSchedules: whenever workers are killed while they put what is due into the queue,
// each time of the schedule becomes one entry, or is noted as left out.
func TestKilledSchedules(t *testing.T) {
	t.Parallel()
	d := newQueueTree(t, "killed", "sqlite3", 0, "hello:\n  test.succeed_without_changes: []\n")
	begin, err := d.q.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x := &queue.Schedule{
		Name: "often", Queue: d.name, Work: &queue.Work{Args: []value.Value{"orch"}, Kwargs: value.NewMap(0)}, Recurrence: "every 1s", Zone: "UTC",
		Overlap: queue.OverlapQueue, Missed: queue.MissedRun, User: "zoe", Controller: "ctl", Created: begin, Planned: begin.Add(time.Second), Due: begin.Add(time.Second),
	}
	if err := d.q.AddSchedule(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	handled := func() (entries, skips int, newest time.Time) {
		all, err := d.q.Schedules(t.Context(), "often")
		if err != nil || len(all) != 1 {
			t.Fatalf("%d schedules, %v", len(all), err)
		}
		listed, err := d.q.List(t.Context(), queue.Query{Queue: d.name, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		newest = all[0].Last
		if all[0].Skipped.After(newest) {
			newest = all[0].Skipped
		}
		return len(listed), all[0].Skips, newest
	}
	const rounds = 5
	for range rounds {
		before, skipped, _ := handled()
		w := d.worker(t)
		d.until(t, "a time is handled", func() bool {
			entries, skips, _ := handled()
			return entries+skips > before+skipped
		})
		if err := w.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-w.ended
	}
	entries, skips, newest := handled()
	if times := int(newest.Sub(begin) / time.Second); entries < 1 || entries+skips != times {
		t.Errorf("of %d times, %d became entries and %d were left out", times, entries, skips)
	}
}
