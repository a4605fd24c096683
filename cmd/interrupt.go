package cmd

import (
	"context"
	"sync/atomic"

	"brine/internal/core/fun"
)

// interrupt is what Ctrl-C has asked for so far.
//
// The first signal drains the run: nothing new starts, what is under way
// returns; where nothing has begun yet (SLS files are being compiled) it ends
// the run. The second cancels the context, which ends the process groups. After
// SIGTERM, which nobody may be there to repeat, that happens by itself when
// termGrace has passed.
type interrupt struct {
	drain atomic.Bool
	begun atomic.Bool // something is under way that is worth waiting for
	// idle says that nothing is: a plan is being made, and nothing changes.
	idle atomic.Bool
	// busy tells the same of what comes and goes, such as the runs of brine ui.
	busy atomic.Pointer[func() bool]
	jid  atomic.Pointer[string]
	// patient says that what is under way is not ended some time after SIGTERM, and
	// that the command succeeds when it has ended: brine worker.
	patient atomic.Bool
	// recorded says that the job can be looked up later.
	recorded atomic.Bool
	waiting  atomic.Pointer[string] // the targets that were last waited for
}

// setWaiting notes the targets that a job waits for.
func (i *interrupt) setWaiting(names string) {
	if i != nil {
		i.waiting.Store(&names)
	}
}

// draining reports whether a first signal came.
func (i *interrupt) draining() bool { return i != nil && i.drain.Load() }

// underWay reports whether something is worth waiting for.
func (i *interrupt) underWay() bool {
	if i.idle.Load() {
		return false
	}
	if i.begun.Load() {
		return true
	}
	busy := i.busy.Load()
	return busy != nil && (*busy)()
}

// gate is the fun.Jobs.OnStart of a run.
func (i *interrupt) gate(ctx context.Context, _ *fun.Chunk) bool {
	if i.drain.Load() || ctx.Err() != nil {
		return false
	}
	i.begun.Store(true)
	return true
}

// setJID notes the job whose look-up the first signal tells.
func (i *interrupt) setJID(jid string) { i.jid.Store(&jid) }
