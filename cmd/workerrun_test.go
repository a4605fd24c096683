package cmd

import (
	"testing"
	"time"

	"brine/internal/queue"
)

// A run whose orchestration is locked goes back into the queue, as often as it takes,
// and the job that people know stays one of its runs.
func TestOutcomeOfLockedRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		runs    []string
		backoff float64
		want    queue.Outcome
	}{
		{[]string{"a"}, 30, queue.Outcome{Delay: 30 * time.Second}},
		{[]string{"a", "b"}, 0, queue.Outcome{Delay: unsettled, Unrun: true}},
	} {
		w := &worker{o: &workerOpts{attempts: 1, maxCrashes: 1, backoff: tt.backoff}}
		r := &entryRun{worker: w, e: &queue.Entry{Tries: 9, Runs: tt.runs}, last: "orch is locked"}
		want := tt.want
		want.State, want.Uncount, want.Retcode, want.Error = queue.Queued, true, exitLocked, r.last
		if got := r.outcome(t.Context(), exitLocked, nil); got != want {
			t.Errorf("outcome of the runs %v = %+v, want %+v", tt.runs, got, want)
		}
	}
}
