package value

import (
	"math"
	"testing"
	"time"
)

func TestSeconds(t *testing.T) {
	t.Parallel()
	const century = 100 * 365 * 24 * time.Hour
	for _, tt := range []struct {
		v    Value
		want time.Duration
	}{
		{nil, 0},
		{int64(0), 0},
		{int64(-3), 0},
		{int64(90), 90 * time.Second},
		{0.25, 250 * time.Millisecond},
		{" 1.5 ", 1500 * time.Millisecond},
		{true, time.Second},
		{math.NaN(), 0},
		{int64(math.MaxInt64), century},
		{math.Inf(1), century},
		{"1e300", century},
	} {
		if got, err := Seconds(tt.v); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v; want %v", Repr(tt.v), got, err, tt.want)
		}
	}
	for _, v := range []Value{"soon", "", NewList()} {
		if got, err := Seconds(v); err == nil {
			t.Errorf("%s: %v and no error", Repr(v), got)
		}
	}
}
