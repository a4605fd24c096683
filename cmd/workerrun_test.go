package cmd

import (
	"context"
	"errors"
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

// What is not the fault of an orchestration never makes its entry failed: it goes back
// into the queue, and counts as a crash at most.
func TestOutcomeOfTrouble(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		err    error
		lost   error
		want   queue.Outcome
	}{
		{"records that cannot be read", exitNotYet, nil, nil, queue.Outcome{Delay: unsettled, Uncount: true, Unrun: true}},
		{"a lock that was lost", exitCut, nil, nil, queue.Outcome{Delay: 30 * time.Second}},
		{"a queue that is away", 130, nil, errors.New("no route"), queue.Outcome{Uncount: true}},
		{"a run that was killed for that", 0, context.Canceled, errors.New("no route"), queue.Outcome{Uncount: true}},
		{"a run that was killed", -9, nil, nil, queue.Outcome{Delay: 30 * time.Second}},
	} {
		w := &worker{o: &workerOpts{attempts: 1, maxCrashes: 5, backoff: 30}}
		r := &entryRun{worker: w, e: &queue.Entry{Tries: 1, Runs: []string{"a", "b"}}, lost: tt.lost}
		got := r.outcome(t.Context(), tt.status, tt.err)
		tt.want.State, tt.want.Retcode, tt.want.Error = queue.Queued, tt.status, got.Error
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
