package app

import (
	"context"
	"sync/atomic"

	"brine/internal/core/fun"
)

// Interrupt is what Ctrl-C has asked for so far.
//
// The first signal drains the run: nothing new starts, what is still running
// returns; where nothing has begun yet (SLS files are being compiled) it ends
// the run. The second cancels the context, which ends the process groups. After
// SIGTERM, which nobody may be there to repeat, that happens by itself when
// termGrace has passed.
type Interrupt struct {
	Drain atomic.Bool
	Begun atomic.Bool // something is under way that is worth waiting for
	// Idle says that nothing is: a plan is being made, and nothing changes.
	Idle atomic.Bool
	// Busy tells the same of what comes and goes, such as the runs of brine ui.
	Busy atomic.Pointer[func() bool]
	jid  atomic.Pointer[string]
	// Patient says that what is still running is not ended some time after SIGTERM, and
	// that the command succeeds when it has ended: brine worker.
	Patient atomic.Bool
	// Recorded says that the job can be looked up later.
	Recorded atomic.Bool
	waiting  atomic.Pointer[string] // the targets that were last waited for
}

// SetWaiting notes the targets that a job waits for.
func (i *Interrupt) SetWaiting(names string) {
	if i != nil {
		i.waiting.Store(&names)
	}
}

// Draining reports whether a first signal came.
func (i *Interrupt) Draining() bool { return i != nil && i.Drain.Load() }

// underWay reports whether something is worth waiting for.
func (i *Interrupt) underWay() bool {
	if i.Idle.Load() {
		return false
	}
	if i.Begun.Load() {
		return true
	}
	busy := i.Busy.Load()
	return busy != nil && (*busy)()
}

// Gate is the fun.Jobs.OnStart of a run.
func (i *Interrupt) Gate(ctx context.Context, _ *fun.Chunk) bool {
	if i.Drain.Load() || ctx.Err() != nil {
		return false
	}
	i.Begun.Store(true)
	return true
}

// SetJID notes the job whose look-up the first signal tells.
func (i *Interrupt) SetJID(jid string) { i.jid.Store(&jid) }
