// Package tee hands on what programs print while they run, to those who listen.
//
// A [Hub] is who listens in a process, a [Source] where the output of one call comes
// from. What is handed on are whole lines without secrets: a secret that is cut in two
// could not be found in either part.
package tee

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"brine/internal/core/host"
)

// Bounds of what is handed on, in bytes. What is beyond is dropped, and counted.
const (
	MaxLine  = 64 << 10
	MaxState = 4 << 20  // of the programs of one state
	MaxCall  = 16 << 20 // of all that a call runs
)

// A Part is what a program printed, or how it ended.
type Part struct {
	// Of is what ran the program: a state, as "ID (module.function)", else a function.
	Of      string `json:"of"`
	Program int64  `json:"program"` // which one of the call, from 1
	Stderr  bool   `json:"stderr,omitempty"`
	Text    string `json:"text,omitempty"`
	// Dropped is how many bytes before Text are missing.
	Dropped int64 `json:"dropped,omitempty"`
	Ended   bool  `json:"ended,omitempty"`
	// Status is the exit status of a program that ended; -N where signal N ended it.
	Status int64 `json:"status,omitempty"`
}

// A Source takes what the programs of a call print.
type Source struct {
	// Wanted reports whether anybody listens. It is asked often.
	Wanted func() bool
	// Mask takes the secrets out of a text; nil: it has none.
	Mask func(string) string
	// Send hands a part on. It must not wait.
	Send func(Part)

	hub      *Hub // nil: it has none
	programs atomic.Int64
	used     atomic.Int64 // bytes
}

// tap is the programs of a state, or of a function.
type tap struct {
	*Source
	of   string
	used *atomic.Int64
}

// Context returns a context whose programs are those of a function; "": only the
// programs of the states that it runs are seen, see [Of].
func (s *Source) Context(ctx context.Context, function string) context.Context {
	return host.WithTap(ctx, &tap{s, function, &atomic.Int64{}})
}

// From returns where the output of the programs of a context goes; nil: nowhere.
func From(ctx context.Context) *Source {
	if t, ok := host.TapOf(ctx).(*tap); ok {
		return t.Source
	}
	return nil
}

// Of returns a context whose programs are those of a state. Its name, which may be a command
// line, is no part of it.
func Of(ctx context.Context, id, function string) context.Context {
	if s := From(ctx); s != nil {
		return s.Context(ctx, id+" ("+function+")")
	}
	return ctx
}

// maxOf is how much of an ID is handed on.
const maxOf = 256

// Unseen returns a context whose programs nobody sees: those that a template runs, whose
// output belongs to no report.
func Unseen(ctx context.Context) context.Context {
	if From(ctx) != nil {
		return host.WithTap(ctx, nil)
	}
	return ctx
}

// Begin begins a program.
func (t *tap) Begin() host.Printing {
	if t.of == "" {
		return nil
	}
	p := &program{tap: t, of: t.of, number: t.programs.Add(1)}
	if t.Mask != nil {
		p.of = t.Mask(p.of)
	}
	if len(p.of) > maxOf {
		p.of = strings.ToValidUTF8(p.of[:maxOf], "") + "…"
	}
	p.outs[1].stderr = true
	return p
}

// A program is one that runs.
type program struct {
	*tap
	of     string
	number int64
	outs   [2]lines // stdout and stderr, each of which one goroutine reads
}

// lines are what a program prints to one of its outputs.
type lines struct {
	mu      sync.Mutex
	stderr  bool
	rest    []byte // the beginning of a line
	skip    bool   // the line that is being printed is not handed on
	dropped int64
}

// Print takes a part of what the program prints.
func (p *program) Print(stderr bool, b []byte) {
	out := &p.outs[0]
	if stderr {
		out = &p.outs[1]
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	if len(b) == 0 {
		return
	}
	if !p.Wanted() {
		// Who comes later gets the next line, and no part of one.
		out.rest, out.skip = nil, b[len(b)-1] != '\n'
		return
	}
	for len(b) > MaxLine { // so that a part is never long
		p.take(out, b[:MaxLine])
		b = b[MaxLine:]
	}
	p.take(out, b)
}

// take hands on the lines that are whole now. The caller has the lock of out.
func (p *program) take(out *lines, b []byte) {
	if out.skip {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			out.dropped += int64(len(b))
			return
		}
		out.dropped += int64(i + 1)
		b, out.skip = b[i+1:], false
	}
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		p.hand(out, string(out.rest)+string(b[:i+1]))
		b, out.rest = b[i+1:], out.rest[:0]
	}
	out.rest = append(out.rest, b...)
	if len(out.rest) > MaxLine {
		out.dropped += int64(len(out.rest))
		out.rest, out.skip = nil, true
	}
}

// hand hands on lines, if there is room for them.
func (p *program) hand(out *lines, text string) {
	n := int64(len(text))
	if p.used.Add(n) > MaxState || p.Source.used.Add(n) > MaxCall {
		out.dropped += n
		return
	}
	if p.Mask != nil {
		text = p.Mask(text)
	}
	p.Send(Part{Of: p.of, Program: p.number, Stderr: out.stderr, Text: strings.ToValidUTF8(text, "\ufffd"), Dropped: out.dropped})
	out.dropped = 0
}

// End hands on what is left, and how the program ended.
func (p *program) End(ended host.Output) {
	if !p.Wanted() {
		return
	}
	var dropped int64
	for i := range p.outs {
		out := &p.outs[i]
		out.mu.Lock()
		if len(out.rest) > 0 {
			p.hand(out, string(out.rest))
			out.rest = nil
		}
		dropped += out.dropped
		out.mu.Unlock()
	}
	p.Send(Part{Of: p.of, Program: p.number, Dropped: dropped, Ended: true, Status: int64(ended.Status)})
}
