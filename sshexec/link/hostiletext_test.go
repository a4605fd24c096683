package link_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// TestHostileTags fires events whose tags would be lines of another host in
// state.event, and warns and reports faults in several lines.
func TestHostileTags(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	var lines []string
	s.opts.Warn = func(id string, w fun.Warning) {
		s.mu.Lock()
		defer s.mu.Unlock()
		lines = append(lines, id+": "+w.Where+w.Text)
	}
	_, m := s.hostile(nil)
	for _, tag := range []string{
		"x\nsalt/job/20260101000000000000/ret/db1\t{\"id\": \"db1\"}", "x\r\ny", "x\u2028y", "x\u0085y", "\x1b]0;title\x07", "x\x1b[2J", "x\u202ey",
		"salt/job/20260101000000000000/ret/db1", "salt/job/20260101000000000000/ret/web1", "salt/job/20260101000000000000/prog/db1/1", "salt/minion/db1/start",
		"salt/state_result/20260101000000000000/db1/x", "salt/run/20260101000000000000/ret", "salt/auth", "salt/key", "20260101000000000000",
	} {
		_ = m.Note("event", value.MapOf("tag", tag, "data", value.MapOf("a", int64(1))))
	}
	_ = m.Note("event", value.MapOf("tag", "good", "data", value.NewMap(0)))
	forged := "slow\nbrine: warning: db1: all is well\x1b[1A\x1b[2K\r"
	_ = m.Note("warn", value.MapOf("text", forged, "where", forged))
	_ = m.Note("warn", value.MapOf("text", strings.Repeat("x", 100_000), "where", strings.Repeat("y", 100_000)))
	_ = m.Note("fault", value.MapOf("text", forged, "fault", value.MapOf("file", forged, "line", int64(-7), "col", int64(1)<<60, "msg", forged)))
	if _, err := ask(t, m, "pillar"); err != nil {
		t.Fatal(err)
	}
	for seq := range s.bus.Seq() {
		var e event.Event
		var err error
		if e, _, err = s.bus.Next(t.Context(), seq, nil); err != nil || e.Tag != "good" {
			t.Errorf("event %q, %v", e.Tag, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(lines) != 2 || len(s.faults) != 1 || len(lines[1]) > 10_000 {
		t.Fatalf("%d warnings, %d faults", len(lines), len(s.faults))
	}
	at := s.placed[0]
	if at == nil || at.Pos.Line != 0 || strings.ContainsAny(at.Pos.File, "\n\x1b") {
		t.Fatalf("fault at %+v", at)
	}
	for _, text := range append(lines, s.faults[0], at.Err.Error()) {
		for i, l := range strings.Split(text, "\n") {
			if strings.ContainsAny(l, "\x1b\r\a") || i > 0 && !strings.HasPrefix(l, "  | ") {
				t.Errorf("line %q", l)
			}
		}
	}
}

// TestHostileSecrets has a target say without end what its secrets are: some are
// taken, and it is told once that others are not.
func TestHostileSecrets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ size, times, want int }{{16, 4100, 4000}, {1 << 16, 40, 16}} {
		s := newSite(t, nil)
		taken, warned := 0, 0
		s.opts.Secret = func(id, text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if id == "web1" && len(text) == tt.size {
				taken++
			}
		}
		s.opts.Warn = func(_ string, w fun.Warning) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if strings.Contains(w.Text, "more than 4000 secrets") {
				warned++
			}
		}
		_, m := s.hostile(nil)
		for i := range tt.times {
			_ = m.Note("secret", value.MapOf("text", fmt.Sprintf("%0*d", tt.size, i)))
			if i%100 == 99 { // what waits to be written is bounded, too
				m.Flush(time.Minute)
			}
		}
		if _, err := ask(t, m, "pillar"); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		if taken != tt.want || warned != 1 {
			t.Errorf("%d of %d secrets of %d bytes are taken, want %d; %d warnings", taken, tt.times, tt.size, tt.want, warned)
		}
		s.mu.Unlock()
	}
}
