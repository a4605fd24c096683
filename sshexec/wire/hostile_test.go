package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
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

// TestAReaderEndsWithItsStream: who reads a stream whose handler has returned is told,
// and does not look again and again.
func TestAReaderEndsWithItsStream(t *testing.T) {
	t.Parallel()
	read := make(chan error, 1)
	ctl, _ := pair(t, Options{}, Options{Handle: func(_ context.Context, s *Stream) error {
		begun := make(chan struct{})
		go func() {
			close(begun)
			_, err := s.Read(make([]byte, 1))
			read <- err
		}()
		<-begun
		return nil // while the peer sends still
	}})
	s, err := ctl.Open(t.Context(), "x", nil, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	select {
	case err := <-read:
		if err == nil || errors.Is(err, io.EOF) {
			t.Errorf("the read ends with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the read does not end")
	}
}

// TestHostileCancel: an agent that says that what it was asked for was cancelled has
// not been interrupted by the person.
func TestHostileCancel(t *testing.T) {
	t.Parallel()
	ctl, _ := pair(t, Options{}, Options{Handle: func(_ context.Context, s *Stream) error {
		if s.Method() == "end" {
			return context.Canceled
		}
		s.cancelWith("no", nil)
		return nil
	}})
	for _, method := range []string{"end", "cancel"} {
		_, err := ctl.Call(t.Context(), method, nil, 10)
		if err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %T", method, err, err)
		}
	}
}

// TestHostileUnasked: what a controller takes none of ends the channel.
func TestHostileUnasked(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(m *Mux) error{
		"a note": func(m *Mux) error { return m.Note("x", nil) },
		"a request": func(m *Mux) error {
			_, err := m.Open(context.Background(), "x", nil, false)
			return err
		},
	} {
		ctl, agent := pair(t, Options{}, Options{})
		if err := send(agent); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctl.Done():
		case <-time.After(time.Minute):
		}
		if err := ctl.Err(); err == nil || !strings.Contains(err.Error(), name+", and none is expected") {
			t.Errorf("%s: %v", name, err)
		}
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
