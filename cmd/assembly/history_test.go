//go:build !slim

package assembly

import (
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// An execution without an end that this cache does not have is nobody's where the
// history is not this machine's alone: containers may have id and directory in common.
func TestFate(t *testing.T) {
	t.Parallel()
	env := &fun.Env{Identity: fun.Identity{ID: "ctl"}, Machine: fun.Machine{CacheDir: t.TempDir()}}
	files := jobs.NewFiles(env.CacheDir, 0, time.Now)
	e := &history.Execution{JID: "20261121090807000001", Controller: "ctl", Cache: env.CacheDir}
	for _, tt := range []struct {
		mine       bool
		controller string
		want       string
	}{{true, "ctl", history.Interrupted}, {false, "ctl", history.Unfinished}, {true, "other", history.Unfinished}} {
		e.Controller = tt.controller
		if got := outcomeOf(t.Context(), env, files, e, tt.mine); got.Status != tt.want {
			t.Errorf("mine %t, of %s: %s, want %s", tt.mine, tt.controller, got.Status, tt.want)
		}
	}
}

// TestKeepHistory: no number makes the history shorter than it says.
func TestKeepHistory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		keep value.Value
		want time.Duration
	}{
		{int64(86400), 24 * time.Hour},
		{int64(0), 0},
		{int64(-86400), 0},
		{int64(18446744074), 0}, // times a second, it is 0.3 s after an overflow
		{nil, 0},
		{"a year", 0},
	} {
		env := &fun.Env{Data: fun.Data{Opts: value.MapOf("keep_history", tt.keep)}}
		if got := Keep(env.Opts, "keep_history"); got != tt.want {
			t.Errorf("keep_history: %v is %s, want %s", tt.keep, got, tt.want)
		}
	}
}
