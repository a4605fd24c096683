// Package proxytest gives tests a network that is slow, stalls and breaks: a TCP
// proxy on loopback.
//
// Start at [Start].
package proxytest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Options are what a network is like.
type Options struct {
	// Rate is how many bytes pass in a second in each direction, all connections
	// together; 0: no limit.
	Rate int
	// Delay is how long each byte is under way.
	Delay time.Duration
}

// A Proxy carries connections to another address.
type Proxy struct {
	to string
	ln net.Listener

	up, down meter
	delay    time.Duration

	mu      sync.Mutex
	conns   map[net.Conn]net.Conn // from who dialled to the target
	stalled chan struct{}         // closed when it goes on; nil: it does not stall
	refuse  bool
	most    int // connections at once
	begun   int
	refused int

	work sync.WaitGroup
}

// Start starts a proxy to an address, which ends with the test.
func Start(t testing.TB, to string, o Options) *Proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := New(ln, to, o)
	t.Cleanup(p.Close)
	return p
}

// New is Start for those who are no test: it serves ln until Close.
func New(ln net.Listener, to string, o Options) *Proxy {
	p := &Proxy{to: to, ln: ln, delay: o.Delay, conns: map[net.Conn]net.Conn{}}
	p.up.rate, p.down.rate = o.Rate, o.Rate
	p.work.Go(p.accept)
	return p
}

// Port is where the proxy listens, on 127.0.0.1.
func (p *Proxy) Port() int { return p.ln.Addr().(*net.TCPAddr).Port }

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	_ = p.ln.Close()
	p.Resume()
	p.each(func(a, b net.Conn) { _, _ = a.Close(), b.Close() })
	p.work.Wait()
}

// Stall lets no byte pass from now on: connections stand, and new ones are taken
// and hear nothing.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// Resume ends a stall. What waited passes.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}

// Refuse has new connections closed at once, or ends that.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = on
}

// Reset ends all connections with a reset, for both ends.
func (p *Proxy) Reset() {
	p.each(func(a, b net.Conn) {
		for _, c := range []net.Conn{a, b} {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = c.Close()
		}
	})
}

// Passed returns how many bytes passed to the target and from it.
func (p *Proxy) Passed() (up, down int64) { return p.up.sum.Load(), p.down.sum.Load() }

// Conns returns how many connections there are, how many there were at once at
// most, and how many have begun.
func (p *Proxy) Conns() (now, most, begun int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns), p.most, p.begun
}

// Refused returns how many connections were refused.
func (p *Proxy) Refused() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

func (p *Proxy) each(f func(a, b net.Conn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for a, b := range p.conns {
		f(a, b)
	}
}

func (p *Proxy) accept() {
	for {
		a, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refuse := p.refuse
		if refuse {
			p.refused++
		}
		p.mu.Unlock()
		if refuse {
			_ = a.Close()
			continue
		}
		p.work.Go(func() { p.carry(a) })
	}
}

// carry carries one connection to its end.
func (p *Proxy) carry(a net.Conn) {
	defer a.Close()
	b, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer b.Close()
	p.mu.Lock()
	p.conns[a] = b
	p.begun++
	p.most = max(p.most, len(p.conns))
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, a)
	}()
	var wg sync.WaitGroup
	wg.Go(func() { p.copy(b, a, &p.up) })
	wg.Go(func() { p.copy(a, b, &p.down) })
	wg.Wait()
}

// A part is what was read at once.
type part struct {
	data []byte
	due  time.Time
}

// inFlight is how many parts are under way at once, which bounds what a slow
// network holds.
const inFlight = 64

// copy carries one direction until it ends, and tells the other side of the end.
func (p *Proxy) copy(dst, src net.Conn, m *meter) {
	parts := make(chan part, inFlight)
	go func() {
		defer close(parts)
		for {
			buf := make([]byte, 4<<10)
			n, err := src.Read(buf)
			if n > 0 {
				m.wait(n)
				parts <- part{buf[:n], time.Now().Add(p.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for x := range parts {
		time.Sleep(time.Until(x.due))
		p.hold()
		m.sum.Add(int64(len(x.data)))
		if _, err := dst.Write(x.data); err != nil {
			_ = src.Close()
			for range parts { // of a connection that is gone
			}
			return
		}
	}
	p.hold()
	if tcp, ok := dst.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

// hold waits while nothing passes.
func (p *Proxy) hold() {
	for {
		p.mu.Lock()
		stalled := p.stalled
		p.mu.Unlock()
		if stalled == nil {
			return
		}
		<-stalled
	}
}

// A meter lets bytes pass at a rate.
type meter struct {
	rate int // bytes in a second; 0: no limit
	sum  atomic.Int64

	mu   sync.Mutex
	next time.Time // when the next byte may pass
}

// wait waits until n bytes may pass.
func (m *meter) wait(n int) {
	if m.rate <= 0 {
		return
	}
	m.mu.Lock()
	now := time.Now()
	if m.next.Before(now) {
		m.next = now
	}
	m.next = m.next.Add(time.Duration(n) * time.Second / time.Duration(m.rate))
	until := m.next
	m.mu.Unlock()
	time.Sleep(time.Until(until))
}
