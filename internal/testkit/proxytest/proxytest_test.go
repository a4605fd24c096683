package proxytest

import (
	"bytes"
	"io"
	"net"
	"os"
	"strconv"
	"testing"
	"time"
)

// echo returns the address of a server that sends back what it is sent.
func echo(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return ln.Addr().String()
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Port())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// back sends b and returns what comes back of it.
func back(t *testing.T, c net.Conn, b []byte) []byte {
	t.Helper()
	go func() { _, _ = c.Write(b) }()
	got := make([]byte, len(b))
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRateAndDelay(t *testing.T) {
	t.Parallel()
	p := Start(t, echo(t), Options{Rate: 200 << 10, Delay: 20 * time.Millisecond})
	c := dial(t, p)
	want := bytes.Repeat([]byte("0123456789abcdef"), 4<<10) // 64 KiB
	start := time.Now()
	if got := back(t, c, want); !bytes.Equal(got, want) {
		t.Error("what comes back is not what was sent")
	}
	// Both ways overlap, but the last byte has the whole time of one and the delay
	// of both.
	if took, least := time.Since(start), 300*time.Millisecond; took < least {
		t.Errorf("64 KiB at 200 KiB/s took %s, at least %s was due", took, least)
	}
	if up, down := p.Passed(); up != int64(len(want)) || down != up {
		t.Errorf("passed %d and %d bytes, want %d", up, down, len(want))
	}
}

func TestStall(t *testing.T) {
	t.Parallel()
	p := Start(t, echo(t), Options{})
	c := dial(t, p)
	back(t, c, []byte("before"))
	p.Stall()
	if _, err := c.Write([]byte("held")); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 4)); !os.IsTimeout(err) {
		t.Errorf("Read during a stall = %d, %v; want a time-out", n, err)
	}
	_ = c.SetReadDeadline(time.Time{})
	p.Resume()
	got := make([]byte, 4)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "held" {
		t.Errorf("after the stall %q, %v", got, err)
	}
}

func TestBreaks(t *testing.T) {
	t.Parallel()
	p := Start(t, echo(t), Options{})
	a := dial(t, p)
	back(t, a, []byte("x"))
	p.Reset()
	if _, err := a.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that was reset reads")
	}
	p.Refuse(true)
	b := dial(t, p)
	if _, err := b.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that is refused reads")
	}
	p.Refuse(false)
	back(t, dial(t, p), []byte("y"))
	if _, most, begun := p.Conns(); most != 1 || begun != 2 {
		t.Errorf("%d connections at once and %d in all, want 1 and 2", most, begun)
	}
}
