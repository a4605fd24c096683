package link_test

import (
	"runtime"
	"testing"

	"brine/sshexec/link"
)

// BenchmarkPing is a call over an open agent, both ends in this process.
func BenchmarkPing(b *testing.B) {
	s := newSite(b, nil)
	c, _ := s.connect()
	call(b, c, job("test.ping"))
	b.ReportAllocs()
	for b.Loop() {
		j := job("test.ping")
		if ret := c.Invoke(b.Context(), j); ret.Err != nil {
			b.Fatal(ret.Err)
		}
	}
}

// BenchmarkApply is an idempotent run of 25 states over an open agent.
func BenchmarkApply(b *testing.B) {
	s := newSite(b, stateTree(b.TempDir()))
	c, _ := s.connect()
	call(b, c, job("state.apply", "app"))
	for b.Loop() {
		if got := results(b, call(b, c, job("state.apply", "app"))); len(got) != 25 {
			b.Fatal(len(got))
		}
	}
}

// BenchmarkIdle reports the memory of an idle connection: of both ends, the
// Envs of the agents included, and of the controller's end alone.
func BenchmarkIdle(b *testing.B) {
	const n = 200
	for b.Loop() {
		s := newSite(b, nil)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		conns := make([]*link.Conn, n)
		ends := make([]*end, n)
		for i := range conns {
			a, far := pipe()
			ends[i] = s.serve(far)
			conns[i] = s.attach(a)
			if ret := conns[i].Invoke(b.Context(), job("test.ping")); ret.Err != nil {
				b.Fatal(ret.Err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/n/1024, "KiB/pair")
		b.ReportMetric(float64(runtime.NumGoroutine())/n, "goroutines/pair")
		for i := range conns {
			conns[i].Close()
			<-ends[i].done
		}
	}
}
