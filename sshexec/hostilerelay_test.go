package sshexec

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/sshtest"
	"brine/sshexec/wire"
)

// A copier passes the bytes of one direction of a connection on, or what it likes.
type copier func(ctx context.Context, w io.Writer, r io.Reader) error

func honest(_ context.Context, w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, r)
	return err
}

// An evil relay speaks the relay's protocol and does what it likes. The zero value is
// honest, and holds no files.
type evil struct {
	to       func(addr string) string // where a connection goes in truth
	up, down copier                   // to the target, and back
	// answer stands in for all else, where it says so.
	answer func(ctx context.Context, s *wire.Stream) (done bool, err error)
}

func (e *evil) serve(ctx context.Context, rw io.ReadWriteCloser) error {
	m, err := wire.Greet(ctx, rw, wire.Options{Role: wire.Agent, Hello: value.MapOf("is", "brine relay"), Streams: 100, Handle: e.handle})
	if err != nil {
		return err
	}
	<-m.Done()
	return nil
}

func (e *evil) handle(ctx context.Context, s *wire.Stream) error {
	if e.answer != nil {
		if done, err := e.answer(ctx, s); done || err != nil {
			return err
		}
	}
	if s.Method() != "relay.dial" {
		return wire.Refusef("no")
	}
	addr := s.Head().Str("addr")
	if e.to != nil {
		addr = e.to(addr)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if _, err := s.Write([]byte{1}); err != nil {
		return err
	}
	up, down := e.up, e.down
	if up == nil {
		up = honest
	}
	if down == nil {
		down = honest
	}
	go func() {
		if up(ctx, c, s) != nil {
			c.Close()
		}
	}()
	return down(ctx, s, c)
}

// At a place in what passes, a relay does something else than passing it on.
var tampers = map[string]func(ctx context.Context, w io.Writer, r io.Reader, passed []byte) error{
	"forges":     func(_ context.Context, w io.Writer, r io.Reader, _ []byte) error { return rewrite(w, r, 64, flipped) },
	"drops":      func(_ context.Context, w io.Writer, r io.Reader, _ []byte) error { return rewrite(w, r, 64, nothing) },
	"duplicates": func(_ context.Context, w io.Writer, r io.Reader, _ []byte) error { return rewrite(w, r, 64, twice) },
	"reorders":   func(_ context.Context, w io.Writer, r io.Reader, _ []byte) error { return rewrite(w, r, 64, swapped) },
	"replays": func(_ context.Context, w io.Writer, _ io.Reader, passed []byte) error {
		_, err := w.Write(passed)
		return err
	},
	"invents": func(_ context.Context, w io.Writer, _ io.Reader, _ []byte) error {
		b := make([]byte, 100)
		_, _ = rand.Read(b)
		_, err := w.Write(b)
		return err
	},
	"grows": func(_ context.Context, w io.Writer, _ io.Reader, _ []byte) error { // a packet of 4 GiB
		_, err := w.Write(bytes.Repeat([]byte{0xff}, 64))
		return err
	},
	"cuts":      func(context.Context, io.Writer, io.Reader, []byte) error { return errors.New("cut") },
	"truncates": func(context.Context, io.Writer, io.Reader, []byte) error { return errTruncated },
	"holds back": func(ctx context.Context, _ io.Writer, _ io.Reader, _ []byte) error {
		<-ctx.Done()
		return ctx.Err()
	},
}

func rewrite(w io.Writer, r io.Reader, n int, change func(b []byte) []byte) error {
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	_, err := w.Write(change(b))
	return err
}

func flipped(b []byte) []byte {
	b[len(b)/2] ^= 1
	return b
}
func nothing([]byte) []byte   { return nil }
func twice(b []byte) []byte   { return append(bytes.Clone(b), b...) }
func swapped(b []byte) []byte { return append(bytes.Clone(b[len(b)/2:]), b[:len(b)/2]...) }

// errTruncated has a connection end as if the target had ended it.
var errTruncated = errors.New("truncated")

// tampering is a copier that does something at a place, and counts how often.
func tampering(at int64, what func(ctx context.Context, w io.Writer, r io.Reader, passed []byte) error, n *atomic.Int32) copier {
	return func(ctx context.Context, w io.Writer, r io.Reader) error {
		var passed bytes.Buffer
		if _, err := io.CopyN(io.MultiWriter(w, &passed), r, at); err != nil {
			return err
		}
		n.Add(1)
		err := what(ctx, w, r, passed.Bytes())
		if c, ok := w.(net.Conn); errors.Is(err, errTruncated) && ok {
			return c.(*net.TCPConn).CloseWrite()
		}
		if errors.Is(err, errTruncated) {
			return nil
		}
		if err != nil {
			return err
		}
		return honest(ctx, w, r)
	}
}

// longAnswer is what a machine says of itself: more than a relay passes on at once.
func longAnswer(id string) string {
	return "this is " + id + "\n" + strings.Repeat("a line of "+id+"\n", 20_000)
}

// A tampered target is one behind a relay that does something to its connection.
type tampered struct {
	name string
	what func(ctx context.Context, w io.Writer, r io.Reader, passed []byte) error
	up   bool
	at   int64
	n    atomic.Int32 // how often it was done
}

// tamperGrace is how long a connection goes on after something was done to it: how
// long controllers wait is tested elsewhere.
const tamperGrace = 2 * time.Second

// serve carries the connection.
func (x *tampered) serve(ctx context.Context, s *wire.Stream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	bend := tampering(x.at, func(ctx context.Context, w io.Writer, r io.Reader, passed []byte) error {
		time.AfterFunc(tamperGrace, cancel)
		return x.what(ctx, w, r, passed)
	}, &x.n)
	if x.up {
		return (&evil{up: bend}).handle(ctx, s)
	}
	return (&evil{down: bend}).handle(ctx, s)
}

// TestHostileRelayBytes: whatever a relay does to the bytes of a connection, in the
// handshake, at the log-in or afterwards, the target has failed. Other targets of the
// same relay, and those of another one, return what they say.
func TestHostileRelayBytes(t *testing.T) {
	t.Parallel()
	places := []struct {
		where string
		up    bool
		at    int64
	}{
		{"the version of the target", false, 4},
		{"its key exchange", false, 300},
		{"its key", false, 1000},
		{"its answer to the log-in", false, 2380},
		{"its return", false, 100_000},
		{"the version of the controller", true, 4},
		{"the key exchange of the controller", true, 300},
		{"the log-in", true, 2075},
		{"the command", true, 2190},
	}
	r := &relayed{t: t}
	bent := map[string]*tampered{} // by address
	r.relay("evil", (&evil{answer: func(ctx context.Context, s *wire.Stream) (bool, error) {
		x := bent[s.Head().Str("addr")]
		if x == nil {
			return false, nil
		}
		return true, x.serve(ctx, s)
	}}).serve)
	r.relay("good", nil)
	add := func(id, by string) *sshtest.Fake {
		f := r.add(id, func(s *sshtest.Session) int {
			_, _ = io.WriteString(s, longAnswer(id))
			return 0
		})
		r.entries[len(r.entries)-1].Relay = by
		return f
	}
	cases := map[string]*tampered{}
	for name, what := range tampers {
		for _, at := range places {
			id := fmt.Sprint("bent", len(cases))
			x := &tampered{name: name + " " + at.where, what: what, up: at.up, at: at.at}
			cases[id], bent[add(id, "evil").Addr] = x, x
		}
	}
	others := []string{"web1", "web2", "web3"}
	for i, by := range []string{"evil", "good", ""} {
		add(others[i], by)
	}
	p := r.provider()
	var wg sync.WaitGroup
	for _, id := range others {
		wg.Go(func() {
			ret := p.Run(t.Context(), fun.Job{JID: "1", Shell: "who"}, id, func() {})
			if got, _ := ret.Body.(fun.ValueBody); ret.Err != nil || !strings.Contains(value.Str(got.V), strings.ReplaceAll(longAnswer(id), "\n", `\n`)) {
				t.Errorf("%s: %v, %.200v", id, ret.Err, got.V)
			}
		})
	}
	for id, x := range cases {
		wg.Go(func() {
			ret := p.Run(t.Context(), fun.Job{JID: "1", Shell: "who"}, id, func() {})
			switch _, good := ret.Outcome(); {
			case x.n.Load() == 0:
				t.Errorf("the relay never %s: %v", x.name, ret.Err)
			case ret.Err == nil, ret.Body != nil, good != false:
				t.Errorf("a relay that %s: %v, %.100v, success %v", x.name, ret.Err, ret.Body, good)
			case errors.Is(ret.Err, context.Canceled):
				t.Errorf("a relay that %s: the failure passes for an interrupt: %v", x.name, ret.Err)
			default:
				wantText(t, ret.Err.Error(), id+" (127.0.0.1:")
			}
		})
	}
	wg.Wait()
}

// TestHostileRelayHolds: what a relay holds back is missed within the limits, and said
// to be missed. It never counts as good.
func TestHostileRelayHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		e    func() *evil
		want []string
	}{
		{"the answer to a dial", func() *evil {
			return &evil{answer: func(ctx context.Context, _ *wire.Stream) (bool, error) { <-ctx.Done(); return true, nil }}
		}, []string{"no answer within 3s (the relay b1 may not have passed it on)"}},
		{
			"all of a target", func() *evil { return &evil{down: tampering(0, tampers["holds back"], new(atomic.Int32))} },
			[]string{"no answer within 3s (the relay b1 may not have passed it on)"},
		},
		{
			"all of the controller", func() *evil { return &evil{up: tampering(0, tampers["holds back"], new(atomic.Int32))} },
			[]string{"no answer within 3s (the relay b1 may not have passed it on)"},
		},
		{
			"the end of a return", func() *evil { return &evil{down: tampering(200_000, tampers["holds back"], new(atomic.Int32))} },
			[]string{"the host answered nothing for 3s (the relay b1 may have passed nothing on)"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := &relayed{t: t}
			r.relay("b1", tt.e().serve)
			r.add("web1", func(s *sshtest.Session) int {
				_, _ = io.WriteString(s, longAnswer("web1"))
				return 0
			})
			e := r.entries[1]
			if e.Relay = "b1"; strings.Contains(tt.want[0], "within") {
				e.Timeout = 3 * time.Second
			}
			p := r.provider()
			p.s.Dialer.o.KeepAlive = time.Second
			wantText(t, r.ask(p, "web1"), tt.want...)
		})
	}
}

// TestHostileRelayHoldsAgent: a relay that passes nothing on once the agent works, or
// only a part of its return, has the call counted as lost.
func TestHostileRelayHoldsAgent(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]int64{"all": 0, "the end of the return": 300_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var on atomic.Bool
			e := &evil{down: func(ctx context.Context, w io.Writer, r io.Reader) error {
				b, passed := make([]byte, 4096), int64(0)
				for {
					n, err := r.Read(b)
					if on.Load() {
						if passed += int64(n); passed > after {
							<-ctx.Done()
						}
					}
					if _, werr := w.Write(b[:n]); err != nil || werr != nil {
						return errors.Join(err, werr)
					}
				}
			}}
			b := newBehindBy(t, 1, 1000, nil, e.serve)
			b.call = func(context.Context, fun.Upstream, string) string {
				on.Store(true)
				return longAnswer("web0")
			}
			b.p.s.Dialer.o.KeepAlive = time.Second
			ret := b.p.Run(t.Context(), fun.Job{JID: "20261123050000000001", Fun: "x", Args: fun.Args{Kw: value.NewMap(0)}}, "web0", func() {})
			if ret.Err == nil || ret.Stage != fun.Lost || ret.Body != nil {
				t.Fatalf("%v, stage %v, body %v", ret.Err, ret.Stage, ret.Body)
			}
			if _, good := ret.Outcome(); good != false {
				t.Error("it counts as good")
			}
			wantText(t, ret.Err.Error(), "web0 (127.0.0.1:", "the host answered nothing for 3s (the relay b1 may have passed nothing on)")
		})
	}
}

// TestHostileRelaySwaps: bytes of one target's connection that a relay puts into that
// of another one are the return of neither.
func TestHostileRelaySwaps(t *testing.T) {
	t.Parallel()
	r := &relayed{t: t}
	// Behind the log-in, each connection goes on with the bytes of the other.
	var came atomic.Int32
	given := [2]chan []byte{make(chan []byte, 1), make(chan []byte, 1)}
	swap := func(ctx context.Context, w io.Writer, r io.Reader, _ []byte) error {
		b := make([]byte, 32<<10)
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		mine := came.Add(1) - 1
		given[mine] <- b
		select {
		case b = <-given[1-mine]:
		case <-ctx.Done():
			return ctx.Err()
		}
		_, err := w.Write(b)
		return err
	}
	var n atomic.Int32
	r.relay("b1", (&evil{down: tampering(50_000, swap, &n)}).serve)
	for _, id := range []string{"web1", "web2"} {
		r.add(id, func(s *sshtest.Session) int {
			_, _ = io.WriteString(s, longAnswer(id))
			return 0
		})
		r.entries[len(r.entries)-1].Relay = "b1"
	}
	p := r.provider()
	var wg sync.WaitGroup
	for _, id := range []string{"web1", "web2"} {
		wg.Go(func() {
			if ret := p.Run(t.Context(), fun.Job{JID: "1", Shell: "who"}, id, func() {}); ret.Err == nil || ret.Body != nil {
				t.Errorf("%s returns %.100v", id, ret.Body)
			}
		})
	}
	wg.Wait()
	if n.Load() != 2 {
		t.Errorf("%d connections were swapped", n.Load())
	}
}
