package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"brine/internal/py/value"
)

// ends are two ends that can be parted and joined.
type ends struct {
	t    *testing.T
	a, b *Mux // controller, agent

	mu    sync.Mutex
	conns []net.Conn
	broke chan error
}

// tcp returns the two ends of a connection on loopback: unlike a pipe it holds
// bytes, which are lost when it breaks.
func tcp(t *testing.T) (net.Conn, net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

func newEnds(t *testing.T, handle func(context.Context, *Stream) error) *ends {
	t.Helper()
	p := &ends{t: t, broke: make(chan error, 100)}
	a, b := tcp(t)
	p.conns = []net.Conn{a, b}
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var errs [2]error
	wg.Go(func() {
		p.a, errs[0] = Greet(ctx, a, Options{Role: Controller, Resume: true, Noise: DefaultNoise, Broken: func(err error) { p.broke <- err }})
	})
	wg.Go(func() { p.b, errs[1] = Greet(ctx, b, Options{Role: Agent, Resume: true, Handle: handle}) })
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.a.Close(); p.b.Close() })
	return p
}

// cut breaks the link: bytes that are under way are lost.
func (p *ends) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

// join joins the ends by a new link, which begins with some noise.
func (p *ends) join() error {
	a, b := tcp(p.t)
	p.mu.Lock()
	p.conns = []net.Conn{a, b}
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	var errs [2]error
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = p.a.Rejoin(ctx, a) })
	wg.Go(func() {
		_, _ = io.WriteString(b, "Welcome!\r\n")
		errs[1] = p.b.Rejoin(ctx, b)
	})
	wg.Wait()
	return errors.Join(errs[:]...)
}

// TestNothingIsLostBetweenLinks: whatever is under way when links break, each byte
// of each stream arrives once.
func TestNothingIsLostBetweenLinks(t *testing.T) {
	t.Parallel()
	p := newEnds(t, func(_ context.Context, s *Stream) error {
		_, err := io.Copy(struct{ io.Writer }{s}, s)
		if err != nil {
			return err
		}
		return s.CloseWrite(nil, value.MapOf("good", true))
	})
	// As long as somebody waits, a link that breaks is not the end.
	keep, err := p.a.Open(t.Context(), "echo", nil, true)
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(1+rand.IntN(10)) * time.Millisecond):
			}
			p.cut()
			<-p.broke
			if err := p.join(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	want := make([]byte, 3<<20)
	for i := range want {
		want[i] = byte(i>>8) * 7
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := p.a.Open(t.Context(), "echo", nil, true)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			go func() {
				_, _ = s.Write(want)
				_ = s.CloseWrite(nil, nil)
			}()
			got, err := io.ReadAll(s)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes came back, the same: %v; %v", len(got), bytes.Equal(got, want), err)
			}
			if s.Closing().At("good") != true {
				t.Error("the closing value is lost")
			}
		})
	}
	wg.Wait()
	close(stop)
	<-stopped
	_ = keep.Close()
}

// TestALinkThatNobodyNeedsIsTheChannel: a channel ends with its link where nobody
// waits, and at once where it is closed.
func TestALinkThatNobodyNeedsIsTheChannel(t *testing.T) {
	t.Parallel()
	p := newEnds(t, nil)
	p.cut()
	<-p.a.Done()
	if errors.Is(p.a.Err(), ErrClosed) {
		t.Errorf("it ended with %v", p.a.Err())
	}

	held := make(chan struct{})
	q := newEnds(t, func(ctx context.Context, _ *Stream) error {
		close(held)
		<-ctx.Done()
		return ctx.Err()
	})
	if _, err := q.a.Open(t.Context(), "wait", nil, false); err != nil {
		t.Fatal(err)
	}
	<-held
	q.a.Close()
	<-q.b.Done()
	if !errors.Is(q.b.Err(), ErrEnded) {
		t.Errorf("the agent's end of a channel that was closed: %v, want %v", q.b.Err(), ErrEnded)
	}
}

// TestRejoinRefused: an agent that is gone is told from one that cannot be heard,
// and a count that makes no sense ends the channel.
func TestRejoinRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		say  func(w io.Writer) error
		gone bool
		ends bool
	}{
		{"gone", func(w io.Writer) error { return RefuseResume(w, "it has ended") }, true, false},
		{"mute", func(io.Writer) error { return nil }, false, false},
		{"has too much", func(w io.Writer) error { return writeCount(w, value.MapOf("got", int64(1<<40))) }, false, true},
		{"negative", func(w io.Writer) error { return writeCount(w, value.MapOf("got", int64(-1))) }, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newEnds(t, func(ctx context.Context, _ *Stream) error { <-ctx.Done(); return ctx.Err() })
			if _, err := p.a.Open(t.Context(), "wait", nil, false); err != nil {
				t.Fatal(err)
			}
			p.cut()
			<-p.broke
			if p.a.Broken() == nil || !p.a.Wanted() {
				t.Fatalf("broken: %v, wanted: %v", p.a.Broken(), p.a.Wanted())
			}
			a, b := tcp(t)
			go func() {
				_ = tt.say(b)
				b.Close()
			}()
			err := p.a.Rejoin(t.Context(), a)
			if err == nil || errors.Is(err, ErrUnknownChannel) != tt.gone {
				t.Errorf("Rejoin = %v", err)
			}
			if ended := p.a.Err() != nil; ended != tt.ends {
				t.Errorf("the channel has ended: %v, want %v", ended, tt.ends)
			}
		})
	}
}

// TestSmallFramesOvertake: an answer does not stand behind a stream with much to
// say.
func TestSmallFramesOvertake(t *testing.T) {
	t.Parallel()
	m := &Mux{wake: make(chan struct{}, 1), done: make(chan struct{}), peerFrame: DefaultFrame}
	bulk, small := newStream(m, 1, "big", nil), newStream(m, 3, "small", nil)
	for range 4 {
		if err := m.sendData(bulk, make([]byte, dataFrame)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.sendData(small, []byte("answer")); err != nil {
		t.Fatal(err)
	}
	_ = m.send(frame{typ: framePing})
	if len(m.out) != 3*(header+dataFrame) {
		t.Errorf("%d bytes wait as bulk data", len(m.out))
	}
	b := m.nextWrite()
	if !bytes.Contains(b, []byte("answer")) || b[len(b)-1] != 0 || len(b) > 4*(header+dataFrame) {
		t.Errorf("what is written first has %d bytes and the answer in it: %v", len(b), bytes.Contains(b, []byte("answer")))
	}
}
