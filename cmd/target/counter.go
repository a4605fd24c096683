package target

import (
	"sync/atomic"

	"brine/internal/core/fun"
	"brine/internal/fleet"
)

// A counter is a fleet.Watcher that counts the targets of the jobs that it
// sees, and passes every event on.
type counter struct {
	fleet.Watcher // nil: nobody else watches
	Targets       atomic.Int64
}

func (c *counter) Begin(job fun.Job, targets []string) {
	c.Targets.Add(int64(len(targets)))
	if c.Watcher != nil {
		c.Watcher.Begin(job, targets)
	}
}

func (c *counter) Wave(jid string, number, of, targets int) {
	if c.Watcher != nil {
		c.Watcher.Wave(jid, number, of, targets)
	}
}

func (c *counter) At(jid, id string, p fleet.Phase) {
	if c.Watcher != nil {
		c.Watcher.At(jid, id, p)
	}
}

func (c *counter) Sent(jid, id string, done, total int64) {
	if c.Watcher != nil {
		c.Watcher.Sent(jid, id, done, total)
	}
}

func (c *counter) Done(ret fun.Return) {
	if c.Watcher != nil {
		c.Watcher.Done(ret)
	}
}

func (c *counter) End(jid string) {
	if c.Watcher != nil {
		c.Watcher.End(jid)
	}
}
