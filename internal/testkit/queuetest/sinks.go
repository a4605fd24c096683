package queuetest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"brine/internal/fleet/queue"
)

// sinkEvents are n events for a sink, from number first on.
func sinkEvents(sink string, first, n int) (out []queue.SinkEvent) {
	for i := range n {
		out = append(out, queue.SinkEvent{ID: queue.SinkID(sink, fmt.Sprint(first+i)), Payload: fmt.Sprintf("%03d é ' \" \\ ? $1 \U0001f9c2", first+i)})
	}
	return out
}

// state of a sink.
func (x *tester) sink(name string) queue.SinkState {
	x.Helper()
	all, err := x.s.Sinks(x.Context())
	x.must(err)
	for _, s := range all {
		if s.Name == name {
			return s
		}
	}
	x.Fatalf("there is no sink %s", name)
	return queue.SinkState{}
}

// sinks: events wait in their order, each once however many workers bring it; what is too
// much is lost and counted; one worker sends.
func (x *tester) sinks(open func() *queue.Store) {
	x.Helper()
	const workers, each, batch = 3, 60, 7
	var wg sync.WaitGroup
	for range workers { // each hears all
		s := open()
		wg.Go(func() {
			for n := 0; n < each; n += batch {
				if lost, err := s.Spool(x.Context(), "siem", 1<<20, sinkEvents("siem", n, min(batch, each-n))); err != nil || lost > 0 {
					x.Errorf("Spool = %d, %v", lost, err)
				}
			}
		})
	}
	wg.Wait()
	if s := x.sink("siem"); s.Waiting != each || s.Bytes == 0 || s.Sent != 0 || s.Lost != 0 || s.Held {
		x.Errorf("what waits is %+v", s)
	}
	for _, tt := range []struct {
		worker string
		lease  time.Duration
		want   bool
	}{{"w1", time.Minute, true}, {"w2", time.Minute, false}, {"w1", -time.Second, true}, {"w2", time.Minute, true}, {"w1", time.Minute, false}} {
		if held, due, tries, err := x.s.HoldSink(x.Context(), "siem", tt.worker, tt.lease); held != tt.want || due != 0 || tries != 0 || err != nil {
			x.Errorf("HoldSink of %s = %v, %v, %d, %v", tt.worker, held, due, tries, err)
		}
	}
	x.must(x.s.LeaveSink(x.Context(), "siem", "w1"))
	if held, _, _, _ := x.s.HoldSink(x.Context(), "siem", "w1", time.Minute); held {
		x.Errorf("a worker left what another one holds")
	}
	x.must(x.s.LeaveSink(x.Context(), "siem", "w2"))
	if held, _, _, _ := x.s.HoldSink(x.Context(), "siem", "w1", time.Minute); !held {
		x.Errorf("a sink that was left is not free")
	}

	some, age, full, err := x.s.SinkBatch(x.Context(), "siem", 50, 1<<20)
	if err != nil || len(some) != 50 || !full || age <= 0 || some[0].ID != queue.SinkID("siem", "0") || !strings.HasSuffix(some[49].Payload, "\U0001f9c2") || some[49].Payload[:3] != "049" {
		x.Fatalf("SinkBatch = %d, %v, %v, %v", len(some), age, full, err)
	}
	if few, _, full, err := x.s.SinkBatch(x.Context(), "siem", 50, 100); err != nil || len(few) > 10 || !full {
		x.Errorf("SinkBatch of few bytes = %d, %v, %v", len(few), full, err)
	}
	x.must(x.s.SinkFailed(x.Context(), "siem", time.Hour, "no route"))
	if _, due, tries, err := x.s.HoldSink(x.Context(), "siem", "w1", time.Minute); due < 59*time.Minute || tries != 1 || err != nil {
		x.Errorf("after an attempt that failed: %v, %d, %v", due, tries, err)
	}
	if s := x.sink("siem"); s.Tries != 1 || s.Error != "no route" || s.Due.Before(time.Now()) || !s.Held {
		x.Errorf("after an attempt that failed: %+v", s)
	}
	for range 2 { // the second one changes nothing
		x.must(x.s.SinkSent(x.Context(), "siem", some, false, ""))
	}
	if s := x.sink("siem"); s.Sent != 50 || s.Waiting != 10 || s.Tries != 0 || s.Error != "" {
		x.Errorf("after events were sent: %+v", s)
	}
	rest, _, full, err := x.s.SinkBatch(x.Context(), "siem", 50, 1<<20)
	if err != nil || len(rest) != 10 || full || rest[0].Payload[:3] != "050" {
		x.Errorf("what is left is %d, %v, %v", len(rest), full, err)
	}
	x.must(x.s.SinkSent(x.Context(), "siem", rest, true, "too large"))
	x.must(x.s.SinkLost(x.Context(), "siem", 5))
	if s := x.sink("siem"); s.Sent != 50 || s.Waiting != 0 || s.Bytes != 0 || s.Lost != 15 || s.Error != "too large" {
		x.Errorf("in the end: %+v", s)
	}
	if lost, err := x.s.Spool(x.Context(), "siem", 1<<20, sinkEvents("siem", 0, each)); lost != 0 || err != nil || x.sink("siem").Waiting != 0 {
		x.Errorf("what was sent waits again: %d, %v", lost, err)
	}
	x.must(x.s.CleanSinks(x.Context()))
	if _, err := x.s.Spool(x.Context(), "siem", 1<<20, sinkEvents("siem", 0, 1)); err != nil || x.sink("siem").Waiting != 0 {
		x.Errorf("what was just sent was forgotten: %v", err)
	}
	seen, now, err := x.s.SinkSeen(x.Context(), "siem")
	if err != nil || now.Before(seen) || now.Sub(seen) > time.Minute || !x.sink("siem").Seen.Equal(seen) {
		x.Errorf("SinkSeen = %v, %v, %v", seen, now, err)
	}
	x.exec("UPDATE brine_sink_events SET place = place - 7200000000")
	x.exec("UPDATE brine_sinks SET seen = seen - 14400000000")
	x.must(x.s.CleanSinks(x.Context()))
	if _, err := x.s.Spool(x.Context(), "siem", 1<<20, sinkEvents("siem", 0, 1)); err != nil || x.sink("siem").Waiting != 0 {
		x.Errorf("what a log may have again was forgotten: %v", err)
	}
	x.must(x.s.SawSink(x.Context(), "siem", now))
	x.must(x.s.SawSink(x.Context(), "siem", seen.Add(-time.Hour)))
	if s := x.sink("siem"); !s.Seen.Equal(now) {
		x.Errorf("seen until %v, want %v", s.Seen, now)
	}
	x.must(x.s.CleanSinks(x.Context()))
	if _, err := x.s.Spool(x.Context(), "siem", 1<<20, sinkEvents("siem", 0, 1)); err != nil || x.sink("siem").Waiting != 1 {
		x.Errorf("what was sent long ago is remembered: %v", err)
	}
	for range 2 { // counted once
		if _, err := x.s.Spool(x.Context(), "small", 100, sinkEvents("small", 0, 10)); err != nil {
			x.Error(err)
		}
	}
	if s := x.sink("small"); s.Waiting == 0 || s.Bytes > 100 || s.Lost != int64(10-s.Waiting) {
		x.Errorf("a spool that is full: %+v", s)
	}
}
