package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"brine/internal/value"
)

// A repeat gives the same text, much longer than anybody is to read.
type repeat struct {
	text string
	at   int
	n    int64 // given so far
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.n > 4<<20 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	r.n += int64(len(p))
	return len(p), nil
}

// TestHostileNoiseBeforeTheGreeting has a target send without end before it
// says hello: the read ends at its limit, whatever the bytes are.
func TestHostileNoiseBeforeTheGreeting(t *testing.T) {
	const limit = 64 << 10
	for _, text := range []string{
		"\x00", "x", "\n", magic[:1] + "b", magic[:11], magic[:12], magic[:13], "\x00\x00b", strings.Repeat("\x00", 50) + "x",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := &repeat{text: text}
		err := skipTo(bufio.NewReaderSize(r, 4<<10), limit)
		runtime.ReadMemStats(&after)
		var nh *NoHelloError
		if !errors.As(err, &nh) || len(nh.Noise) > 512 {
			t.Errorf("%q: %v", text, err)
		}
		if r.n > limit+8<<10 {
			t.Errorf("%q: %d bytes were read, the limit is %d", text, r.n, limit)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 256<<10 {
			t.Errorf("%q: %d bytes of memory", text, used)
		}
	}
	// What is allowed before the hello still is.
	noise := strings.Repeat("\x00", 100) + magic[:7]
	if err := skipTo(bytes.NewReader([]byte(noise+magic)), int64(len(noise))); err != nil {
		t.Errorf("noise below the limit: %v", err)
	}
	if err := skipTo(bufio.NewReader(io.LimitReader(&repeat{text: "\x00"}, 600)), limit); err == nil {
		t.Error("an end is a hello")
	}
}

// TestHostileNotes has an agent tell without being asked what takes many times its
// size in memory: the controller hears of it, and keeps nothing.
func TestHostileNotes(t *testing.T) {
	t.Parallel()
	type note struct {
		v    value.Value
		size int
	}
	got := make(chan note, 3)
	_, agent := pair(t, Options{Note: func(_ string, v value.Value, size int) { got <- note{v, size} }}, Options{})
	for _, items := range []int{3000, 200_000} {
		if err := agent.Note("event", value.MapOf("l", value.NewList(make([]value.Value, items)...))); err != nil {
			t.Fatal(err)
		}
		if n := <-got; (n.v == nil) != (items > 3000) || n.size < items {
			t.Errorf("a list of %d items: %d bytes, kept %t", items, n.size, n.v != nil)
		}
	}
}
