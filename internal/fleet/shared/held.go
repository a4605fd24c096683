package shared

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Held is a lock of this process.
type Held struct {
	Lock
	c *Controller

	keeping sync.Mutex // held while the store is asked
	mu      sync.Mutex
	at      time.Time // before the last heartbeat that the store took
	lost    string
	dropped bool
}

// Take takes a lock, whose Name, JID and Targets are set; see [Store.Take]. A store
// that cannot be asked is an error.
func (c *Controller) Take(ctx context.Context, l Lock, own []string) (*Held, error) {
	l.Owner, l.PID, l.Controller, l.Lease = c.Owner, c.Self.PID, c.Self.Controller, c.Self.Lease
	h := &Held{Lock: l, c: c, at: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, 2*queryTimeout)
	defer cancel()
	s, err := c.opened(ctx)
	if err == nil {
		err = s.Take(ctx, l, own)
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.held = append(c.held, h)
	c.mu.Unlock()
	c.start()
	return h, nil
}

// Drop gives the lock back.
func (h *Held) Drop() {
	h.mu.Lock()
	was, lost := h.dropped, h.lost
	h.dropped = true
	h.mu.Unlock()
	if was {
		return
	}
	c := h.c
	c.mu.Lock()
	c.held = slices.DeleteFunc(c.held, func(x *Held) bool { return x == h })
	c.mu.Unlock()
	if err := c.ask(func(ctx context.Context, s *Store) error { return s.Drop(ctx, h.Name, h.JID) }); err != nil && lost == "" {
		c.Warn(fmt.Sprintf("the lock %s cannot be given back: it lapses %s after its last heartbeat: %v", h.Name, h.Lease, err))
	}
}

// since is how long ago a heartbeat was, by the clock that goes on while the machine
// sleeps as well as by the one that nobody sets.
func since(t time.Time) time.Duration {
	return max(time.Since(t), time.Now().Round(0).Sub(t.Round(0)))
}

// safe is how old a heartbeat may become before the lock may be another's.
func (h *Held) safe() time.Duration { return h.Lease - h.c.beat() }

// keep sends a heartbeat.
func (h *Held) keep() {
	h.keeping.Lock()
	defer h.keeping.Unlock()
	h.mu.Lock()
	ended := h.lost != "" || h.dropped
	h.mu.Unlock()
	if ended {
		return
	}
	began := time.Now()
	var mine bool
	err := h.c.ask(func(ctx context.Context, s *Store) (err error) {
		mine, err = s.Beat(ctx, h.Name, h.JID)
		return err
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.dropped:
	case err == nil && mine:
		h.at = began
	case err == nil:
		h.lose("lock.break broke it, or another run took it after the lease")
	case since(h.at) > h.safe():
		h.lose(fmt.Sprintf("its database has not answered for %s: %v", round(since(h.at)), err))
	}
}

// lose notes that the lock is another's, or may be; h.mu is held.
func (h *Held) lose(why string) {
	h.lost = why
	h.c.Warn(fmt.Sprintf("THE LOCK %s OF JOB %s IS LOST: %s. No new step begins", h.Name, h.JID, why))
}

// Lost says why the lock is not this run's any more; "" is that it is. One whose last
// heartbeat is old is looked at now.
func (h *Held) Lost() string {
	h.mu.Lock()
	old := h.lost == "" && !h.dropped && since(h.at) > h.safe()
	h.mu.Unlock()
	if old {
		h.keep()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}
