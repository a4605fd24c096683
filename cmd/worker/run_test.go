package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"brine/cmd/app"
	"brine/internal/core/redact"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
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
		w := &worker{o: &options{attempts: 1, maxCrashes: 1, backoff: tt.backoff}}
		r := &entryRun{worker: w, e: &queue.Entry{Tries: 9, Runs: tt.runs}, last: "orch is locked"}
		want := tt.want
		want.State, want.Uncount, want.Retcode, want.Error = queue.Queued, true, app.ExitLocked, r.last
		if got := r.outcome(t.Context(), app.ExitLocked, nil); got != want {
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
		{"records that cannot be read", app.ExitNotYet, nil, nil, queue.Outcome{Delay: unsettled, Uncount: true, Unrun: true}},
		{"a lock that was lost", app.ExitCut, nil, nil, queue.Outcome{Delay: 30 * time.Second}},
		{"a queue that is away", 130, nil, errors.New("no route"), queue.Outcome{Uncount: true}},
		{"a run that was killed for that", 0, context.Canceled, errors.New("no route"), queue.Outcome{Uncount: true}},
		{"a run that was killed", -9, nil, nil, queue.Outcome{Delay: 30 * time.Second}},
	} {
		w := &worker{o: &options{attempts: 1, maxCrashes: 5, backoff: 30}}
		r := &entryRun{worker: w, e: &queue.Entry{Tries: 1, Runs: []string{"a", "b"}}, lost: tt.lost}
		got := r.outcome(t.Context(), tt.status, tt.err)
		tt.want.State, tt.want.Retcode, tt.want.Error = queue.Queued, tt.status, got.Error
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestHostileEntry: what a worker prints of an entry is what runs, in one line that a
// terminal shows as it is, and without secrets.
func TestHostileEntry(t *testing.T) {
	t.Parallel()
	known := redact.NewSet()
	known.Add("hunter2-known")
	for _, tt := range []struct {
		name string
		work *queue.Work
		want string
	}{
		{"plain", &queue.Work{Args: []value.Value{"deploy.web"}}, "state.orchestrate deploy.web"},
		{"the listing lies", &queue.Work{Args: []value.Value{"drop.all"}}, "state.orchestrate drop.all"},
		{"by name", &queue.Work{Kwargs: value.MapOf("mods", value.Strings("a", "b"), "saltenv", "dev")}, `state.orchestrate 'mods=["a","b"]' saltenv=dev`},
		{"pillar", &queue.Work{Args: []value.Value{"a"}, Kwargs: value.MapOf("pillar", value.MapOf("version", "hunter2", "password", "hunter2"))}, "state.orchestrate a 'pillar={version, password}'"},
		{"pillar that is none", &queue.Work{Args: []value.Value{"a"}, Kwargs: value.MapOf("pillar", "hunter2")}, "state.orchestrate a pillar=XXX-REDACTED-XXX"},
		{"secrets", &queue.Work{
			Args:   []value.Value{"a", "https://ana:hunter2@x.example/"},
			Kwargs: value.MapOf("token", "hunter2", "declared", "hunter2", "env", value.MapOf("A", "hunter2"), "stdin", "hunter2", "x", value.MapOf("password", "hunter2"), "y", "so hunter2-known"),
		}, "state.orchestrate a https://ana:XXX-REDACTED-XXX@x.example/ token=XXX-REDACTED-XXX"},
		{"pins", &queue.Work{Args: []value.Value{"a"}, At: []string{"https://ana:hunter2@x.example/r.git=v1"}, SaltEnv: "dev", PillarEnv: "prod"}, "state.orchestrate a --at=https://ana:XXX-REDACTED-XXX@x.example/r.git=v1 --saltenv=dev --pillarenv=prod"},
		{"terminal", &queue.Work{Args: []value.Value{"a", "\x1b[2J\nbrine: b, queued by root on ctl\u202e"}}, `state.orchestrate a '\x1b[2J\nbrine: b, queued by root on ctl\u202e'`},
		{"keys", &queue.Work{Args: []value.Value{"a"}, Kwargs: value.MapOf("pillar", value.MapOf("\x1b[0m\n", int64(1)))}, `state.orchestrate a 'pillar={\x1b[0m\n}'`},
		{"long", &queue.Work{Args: []value.Value{"a", strings.Repeat("ä", 1<<18)}}, "state.orchestrate a 'ää"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.work.Kwargs == nil {
				tt.work.Kwargs = value.NewMap(0)
			}
			e := &queue.Entry{SLS: "harmless", User: "ana", Controller: "ctl\x1b[0m", Work: tt.work}
			got := described(e, known, []string{"mods", "saltenv"}, []string{"declared"})
			if !strings.HasPrefix(got, tt.want) || !strings.HasSuffix(got, `, queued by ana on ctl\x1b[0m`) {
				t.Errorf("described = %s, want %s", got, tt.want)
			}
			if strings.Contains(got, "hunter2") || strings.Contains(got, "harmless") || strings.ContainsAny(got, "\n\x1b\u202e") || len(got) > 1200 || !utf8.ValidString(got) {
				t.Errorf("described = %q", got)
			}
		})
	}
}
