package sshexec

import (
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/link"
)

// pausePoll is how often pauseFeed checks whether states are to wait or end.
const pausePoll = 200 * time.Millisecond

// A pauseFeed sends agents the requests of state.pause and state.soft_kill on this
// machine for the states that they run. One goroutine polls for all calls of a job.
type pauseFeed struct {
	look func(jid string) *value.Map // nil: there are none

	mu   sync.Mutex
	jobs map[string]map[*link.Conn]string // what was sent to each agent, by jid
}

// during has an agent told while it runs a job; the func that it returns ends
// that.
func (w *pauseFeed) during(job fun.Job, conn *link.Conn) (done func()) {
	if w.look == nil || !job.OfState() {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.jobs == nil {
		w.jobs = map[string]map[*link.Conn]string{}
	}
	if w.jobs[job.JID] == nil {
		w.jobs[job.JID] = map[*link.Conn]string{}
		go w.poll(job.JID)
	}
	w.jobs[job.JID][conn] = ""
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.jobs[job.JID], conn)
	}
}

// poll looks for pauses and kills until nobody works on the job.
func (w *pauseFeed) poll(jid string) {
	t := time.NewTicker(pausePoll)
	defer t.Stop()
	for range t.C {
		m := w.look(jid)
		text := ""
		if m.Len() > 0 {
			text = string(value.EncodeJSON(m))
		}
		w.mu.Lock()
		conns := w.jobs[jid]
		if len(conns) == 0 {
			delete(w.jobs, jid)
			w.mu.Unlock()
			return
		}
		for conn, told := range conns {
			if told != text {
				conns[conn] = text
				go func() { _ = conn.SendPauses(jid, m) }() // ends with the connection at the latest
			}
		}
		w.mu.Unlock()
	}
}
