package fleet

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/fun"
)

// TestHostileRunning has a target say for ever that it still works on a job: it
// is given up at the bound, of the step, of the configuration or the default
// one, the others return, and the user is told who is waited for.
func TestHostileRunning(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		ofJob, of time.Duration
		timeout   time.Duration
		shell     string
		want      time.Duration
	}{
		{"step", 2 * time.Hour, 5 * time.Hour, 5 * time.Second, "", 2 * time.Hour},
		{"configuration", 0, 5 * time.Hour, 5 * time.Second, "", 5 * time.Hour},
		{"default", 0, 0, 5 * time.Second, "", DefaultMaxWait},
		{"nobody asked", 2 * time.Hour, 0, 0, "", 2 * time.Hour},
		{"raw, step", 2 * time.Hour, 5 * time.Hour, 5 * time.Second, "sleep", 2 * time.Hour},
		{"raw, configuration", 0, 5 * time.Hour, 5 * time.Second, "sleep", 5 * time.Hour},
		{"raw, default", 0, 0, 0, "sleep", DefaultMaxWait},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &sleepers{
					machines: machines{ids: []string{"liar", "quick"}},
					work:     map[string]time.Duration{"liar": -1, "quick": time.Second}, running: map[string]bool{},
				}
				var told []string
				f := &Fleet{
					Providers: []Provider{s}, Timeout: tt.timeout, Gather: 10 * time.Second, MaxWait: tt.of,
					NewJID:  func() string { return "20200102030405000000" },
					Waiting: func(_ string, ids []string, _ time.Duration) { told = append(told, strings.Join(ids, " ")) },
				}
				start := time.Now()
				got := map[string]fun.Return{}
				if _, err := f.Run(t.Context(), fun.Job{Tgt: "*", Fun: "state.apply", Shell: tt.shell, MaxWait: tt.ofJob}, func(r fun.Return) error {
					got[r.ID] = r
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took < tt.want || took > tt.want+time.Minute {
					t.Errorf("it took %s", took)
				}
				if r := got["liar"]; r.Stage != fun.TimedOut || !strings.Contains(r.Err.Error(), "max_wait") || r.Partial.Len() != 1 {
					t.Errorf("liar: %s, %v, %v", r.Stage, r.Err, r.Partial)
				}
				if got["quick"].Stage != fun.Returned {
					t.Errorf("quick: %+v", got["quick"])
				}
				if len(told) < 5 || len(told) > 40 || told[0] != "liar" {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}
