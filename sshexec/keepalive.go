package sshexec

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A pulse is the connection under SSH, and records traffic: bytes in either
// direction are a sign of life, while a keepalive may be queued behind many
// others. That of a master is not at hand: there, what its sessions say is recorded.
type pulse struct {
	net.Conn
	read  atomic.Int64 // when something came last, in Unix nanoseconds
	wrote atomic.Int64 // bytes
}

// Read reads.
func (p *pulse) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if n > 0 {
		p.received()
	}
	return n, err
}

// received records that something came.
func (p *pulse) received() { p.read.Store(time.Now().UnixNano()) }

// Write writes.
func (p *pulse) Write(b []byte) (int, error) {
	n, err := p.Conn.Write(b)
	p.wrote.Add(int64(n))
	return n, err
}

// receivedSince reports whether something came since then.
func (p *pulse) receivedSince(t time.Time) bool { return p.read.Load() >= t.UnixNano() }

// lifeBytes is how much has to be taken between two looks to count as a sign of
// life: a system takes a little for a host that is gone.
const lifeBytes = 16 << 10

// A keepalive asks a silent host whether it is there, and ends the connection
// where count answers in a row are missing and nothing else passes. It sleeps in
// a timer: a goroutine for each of ten thousand connections is memory.
type keepalive struct {
	c     *Client
	every time.Duration
	count int

	mu      sync.Mutex
	timer   *time.Timer
	looked  time.Time
	wrote   int64
	waiting bool // for an answer
	missed  int
}

// keepAlive starts the keepalive of a connection; Close ends it.
func (c *Client) keepAlive(every time.Duration, count int) {
	k := &keepalive{c: c, every: every, count: count, looked: time.Now(), wrote: c.pulse.wrote.Load()}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer = time.AfterFunc(every, k.tick)
}

// alive reports whether something passed since the last look.
func (k *keepalive) alive() bool {
	wrote := k.c.pulse.wrote.Load()
	life := k.c.pulse.receivedSince(k.looked) || wrote-k.wrote >= lifeBytes
	k.looked, k.wrote = time.Now(), wrote
	return life
}

func (k *keepalive) tick() {
	select {
	case <-k.c.closed:
		return
	default:
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer.Reset(k.every)
	switch {
	case k.alive():
		k.missed = 0
	case !k.waiting:
		k.waiting = true
		go k.ask()
	default:
		k.missed++
	}
	if k.missed >= k.count {
		err := orRelay(fmt.Errorf("the host answered nothing for %s", k.every*time.Duration(k.count)), k.c.via, "may have passed nothing on")
		k.c.lost.Store(&err)
		k.timer.Stop()
		go func() { _ = k.c.Close() }() // its fault is kept in lost
	}
}

// ask waits for one answer. A connection that has ended gives none, and its
// keepalive finds it closed.
func (k *keepalive) ask() {
	err := k.c.way.probe()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.timer.Stop()
		return
	}
	k.waiting, k.missed = false, 0
}
