package output

import (
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet"
)

// hostTimes notes how long each host takes in each job, for the reports of the run.
type hostTimes struct {
	fleet.Watcher // what else watches; nil: nothing does
	now           func() time.Time

	mu    sync.Mutex
	began map[hostOfJob]time.Time
	took  map[hostOfJob]time.Duration
}

type hostOfJob struct{ jid, host string }

func newHostTimes(inner fleet.Watcher, now func() time.Time) *hostTimes {
	if inner == nil {
		inner = nobody{}
	}
	return &hostTimes{Watcher: inner, now: now, began: map[hostOfJob]time.Time{}, took: map[hostOfJob]time.Duration{}}
}

// At notes when work on a host begins.
func (h *hostTimes) At(jid, id string, p fleet.Phase) {
	h.mu.Lock()
	k := hostOfJob{jid, id}
	if _, known := h.began[k]; !known && p > fleet.Waiting {
		h.began[k] = h.now()
	}
	h.mu.Unlock()
	h.Watcher.At(jid, id, p)
}

// Done notes how long it took.
func (h *hostTimes) Done(ret fun.Return) {
	h.mu.Lock()
	k := hostOfJob{ret.JID, ret.ID}
	if began, known := h.began[k]; known {
		h.took[k] = h.now().Sub(began)
	}
	h.mu.Unlock()
	h.Watcher.Done(ret)
}

// of returns how long a host took in a job; false where that is not known.
func (h *hostTimes) of(jid, host string) (time.Duration, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d, ok := h.took[hostOfJob{jid, host}]
	return d, ok
}

// nobody watches nothing.
type nobody struct{}

func (nobody) Begin(fun.Job, []string)           {}
func (nobody) Wave(string, int, int, int)        {}
func (nobody) At(string, string, fleet.Phase)    {}
func (nobody) Sent(string, string, int64, int64) {}
func (nobody) Done(fun.Return)                   {}
func (nobody) End(string)                        {}
