package sshexec

import (
	"context"
	"errors"
	"testing"
	"time"

	"brine/internal/core/roster"
)

func TestLimitOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		files, procs int
		want         cost
	}{
		{256, 20, cost{192, 20}},
		{100, 64, cost{50, 64}},
		{1, 1, cost{4, 1}},
		{1 << 20, 64, cost{1<<20 - reservedFiles, 64}},
		{0, 0, cost{1 << 30, 1 << 30}},
	} {
		if got := limitOf(tt.files, tt.procs); got != tt.want {
			t.Errorf("limitOf(%d, %d) = %v, want %v", tt.files, tt.procs, got, tt.want)
		}
	}
}

// TestRoom: what is used least recently gives its place, what is used keeps it,
// and who finds none waits.
func TestRoom(t *testing.T) {
	t.Parallel()
	p := NewProvider(Settings{Dialer: &Dialer{}, Files: 8, Procs: 2, Entries: []*roster.Entry{{ID: "a"}, {ID: "b"}, {ID: "c"}}})
	limit := p.room.limit
	if limit != (cost{4, 2}) {
		t.Fatalf("the limit is %v", limit)
	}
	take := func(m *machine, files int) {
		t.Helper()
		if err := p.room.take(t.Context(), cost{files: files}); err != nil {
			t.Fatal(err)
		}
		m.cost = cost{files: files}
	}
	a, b, c := p.targets["a"], p.targets["b"], p.targets["c"]
	leaveA, leaveB := a.enter(), b.enter()
	take(a, 2)
	take(b, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := p.room.take(ctx, cost{files: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("where all are used, take = %v", err)
	}
	leaveB(false)
	leaveA(false)
	again := b.enter() // a is the one that was used least recently now
	leaveC := c.enter()
	take(c, 2)
	if a.cost != (cost{}) || b.cost.files != 2 {
		t.Errorf("a holds %v, b %v; want a to have given its place", a.cost, b.cost)
	}
	// Who waits gets what is given back.
	got := make(chan error, 1)
	go func() { got <- p.room.take(t.Context(), cost{files: 2}) }()
	again(true)
	if err := <-got; err != nil || b.cost != (cost{}) {
		t.Errorf("take = %v, b holds %v", err, b.cost)
	}
	leaveC(false)
	if p.room.used.files != 4 || p.room.most.files != 4 {
		t.Errorf("used %v, most %v", p.room.used, p.room.most)
	}
}
