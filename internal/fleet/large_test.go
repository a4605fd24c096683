package fleet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A spooled is a large return that counts how often it is read, and how many are
// open at once.
type spooled struct {
	json          []byte
	opened        atomic.Int32
	closed        atomic.Bool
	reading, most *atomic.Int32
}

func (b *spooled) Size() int64 { return int64(len(b.json)) }

func (b *spooled) Open() (io.ReadCloser, error) {
	b.opened.Add(1)
	if n := b.reading.Add(1); n > b.most.Load() {
		b.most.Store(n)
	}
	return &reading{bytes.NewReader(b.json), b}, nil
}

func (b *spooled) Close() error { b.closed.Store(true); return nil }

type reading struct {
	io.Reader
	b *spooled
}

func (r *reading) Close() error { r.b.reading.Add(-1); return nil }

// talkative is a provider whose machines return much.
type talkative struct {
	machines
	bodies map[string]*spooled
}

func (m *talkative) Run(ctx context.Context, job fun.Job, id string, begun func()) fun.Return {
	ret := m.machines.Run(ctx, job, id, begun)
	ret.Body = m.bodies[id]
	return ret
}

// TestReturnsAreReadOnce runs a job with a record, events and a report: each return is
// decoded once. Those of megabytes are decoded one after the other, and events say that
// they were too large for them.
func TestReturnsAreReadOnce(t *testing.T) {
	t.Parallel()
	t.Run("small", func(t *testing.T) { t.Parallel(); readOnce(t, 1, false) })
	t.Run("large", func(t *testing.T) { t.Parallel(); readOnce(t, largeReturn/7+1, true) })
}

func readOnce(t *testing.T, lines int, large bool) {
	t.Helper()
	p := &talkative{bodies: map[string]*spooled{}}
	var now, most atomic.Int32
	text := strings.Repeat("a line\n", lines)
	for i := range 8 {
		id := fmt.Sprintf("web%d", i)
		p.ids = append(p.ids, id)
		p.bodies[id] = &spooled{json: value.EncodeJSON(text), reading: &now, most: &most}
	}
	ring := event.NewRing(0, host.FakeTime)
	ring.Bound(1 << 20)
	f := fleetOf(&p.machines)
	f.Providers, f.Bus = []Provider{p}, ring
	f.Jobs = jobs.NewFiles(t.TempDir(), 0, host.FakeTime)
	got := 0
	sum, err := f.Run(t.Context(), fun.Job{Fun: "cmd.run", Tgt: "*"}, func(r fun.Return) error {
		if v, err := r.Value(); err != nil || v != text {
			t.Errorf("%s returned %.20v, %v", r.ID, v, err)
		}
		got++
		return nil
	})
	if err != nil || got != len(p.ids) || len(sum.Missing) > 0 {
		t.Fatalf("Run = %v, %v with %d returns", sum, err, got)
	}
	for id, b := range p.bodies {
		if n := b.opened.Load(); n != 1 || !b.closed.Load() {
			t.Errorf("the return of %s was read %d times, closed %t", id, n, b.closed.Load())
		}
	}
	if large && most.Load() != 1 {
		t.Errorf("%d large returns were read at once", most.Load())
	}
	for seq := uint64(0); seq < ring.Seq(); {
		e, _, err := ring.Next(t.Context(), seq, nil)
		if err != nil {
			t.Fatal(err)
		}
		seq = e.Seq
		if strings.Contains(e.Tag, "/ret/") && (e.Data.Str("return") == "VALUE_TRIMMED") != large {
			t.Errorf("the event %s has a return of %d bytes", e.Tag, len(e.Data.Str("return")))
		}
	}
}

// TestCollectOften: what the user says of the heap counts more than large returns.
func TestCollectOften(t *testing.T) {
	usual := debug.SetGCPercent(100)
	defer debug.SetGCPercent(usual)
	t.Setenv("GOGC", "100")
	collectOften()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("with GOGC=100 it is %d", got)
	}
	t.Setenv("GOGC", "")
	collectOften()
	if got := debug.SetGCPercent(100); got != leanGC {
		t.Errorf("without GOGC it is %d, want %d", got, leanGC)
	}
}
