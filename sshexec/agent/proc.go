package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// noteAfter is how long a call works before it is noted among those of the
// machine: what is quicker is worth no file.
const noteAfter = 50 * time.Millisecond

// procData is what other processes of the machine see of a call.
// Salt: salt/minion.py _thread_return.
func procData(env *fun.Env, job fun.Job, pid int) *value.Map {
	typ := job.TgtType
	if typ == "" {
		typ = "glob"
	}
	return value.MapOf(
		"jid", job.JID, "fun", jobs.FunOf(job.Fun), "arg", jobs.ArgsOf(env.Table, job), "tgt", job.Tgt, "tgt_type", typ,
		"ret", job.Returner, "user", job.User, "pid", int64(pid),
	)
}

// noted notes a call where other processes see it, if it takes a while; the
// func that it returns forgets it.
func (s *server) noted(c *call, env *fun.Env) (done func()) {
	var (
		mu   sync.Mutex
		over bool
		end  = func() {}
	)
	// The call makes env its own meanwhile.
	proc, data := jobs.ProcOf(env), procData(env, c.job, env.Host.Getpid())
	s.mu.Lock()
	c.note = func() error {
		_, err := proc.BeginAgent(data, true)
		return err
	}
	s.mu.Unlock()
	t := time.AfterFunc(noteAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			// A machine that cannot keep a note shows the call to nobody else.
			end, _ = proc.BeginAgent(data, false)
		}
	})
	return func() {
		t.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		end()
	}
}

// ends reports whether a signal ends a call: SIGHUP, SIGINT, SIGQUIT, SIGKILL,
// SIGTERM.
func ends(sig int) bool {
	switch sig {
	case 1, 2, 3, 9, 15:
		return true
	}
	return false
}

// watchProcs takes what other processes of the machine want of the calls under way,
// until done is closed.
func (s *server) watchProcs(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-s.o.Wake:
		}
		s.mu.Lock()
		id := s.session.Str("id")
		s.mu.Unlock()
		jobs.ProcAt(s.o.Host, s.o.CacheDir, id).ApplySignals(s.o.Host.Getpid(), s.signalJob)
	}
}

// signalJob sends a signal to the programs of a job's calls, and ends the calls
// where the signal means that. It reports whether there is such a job.
func (s *server) signalJob(jid string, sig int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for c := range s.calls {
		if c.job.JID == jid {
			found = true
			c.signal(sig)
		}
	}
	return found
}

// signal sends a signal to the programs of a call, and ends the call where the
// signal means that.
func (c *call) signal(sig int) {
	if c.group != nil {
		c.group(sig)
	}
	if ends(sig) {
		c.cancel(fmt.Errorf("%w %d", errSignal, sig))
	}
}

// equip gives the Env of a call what is the call's own: the programs that it
// runs, and the gate of its states.
func (s *server) equip(e *fun.Env, c *call) {
	if s.o.Fork != nil {
		var h host.Host
		h, c.group = s.o.Fork()
		e.Host = h
	}
	e.ProcDir = s.o.CacheDir
	pauses := jobs.NewPauses(e.CacheDir)
	pauses.More = func(jid string) *value.Map {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.pauses[jid]
	}
	e.OnStart = gate(pauses, e, c)
	e.OnStopped = func(_ string, chunk *fun.Chunk) string { return pauses.Why(c.job.JID, chunk.ID, e.Host.Now) }
}

// gate is the fun.Jobs.OnStart of a call: it applies state.pause and
// state.soft_kill, called on this machine or sent by the controller.
func gate(pauses *jobs.Pauses, e *fun.Env, c *call) func(context.Context, *fun.Chunk) bool {
	now := e.Host.Now
	return func(ctx context.Context, chunk *fun.Chunk) bool {
		if chunk == nil {
			return ctx.Err() == nil
		}
		return pauses.Wait(ctx, c.job.JID, chunk.ID, now, func() bool { return ctx.Err() == nil })
	}
}

// takePauses takes the controller's requests to pause or kill states of a job.
func (s *server) takePauses(m *value.Map) {
	jid, w := m.Str("jid"), m.Map("wishes")
	if !jobs.IsJID(jid) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.Len() == 0 {
		delete(s.pauses, jid)
		return
	}
	if s.pauses == nil || len(s.pauses) > maxCalls {
		s.pauses = map[string]*value.Map{}
	}
	s.pauses[jid] = w
}
