package ui

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/testkit/historytest"
)

// processor is the time that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPages makes pages of a controller with 5,000 runs in the history and the job
// cache, 200 of which are kept, and tells what they take of the processor and how long they
// are.
func BenchmarkPages(b *testing.B) {
	f := &fake{dir: b.TempDir(), ran: make(chan command, 8), end: make(chan int)}
	s, err := New(Options{Backend: f, Origins: []string{origin}, Owner: "owner", Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	var rows []*value.Map
	files := jobs.NewFiles(filepath.Join(f.dir, "cache"), 0, time.Now)
	for i := range 5000 {
		jid := jobs.JIDAt(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 20 * time.Minute))
		rows = append(rows, historytest.Rows(jid, fmt.Sprintf("deploy%d", i%40), 3, 2, nil)...)
		rec, err := files.Begin(jobs.Load{JID: jid, Fun: "runner.state.orchestrate", Arg: value.Strings("orch.deploy"), Tgt: "ctl", User: "ann", Runner: true, Minions: []string{"ctl"}})
		if err == nil {
			err = rec.End()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := f.History(b.Context(), func(st *history.Store) error { return st.Return(b.Context(), rows) }); err != nil {
		b.Fatal(err)
	}
	st := kept.New(filepath.Join(f.dir, "cache"), time.Now)
	for i := range 200 {
		r, lock, err := st.Create(kept.Spec{Kind: kept.Orchestrations, Name: fmt.Sprintf("orch.%d", i%7), User: "ann", Args: []string{"orchestrate"}}, nil, func(*kept.Run) []string { return []string{"orchestrate"} })
		if err != nil {
			b.Fatal(err)
		}
		_ = lock.Close()
		if err := (&kept.Process{Run: r}).End(0, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
	who := (&site{Server: s, fake: f, h: s.Handler()}).browser(Viewer)
	for _, path := range []string{"/", "/runs", "/runs?sort=run", "/history", "/history?sort=name", "/history?status=failed", "/jobs", "/jobs?sort=user", "/audit", "/search?q=deploy", "/hosts", "/recurring"} {
		b.Run(path[1:], func(b *testing.B) {
			size := 0
			who.get(path) // indexes are made once
			began := processor(b)
			for b.Loop() {
				w := who.get(path)
				if size = w.Body.Len(); w.Code != 200 {
					b.Fatalf("status %d", w.Code)
				}
			}
			b.ReportMetric(float64((processor(b)-began).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
