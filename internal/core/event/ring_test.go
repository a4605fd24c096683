package event

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"brine/internal/py/value"
)

func at() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC) }

func TestRingKeepsOrderAndCountsWhatWasLost(t *testing.T) {
	r := NewRing(4, at)
	for i := range 10 {
		r.Fire("t/"+strconv.Itoa(i), nil)
	}
	ctx := t.Context()
	e, lost, err := r.Next(ctx, 0, nil)
	if err != nil || e.Tag != "t/6" || lost != 6 {
		t.Errorf("Next(0) = %q, lost %d, %v; want t/6, lost 6", e.Tag, lost, err)
	}
	e, lost, err = r.Next(ctx, e.Seq, func(e Event) bool { return e.Tag == "t/9" })
	if err != nil || e.Seq != 10 || lost != 0 {
		t.Errorf("Next = %d, lost %d, %v; want 10", e.Seq, lost, err)
	}
	if got := e.Data.Str("_stamp"); got != "2026-01-02T03:04:05.000006" {
		t.Errorf("_stamp = %q", got)
	}
}

func TestRingWakesAWaiter(t *testing.T) {
	r := NewRing(0, at)
	got := make(chan Event)
	after := r.Seq()
	go func() {
		e, _, _ := r.Next(t.Context(), after, func(e Event) bool { return e.Tag == "b" })
		got <- e
	}()
	for range 3 {
		r.Fire("a", nil)
	}
	r.Fire("b", value.MapOf("x", int64(1)))
	if e := <-got; e.Data.At("x") != int64(1) {
		t.Errorf("data = %s", value.Repr(e.Data))
	}
}

func TestRingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := NewRing(0, at).Next(ctx, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func BenchmarkFire(b *testing.B) {
	r := NewRing(0, at)
	d := value.MapOf("id", "web1", "_stamp", "x")
	for b.Loop() {
		r.Fire("salt/job/1/ret/web1", d)
	}
}
