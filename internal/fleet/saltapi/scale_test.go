package saltapi_test

import (
	"fmt"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/saltapitest"
)

// thousand runs a job on n minions of one master.
func thousand(tb testing.TB, n int) {
	tb.Helper()
	minions := make([]string, n)
	for i := range minions {
		minions[i] = fmt.Sprintf("web%05d", i)
	}
	r := with(tb, conf(tb, saltapitest.New(tb, minions...).URL))
	got := 0
	job := fun.Job{Tgt: "*", Fun: "test.ping", Args: fun.Args{Kw: value.NewMap(0)}}
	if _, err := r.Run(tb.Context(), job, func(ret fun.Return) error {
		if ret.Stage == fun.Returned {
			got++
		}
		return nil
	}); err != nil || got != n {
		tb.Fatalf("%d of %d returned, %v\n%s", got, n, err, r.warnings())
	}
}

func TestThousandMinions(t *testing.T) {
	t.Parallel()
	thousand(t, 1000)
}

// BenchmarkMinions measures a job on many minions: what it costs grows with their
// number, and no faster. The master is in the same process, and part of it.
func BenchmarkMinions(b *testing.B) {
	for _, n := range []int{250, 1000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			begun := time.Now()
			for b.Loop() {
				thousand(b, n)
			}
			b.ReportMetric(float64(time.Since(begun).Microseconds())/float64(b.N)/float64(n), "µs/minion")
		})
	}
}
