package tee_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/core/tee"
)

// heard collects what a hub hands on.
type heard struct {
	mu    sync.Mutex
	parts []tee.Part
}

func (h *heard) take(_ tee.Place, p tee.Part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts = append(h.parts, p)
}

// text is what was heard, in a line for each part.
func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, p := range h.parts {
		fmt.Fprintf(&b, "%s %d", p.Of, p.Program)
		if p.Dropped > 0 {
			fmt.Fprintf(&b, " -%d", p.Dropped)
		}
		switch {
		case p.Ended:
			fmt.Fprintf(&b, " = %d\n", p.Status)
		case p.Stderr:
			fmt.Fprintf(&b, " ! %q\n", p.Text)
		default:
			fmt.Fprintf(&b, " | %q\n", p.Text)
		}
	}
	return b.String()
}

// begin begins a program of a state whose output is heard, unless later is set.
func begin(t *testing.T, later bool, mask func(host, text string) string) (*tee.Hub, *heard, host.Printing) {
	t.Helper()
	hub, h := &tee.Hub{Mask: mask}, &heard{}
	if !later {
		hub.Listen(h.take)
	}
	ctx := tee.Of(hub.Context(t.Context(), tee.Place{JID: "1", Host: "web1"}, ""), "build", "cmd.run")
	return hub, h, host.TapOf(ctx).Begin()
}

func TestWholeLines(t *testing.T) {
	t.Parallel()
	_, h, p := begin(t, false, nil)
	for _, part := range []string{"one\ntw", "o", "\n\nthree\nla", "st"} {
		p.Print(false, []byte(part))
	}
	p.Print(true, []byte("oops\n"))
	p.End(host.Output{Status: -9})
	want := `build (cmd.run) 1 | "one\n"
build (cmd.run) 1 | "two\n\nthree\n"
build (cmd.run) 1 ! "oops\n"
build (cmd.run) 1 | "last"
build (cmd.run) 1 = -9
`
	if got := h.text(); got != want {
		t.Errorf("heard\n%swant\n%s", got, want)
	}
}

// TestHostileOutput: no part of a secret is handed on, however a program prints it, and
// neither is a line without an end, nor more than there is room for.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	secrets := redact.NewSet()
	secrets.Add("hunter-2222")
	_, h, p := begin(t, false, secrets.LineOf)
	for _, c := range "my hunter-2222 is\n" {
		p.Print(false, []byte(string(c)))
	}
	long := strings.Repeat("x", tee.MaxLine)
	p.Print(false, []byte(long+"hunter"))
	p.Print(false, []byte("-2222"+long+"\nshort\n"))
	p.Print(false, []byte("\xff\n"))
	if want, got := fmt.Sprintf("build (cmd.run) 1 | \"my %s is\\n\"\nbuild (cmd.run) 1 -%d | \"short\\n\"\nbuild (cmd.run) 1 | \"\ufffd\\n\"\n", redact.Hidden, 2*tee.MaxLine+len("hunter-2222\n")), h.text(); got != want {
		t.Errorf("heard\n%swant\n%s", got, want)
	}
	line := strings.Repeat("y", 1023) + "\n"
	for range 2 * tee.MaxState / len(line) {
		p.Print(false, []byte(line))
	}
	p.End(host.Output{})
	var n, dropped int64
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, part := range h.parts {
		n += int64(len(part.Text))
		dropped += part.Dropped
	}
	if n > tee.MaxState || n < tee.MaxState/2 || dropped < tee.MaxState {
		t.Errorf("%d bytes are heard and %d are missing", n, dropped)
	}
}

// TestLater: who comes while a program runs gets what it prints from its next line on.
func TestLater(t *testing.T) {
	t.Parallel()
	hub, h, p := begin(t, true, nil)
	p.Print(false, []byte("early\nhalf of a sec"))
	hub.Listen(h.take)
	p.Print(false, []byte("ret\nlate\n"))
	p.End(host.Output{Status: 1})
	if want, got := "build (cmd.run) 1 -4 | \"late\\n\"\nbuild (cmd.run) 1 = 1\n", h.text(); got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
}

func TestOnWanted(t *testing.T) {
	t.Parallel()
	hub := &tee.Hub{}
	calls := 0
	src := tee.From(hub.Context(t.Context(), tee.Place{}, "cmd.run"))
	src.OnWanted(func() { calls++ })
	cancel := src.OnWanted(func() { calls += 10 })
	cancel()
	hub.Listen(func(tee.Place, tee.Part) {})
	src.OnWanted(func() { calls += 100 })
	if calls != 1 || !src.Wanted() {
		t.Errorf("%d calls, wanted %v", calls, src.Wanted())
	}
}

// TestUnseen: programs of templates, what brine reads, and what is private are not seen.
func TestUnseen(t *testing.T) {
	t.Parallel()
	hub, h := &tee.Hub{}, &heard{}
	hub.Listen(h.take)
	ctx := hub.Context(t.Context(), tee.Place{}, "cmd.run")
	l := host.NewLocal()
	defer l.CloseAll(context.Background())
	sh := []string{"sh", "-c", "echo seen"}
	for _, tt := range []struct {
		ctx context.Context
		cmd host.Cmd
	}{
		{tee.Unseen(ctx), host.Cmd{Argv: sh}},
		{hub.Context(t.Context(), tee.Place{}, ""), host.Cmd{Argv: sh}}, // of no state
		{ctx, host.Cmd{Argv: sh, ReadOnly: true}},
		{ctx, host.Cmd{Argv: sh, Private: true}},
		{ctx, host.Cmd{Argv: sh, Stdin: strings.NewReader("password")}},
		{ctx, host.Cmd{Argv: sh, Stdout: &strings.Builder{}}},
		{t.Context(), host.Cmd{Argv: sh}},
	} {
		if _, err := l.Run(tt.ctx, tt.cmd); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.text(); got != "" {
		t.Errorf("heard %s", got)
	}
	out, err := l.Run(ctx, host.Cmd{Argv: []string{"sh", "-c", "echo seen; exit 3"}})
	if err != nil || string(out.Stdout) != "seen\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
	if want, got := "cmd.run 1 | \"seen\\n\"\ncmd.run 1 = 3\n", h.text(); got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
}

// BenchmarkUnheard: what it costs a program that nobody listens.
func BenchmarkUnheard(b *testing.B) {
	hub := &tee.Hub{}
	p := host.TapOf(hub.Context(b.Context(), tee.Place{}, "cmd.run")).Begin()
	piece := []byte(strings.Repeat("a line\n", 4096))
	b.SetBytes(int64(len(piece)))
	b.ReportAllocs()
	for b.Loop() {
		p.Print(false, piece)
	}
}
