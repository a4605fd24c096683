package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"brine/internal/core/fun"
)

// When the gate of a run closes, nothing new begins: not on targets that are
// still being connected to either. Those are released at once, since a host
// that does not answer would delay the end of the steps that still run.

// errClosed is why a target is let go before it began.
var errClosed = errors.New("the run was stopped")

// gateEvery is how often the gate is looked at while targets are connected to.
const gateEvery = 100 * time.Millisecond

// An admission holds the targets of a job until they begin.
type admission struct {
	closed func() bool
	stop   chan struct{}
	over   sync.WaitGroup

	mu      sync.Mutex
	letGo   bool
	waiting map[string]waiter
}

// waiter is a target that has not begun.
type waiter struct {
	cancel context.CancelCauseFunc
	busy   bool // something is being done there already: it is let finish
}

// newAdmission begins to watch the gate; nil if there is none.
func (r *running) newAdmission(ctx context.Context) *admission {
	if r.f.Gate == nil {
		return nil
	}
	e := &admission{closed: func() bool { return !r.f.Gate(ctx, nil) }, stop: make(chan struct{}), waiting: map[string]waiter{}}
	e.over.Go(func() {
		t := time.NewTicker(gateEvery)
		defer t.Stop()
		for {
			select {
			case <-e.stop:
				return
			case <-t.C:
			}
			if e.closed() {
				e.close()
				return
			}
		}
	})
	return e
}

// end ends the watch.
func (e *admission) end() {
	if e != nil {
		close(e.stop)
		e.over.Wait()
	}
}

// close lets go of who waits, and of who comes later.
func (e *admission) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.letGo = true
	for _, w := range e.waiting {
		if !w.busy {
			w.cancel(errClosed)
		}
	}
}

// admit returns the context of a target that is about to be connected to; its
// phases are passed to tell, too. The caller calls left when the target is
// done.
func (e *admission) admit(ctx context.Context, id string, tell func(Phase)) (in context.Context, left func()) {
	if e == nil {
		return Phases(ctx, tell), func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	e.mu.Lock()
	e.waiting[id] = waiter{cancel: cancel}
	if e.letGo {
		cancel(errClosed)
	}
	e.mu.Unlock()
	return Phases(ctx, func(p Phase) {
			tell(p)
			e.at(id, p)
		}), func() {
			e.mu.Lock()
			delete(e.waiting, id)
			e.mu.Unlock()
			cancel(nil)
		}
}

func (e *admission) at(id string, p Phase) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w, ok := e.waiting[id]
	if !ok {
		return
	}
	w.busy = p == Pushing
	e.waiting[id] = w
	if p != Running {
		return
	}
	if e.letGo || e.closed() {
		w.cancel(errClosed)
	}
	delete(e.waiting, id)
}

// notBegun rewords the return of a target that was let go. One whose master has the
// job has begun all the same.
func (r *running) notBegun(ctx context.Context, ret fun.Return) fun.Return {
	if ret.Stage == fun.Returned || ret.FleetJID != "" || !errors.Is(context.Cause(ctx), errClosed) {
		return ret
	}
	return fun.Return{ID: ret.ID, JID: r.job.JID, Stage: fun.Refused, Err: r.whyStopped(ctx)}
}
