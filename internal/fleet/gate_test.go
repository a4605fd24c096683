package fleet

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// callers are machines that go through the phases, each in a time of its own.
type callers struct {
	machines
	connect, push map[string]time.Duration
	ran           atomic.Int32
}

func (c *callers) Minion(_ context.Context, id string) target.Minion { return target.Minion{ID: id} }

func (c *callers) Run(ctx context.Context, job fun.Job, id string, begun func()) fun.Return {
	lost := fun.Return{ID: id, JID: job.JID, Stage: fun.Unreachable}
	pass := func(p Phase, d time.Duration) bool {
		Enter(ctx, p)
		select {
		case <-ctx.Done():
			lost.Err = ctx.Err()
			return false
		case <-time.After(d):
			return true
		}
	}
	if !pass(Connecting, c.connect[id]) || c.push[id] > 0 && !pass(Pushing, c.push[id]) {
		return lost
	}
	Enter(ctx, Running)
	if ctx.Err() != nil {
		lost.Err = ctx.Err()
		return lost
	}
	begun()
	c.ran.Add(1)
	time.Sleep(10 * time.Second) // what has begun is waited for
	return fun.Return{ID: id, JID: job.JID, Body: fun.ValueBody{V: true}}
}

// TestGateCloses: what has begun is waited for, what is being placed is let
// finish, what is being connected to is let go.
func TestGateCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &callers{
			machines: machines{ids: []string{"hung", "late", "placed", "works"}},
			connect:  map[string]time.Duration{"hung": time.Hour, "late": 4 * time.Second},
			push:     map[string]time.Duration{"placed": 8 * time.Second},
		}
		f := fleetOf(&p.machines)
		f.Providers = []Provider{p}
		begin := time.Now()
		f.Gate = func(context.Context, *fun.Chunk) bool { return time.Since(begin) < 3*time.Second }
		got, at := map[string]fun.Return{}, map[string]time.Duration{}
		if _, err := f.Run(t.Context(), fun.Job{Tgt: "*", Fun: "test.ping", Args: fun.Args{Kw: value.NewMap(0)}}, func(r fun.Return) error {
			got[r.ID], at[r.ID] = r, time.Since(begin).Round(time.Second)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]time.Duration{"hung": 3 * time.Second, "late": 3 * time.Second, "placed": 8 * time.Second, "works": 10 * time.Second} {
			if at[id] != want {
				t.Errorf("%s after %s, want %s", id, at[id], want)
			}
			switch ret := got[id]; {
			case id == "works" && ret.Stage != fun.Returned, id != "works" && (ret.Stage != fun.Refused || ret.Err.Error() != "not begun: the run was stopped"):
				t.Errorf("%s: %s, %v", id, ret.Stage, ret.Err)
			}
		}
		if p.ran.Load() != 1 {
			t.Errorf("%d began", p.ran.Load())
		}
	})
}

// TestGateClosesForWhoComesLater: a target whose turn had come when the gate
// closed is not connected to.
func TestGateClosesForWhoComesLater(t *testing.T) {
	t.Parallel()
	e := &admission{closed: func() bool { return true }, waiting: map[string]waiter{}}
	e.close()
	ctx, left := e.admit(t.Context(), "web1", func(Phase) {})
	defer left()
	if err := context.Cause(ctx); !errors.Is(err, errClosed) {
		t.Errorf("its context: %v", err)
	}
	l := &Local{Make: func(context.Context, string) *fun.Env {
		return &fun.Env{Machine: fun.Machine{Host: host.NewFake(), CacheDir: "/cache"}}
	}}
	ret := l.Run(ctx, fun.Job{JID: "20200102030405000000"}, "web1", func() { t.Error("it began") })
	if ret.Stage != fun.Refused {
		t.Errorf("%s, %v", ret.Stage, ret.Err)
	}
}
