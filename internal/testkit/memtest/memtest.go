// Package memtest measures how much memory something takes.
package memtest

import (
	"runtime/metrics"
	"time"
)

// Peak runs f and returns by how many bytes the heap grew at most meanwhile,
// garbage that was not collected yet included. What else runs in the process
// counts, too.
func Peak(f func()) int64 {
	stop, peak := Watch()
	f()
	stop()
	return *peak
}

func heap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// Watch looks at the heap until stop is called; then peak is by how many bytes
// it grew at most.
func Watch() (stop func(), peak *int64) {
	before := heap()
	peak = new(int64)
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			*peak = max(*peak, heap()-before)
			select {
			case <-tick.C:
			case <-over:
				*peak = max(*peak, heap()-before)
				return
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}, peak
}
