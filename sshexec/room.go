package sshexec

import (
	"context"
	"sync"
	"time"
)

// Open connections.
//
// A connection is kept for the next step of an orchestration, as long as there is
// room for it: each has a descriptor, one by a ProxyCommand four and a process,
// one behind a jump host none. Where there is no room for the next one, the
// connection that was used least recently, and is not used now, is closed; it is
// made again when its machine is worked on. Where all are used, whoever wants one
// waits.

// A cost is what a connection takes of a process.
type cost struct{ files, procs int }

func (c cost) plus(o cost) cost  { return cost{c.files + o.files, c.procs + o.procs} }
func (c cost) minus(o cost) cost { return cost{c.files - o.files, c.procs - o.procs} }
func (c cost) within(o cost) bool {
	return c.files <= o.files && c.procs <= o.procs
}

// The costs of connections. What a connection will take is known when it is
// there; until then it counts as one by a command.
var (
	directCost  = cost{files: 1}
	commandCost = cost{files: 4, procs: 1}
)

// reservedFiles are the descriptors that a run needs beside connections: its own
// files, those of the tree, of events and of returns.
const reservedFiles = 64

// limitOf returns what all connections may use of a process that may have files
// descriptors, and run procs commands at the same time. 0 means no limit.
func limitOf(files, procs int) cost {
	const none = 1 << 30
	c := cost{files: none, procs: none}
	if files > 0 {
		// A small limit leaves half of it to connections.
		c.files = max(files-reservedFiles, files/2, commandCost.files)
	}
	if procs > 0 {
		c.procs = procs
	}
	return c
}

// A room is what the connections of all machines take together.
type room struct {
	mu     sync.Mutex
	limit  cost
	used   cost
	most   cost // of used, at any time
	idle   map[*machine]time.Time
	change chan struct{} // closed when something was given back; nil: nobody waits
}

// take takes what is needed, and waits for it; machines that are not used give
// theirs.
func (r *room) take(ctx context.Context, c cost) error {
	for {
		r.mu.Lock()
		if r.used.plus(c).within(r.limit) {
			r.used = r.used.plus(c)
			r.most = cost{max(r.most.files, r.used.files), max(r.most.procs, r.used.procs)}
			r.mu.Unlock()
			return nil
		}
		victim := r.oldest()
		if victim != nil {
			delete(r.idle, victim)
		}
		if r.change == nil {
			r.change = make(chan struct{})
		}
		change := r.change
		r.mu.Unlock()
		if victim != nil {
			victim.closeIdle()
			continue
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// oldest returns the idle machine that was used least recently. mu is held.
func (r *room) oldest() *machine {
	var at time.Time
	var m *machine
	for x, used := range r.idle {
		if m == nil || used.Before(at) {
			m, at = x, used
		}
	}
	return m
}

// give gives back.
func (r *room) give(c cost) {
	if c == (cost{}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = r.used.minus(c)
	r.wake()
}

// add accounts for an existing connection, without waiting.
func (r *room) add(c cost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = r.used.plus(c)
}

// wake wakes who waits. mu is held.
func (r *room) wake() {
	if r.change != nil {
		close(r.change)
		r.change = nil
	}
}

// enter notes that a machine is used until leave is called. Of a run whose
// machines are worked on once, done says that this was it.
func (m *machine) enter() (leave func(done bool)) {
	r := &m.p.room
	r.mu.Lock()
	defer r.mu.Unlock()
	m.users++
	delete(r.idle, m)
	return func(done bool) {
		r.mu.Lock()
		m.users--
		idle := m.users == 0
		if idle && !done {
			r.idle[m] = time.Now()
			r.wake()
		}
		r.mu.Unlock()
		if idle && done {
			m.closeIdle()
		}
	}
}

// closeIdle closes the connection of a machine that is not used.
func (m *machine) closeIdle() {
	m.dialing.Lock()
	defer m.dialing.Unlock()
	r := &m.p.room
	r.mu.Lock()
	used := m.users > 0
	r.mu.Unlock()
	if !used {
		m.closeHeld()
	}
}

// release gives back what the machine's connection took. dialing is held.
func (m *machine) release() {
	m.p.room.give(m.cost)
	m.cost = cost{}
}
