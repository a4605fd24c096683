//go:build !slim

package assembly

import (
	"testing"
	"time"

	"brine/internal/fun"
	"brine/internal/value"
)

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
