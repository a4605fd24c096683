//go:build !slim

package assembly

import (
	"testing"
	"time"

	"brine/internal/py/value"
)

func TestSecondsOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v    value.Value
		want time.Duration
		ok   bool
	}{{nil, 0, true}, {int64(5), 5 * time.Second, true}, {"7", 7 * time.Second, true}, {0.5, 500 * time.Millisecond, true}, {"abc", 0, false}, {value.NewList(), 0, false}} {
		got, err := secondsOf(value.MapOf("gather_job_timeout", tt.v), "gather_job_timeout")
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%v: %s, %v", tt.v, got, err)
		}
	}
}
