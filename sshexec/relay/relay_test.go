package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// pair returns a connection to a relay that ends with the test, and the end of the
// channel there.
func pair(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	return pairOf(t, &store{})
}

// pairOf is pair of a relay with a store.
func pairOf(t *testing.T, st *store) (*Conn, net.Conn) {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- (&server{st}).serve(context.Background(), there) }()
	c, err := Connect(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = there.Close()
		<-served
	})
	return c, there
}

// listen returns the address of a server that hands its connections to serve.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return ln.Addr().String()
}

func echo(c net.Conn) {
	_, _ = io.Copy(c, c)
	_ = c.Close()
}

// TestDial: bytes go both ways, each connection on its own, and the end of one is
// none of the others.
func TestDial(t *testing.T) {
	t.Parallel()
	c, _ := pair(t)
	addr := listen(t, echo)
	// One that nobody reads holds up no other.
	full, err := c.Dial(t.Context(), "tcp", listen(t, func(c net.Conn) {
		for {
			if _, err := c.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for range 3 {
		way, err := c.Dial(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		sent := bytes.Repeat([]byte("salt"), 1<<17)
		go func() { _, _ = way.Write(sent) }()
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(way, got); err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("what came back is not what was sent: %v", err)
		}
		if err := way.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := way.Read(got); !errors.Is(err, ErrBroken) {
			t.Errorf("a read after Close = %v", err)
		}
	}
	if way, err := c.Dial(t.Context(), "tcp", listen(t, func(c net.Conn) { _ = c.Close() })); err == nil {
		if n, err := way.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("of a target that closes came %d bytes, %v", n, err)
		}
	}
}

func TestDialFails(t *testing.T) {
	t.Parallel()
	c, _ := pair(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	for _, tt := range []struct{ network, addr, want string }{
		{"tcp", ln.Addr().String(), "connection refused"},
		{"tcp", "127.0.0.1:no", "lookup"},
		{"unix", "/run/x", `"unix" is not a network`},
		{"", "", "is not a network"},
	} {
		if _, err := c.Dial(t.Context(), tt.network, tt.addr); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Dial(%q, %q) = %v", tt.network, tt.addr, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Dial(ctx, "tcp", listen(t, echo)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	if way, err := c.Dial(t.Context(), "tcp", listen(t, echo)); err != nil {
		t.Errorf("after all that: %v", err)
	} else {
		_ = way.Close()
	}
}

// TestLost: the end of the channel ends what it carries, with a reason.
func TestLost(t *testing.T) {
	t.Parallel()
	c, there := pair(t)
	way, err := c.Dial(t.Context(), "tcp", listen(t, echo))
	if err != nil {
		t.Fatal(err)
	}
	_ = there.Close()
	if _, err := way.Read(make([]byte, 1)); !errors.Is(err, ErrBroken) {
		t.Errorf("a read through a lost relay = %v", err)
	}
	<-c.Done()
	if _, err := c.Dial(t.Context(), "tcp", "127.0.0.1:1"); err == nil || c.Err() == nil {
		t.Errorf("a dial through a lost relay = %v, and the channel %v", err, c.Err())
	}
}

// TestHostileRelay: whatever a relay does, it ends what it carries and no more.
func TestHostileRelay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		is    string
		serve func(ctx context.Context, s *wire.Stream) error
		raw   string // is sent in the midst
		want  string
	}{
		{name: "another program", is: "brine agent", want: "is not a relay"},
		{name: "drops what it is asked for", serve: func(context.Context, *wire.Stream) error { return nil }, want: "the connection through the relay ended"},
		{name: "says nothing", serve: func(ctx context.Context, _ *wire.Stream) error { <-ctx.Done(); return nil }, want: "deadline exceeded"},
		{name: "refuses", serve: func(context.Context, *wire.Stream) error { return errors.New("no") }, want: "no"},
		{name: "a frame without end", raw: "\xff\xff\xff\xff\x03\x00\x00\x00\x01", want: "protocol"},
		{name: "bytes for streams of others", raw: "\x00\x00\x00\x01\x03\x00\x00\x00\x09x", want: "protocol"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			here, there := net.Pipe()
			is := tt.is
			if is == "" {
				is = hello
			}
			asked := make(chan struct{}, 1)
			go func() {
				m, err := wire.Greet(context.Background(), there, wire.Options{
					Role: wire.Agent, Hello: value.MapOf("is", is), Handle: func(ctx context.Context, s *wire.Stream) error {
						if tt.serve != nil {
							return tt.serve(ctx, s)
						}
						asked <- struct{}{}
						<-ctx.Done()
						return nil
					},
				})
				if err != nil {
					return
				}
				<-m.Done()
			}()
			c, err := Connect(t.Context(), here)
			if err == nil {
				defer c.Close()
				if tt.raw != "" {
					go func() {
						<-asked
						_, _ = there.Write([]byte(tt.raw))
					}()
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if tt.name == "says nothing" {
					cancel()
					ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
				}
				defer cancel()
				_, err = c.Dial(ctx, "tcp", "192.0.2.1:22")
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			_ = there.Close()
		})
	}
}
