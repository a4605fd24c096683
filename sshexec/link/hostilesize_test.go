package link_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/memtest"
	"brine/sshexec/link"
	"brine/sshexec/wire"
)

// nones is a list of None, a byte each.
var nones = func() []byte {
	b := make([]byte, 1<<20)
	copy(b, binary.AppendUvarint([]byte{9}, 1<<20-4))
	return b
}()

// liar answers every call with size bytes of JSON that is as large in memory as
// can be, after records of states of the same kind.
func liar(unit string, size int, records int) func(context.Context, *wire.Stream) error {
	chunk := []byte(strings.Repeat(unit, 64<<10/len(unit)))
	record := binary.AppendUvarint([]byte{1}, 1<<20)
	return func(_ context.Context, st *wire.Stream) error {
		if st.Head().Str("fun") == "test.ping" {
			_, _ = io.WriteString(st, "\x00true")
			return st.CloseWrite(nil, value.MapOf("retcode", int64(0), "raised", false))
		}
		for range records {
			if _, err := st.Write(record); err != nil {
				return err
			}
			if _, err := st.Write(nones); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(st, "\x00["); err != nil {
			return err
		}
		for n := 0; n < size; n += len(chunk) {
			if _, err := st.Write(chunk); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(st, "0]"); err != nil {
			return err
		}
		return st.CloseWrite(nil, value.MapOf("retcode", int64(0), "raised", false))
	}
}

// TestHostileSizes has one target return what takes as much memory as can be.
func TestHostileSizes(t *testing.T) { // not parallel: it looks at memory
	s := newSite(t, nil)
	s.opts.SpillDir = t.TempDir()
	for name, unit := range map[string]string{"lists": "[],", "dicts": "{},", "nested": "[[[]]],", "entries": `{"a":1},`} {
		c, _ := s.hostile(liar(unit, 60<<20, 0))
		var ret fun.Return
		peak := memtest.Peak(func() { ret = c.Invoke(t.Context(), job("lie.size")) })
		if ret.Stage != fun.Lost || ret.Body != nil || !strings.Contains(ret.Err.Error(), "refused") {
			t.Errorf("%s: %s, %v", name, ret.Stage, ret.Err)
		}
		if peak > 400<<20 {
			t.Errorf("%s: %d MiB", name, peak>>20)
		}
		c.Close()
	}
	c, m := s.hostile(liar("[],", 1<<20, 63))
	var ret fun.Return
	peak := memtest.Peak(func() { ret = c.Invoke(t.Context(), job("lie.records")) })
	if peak > 300<<20 {
		t.Errorf("63 records and %s, %v: %d MiB", ret.Stage, ret.Err, peak>>20)
	}
	// What is told without being asked does not take many times its size.
	many := value.NewList(make([]value.Value, 200_000)...)
	peak = memtest.Peak(func() {
		for i := range 30 {
			_ = m.Note("event", value.MapOf("tag", fmt.Sprint("x/", i), "data", value.MapOf("l", many)))
		}
		if _, err := ask(t, m, "pillar"); err != nil {
			t.Error(err)
		}
	})
	if peak > 64<<20 {
		t.Errorf("events: %d MiB", peak>>20)
	}
}

// TestHostileFleet has a hundred targets lie at once, beside ten that do not
// (with BRINE_SOAK, 200 and 200): the memory that all take together is bounded,
// what is honest comes through, and nothing forged is on the bus.
func TestHostileFleet(t *testing.T) { // not parallel: it looks at memory
	liars, fair, size := 100, 10, 3<<19
	if os.Getenv("BRINE_SOAK") != "" {
		liars, fair = 200, 200
	}
	if testing.Short() {
		liars = 20
	}
	chunked := liar("[],", size, 3)
	s := newSite(t, nil)
	s.opts.SpillDir = t.TempDir()
	s.opts.Tree = link.NewTree(s.files)
	all := make([]*link.Conn, 0, liars)
	for range liars {
		c, m := s.hostile(chunked)
		all = append(all, c)
		for _, tag := range []string{"salt/job/20260101000000000000/ret/db1", "x\nsalt/job/20260101000000000000/ret/db1", "20260101000000000000", "salt/auth"} {
			_ = m.Note("event", value.MapOf("tag", tag, "data", value.MapOf("id", "db1")))
		}
		_ = m.Note("warn", value.MapOf("text", "x\nbrine: warning: db1: \x1b[2J"))
	}
	honest := make([]*link.Conn, 0, fair)
	good := liar("[],", 0, 0)
	for range fair {
		c, _ := s.hostile(good)
		honest = append(honest, c)
	}
	var mu sync.Mutex
	var kept []value.Value // as a report does that is printed at the end
	taken := 0
	one := job("lie.size")
	peak := memtest.Peak(func() {
		var wg sync.WaitGroup
		for _, c := range all {
			wg.Go(func() {
				ret := c.Invoke(t.Context(), one)
				mu.Lock()
				defer mu.Unlock()
				if v, err := ret.Value(); err == nil && ret.Stage == fun.Returned {
					kept = append(kept, v)
					taken++
				}
			})
		}
		for _, c := range honest {
			wg.Go(func() {
				ping := one
				ping.Fun = "test.ping"
				ret := c.Invoke(t.Context(), ping)
				if v, err := ret.Value(); err != nil || v != true {
					t.Errorf("an honest target: %s, %v, %v", ret.Stage, ret.Err, err)
				}
			})
		}
		wg.Wait()
	})
	for seq := range s.bus.Seq() {
		if e, _, err := s.bus.Next(t.Context(), seq, nil); err == nil && (e.Tag != "" && (e.Data.Str("id") != "web1" || strings.HasPrefix(e.Tag, "salt/"))) {
			t.Errorf("forged: %q of %q", e.Tag, e.Data.Str("id"))
		}
	}
	if taken == 0 || taken == liars {
		t.Errorf("%d of %d lies are taken", taken, liars)
	}
	t.Logf("%d liars: %d MiB at most, %d taken", liars, peak>>20, len(kept))
	if peak > 1<<30 {
		t.Errorf("%d MiB for %d liars", peak>>20, liars)
	}
}
