package link_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/agent"
	"brine/sshexec/link"
	"brine/sshexec/wire"
)

// A deaf is a connection of which this end alone knows when it broke: after so many
// bytes nothing is read any more, and the other end goes on as if nothing were.
type deaf struct {
	io.ReadWriteCloser
	left atomic.Int64
}

func (d *deaf) Read(p []byte) (int, error) {
	if d.left.Load() <= 0 {
		return 0, errors.New("the network is down")
	}
	n, err := d.ReadWriteCloser.Read(p[:min(int64(len(p)), d.left.Load())])
	d.left.Add(-int64(n))
	return n, err
}

func (d *deaf) Close() error { return nil }

// TestBackBeforeTheAgentKnows: a controller whose connection broke in the midst of
// the return of a short call finds the agent again, which knows of nothing yet.
func TestBackBeforeTheAgentKnows(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.opts.Reconnect = 20 * time.Second
	var tries atomic.Int32
	s.opts.Relink = func(_ context.Context, token string) (io.ReadWriteCloser, error) {
		tries.Add(1)
		a, b := net.Pipe()
		go func() {
			_ = agent.Resume(b, b, s.cache, token)
			b.Close()
		}()
		return a, nil
	}
	a, b := pipe()
	e := s.serve(b)
	near := &deaf{ReadWriteCloser: a}
	near.left.Store(600_000)
	c := s.attach(near)
	text := call(t, c, job("test.echo", strings.Repeat("x", 1_000_000)))
	if n := len(value.Str(text)); n != 1_000_000 || tries.Load() != 1 {
		t.Errorf("returned %d bytes with %d connections more", n, tries.Load())
	}
	a.Close()
	c.Close()
	<-e.done
}

// TestHalfAReturn: why a return did not come to its end is told, whatever the
// connection broke of, and a part of it is never taken for the whole.
func TestHalfAReturn(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 100, 300_000} {
		for _, gone := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d %v", size, gone), func(t *testing.T) {
				t.Parallel()
				s := newSite(t, nil)
				s.opts.Reconnect = time.Millisecond
				s.opts.Relink = func(context.Context, string) (io.ReadWriteCloser, error) {
					if gone {
						return nil, fmt.Errorf("%w: it has ended", wire.ErrUnknownChannel)
					}
					return nil, io.ErrUnexpectedEOF
				}
				a, b := pipe()
				far := make(chan *wire.Mux, 1)
				go func() {
					m, err := wire.Greet(t.Context(), b, wire.Options{
						Role: wire.Agent, Resume: true, Hello: value.MapOf("is", "brine agent"),
						Handle: func(_ context.Context, st *wire.Stream) error {
							if _, err := st.Write(make([]byte, size)); err != nil {
								return err
							}
							st.Flush(10 * time.Second)
							_, _ = b.Write([]byte{0, 0}) // of a frame
							return b.Close()
						},
					})
					if err != nil {
						t.Error(err)
					}
					far <- m
				}()
				c := s.attach(a)
				m := <-far
				defer m.Close()
				defer c.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
				defer cancel()
				ret := c.Invoke(ctx, job("test.ping"))
				if ret.Stage != fun.Lost || errors.Is(ret.Err, wire.ErrUnknownChannel) != gone || link.IsLost(ret.Err) == gone || ret.Body != nil {
					t.Errorf("%s: %v", ret.Stage, ret.Err)
				}
			})
		}
	}
}
