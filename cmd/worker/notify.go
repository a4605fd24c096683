package worker

import (
	"context"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet/history"
	"brine/internal/fleet/notify"
	"brine/internal/fleet/queue"
)

// notifyEvery is how often a worker looks for notifications that are to be sent again.
const notifyEvery = 15 * time.Second

// notifies sends the notifications that are due until stop is called.
func (w *worker) notifies(ctx context.Context, env *fun.Env) (stop func()) {
	w.env = env
	if env.Opts.At(notify.Option) == nil || w.o.once || w.o.drainEmpty {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for last := ""; ctx.Err() == nil; w.wait(ctx, notifyEvery) {
			text := ""
			if err := w.s.DeliverNotices(ctx, env); err != nil && ctx.Err() == nil {
				text = err.Error()
				if text != last {
					w.s.Tell(err)
				}
			}
			last = text
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// notifyFailure tells that a run failed for good whose own process could not tell: it was
// killed, or ended before it began.
func (r *entryRun) notifyFailure(ctx context.Context, o queue.Outcome) {
	if r.env.Opts.At(notify.Option) == nil || r.e.Work.Event != nil || o.State != queue.Failed && o.State != queue.Poisoned {
		return
	}
	m := notify.Message{
		Event: notify.Failed, Kind: history.Orchestration, Name: printable.Line(r.s.Secrets.AnyText(r.e.Work.Names())), JID: r.jid, User: printable.Line(r.e.User),
		Controller: r.env.ID, Status: o.State, Cause: o.Error, Ended: r.app.Host.Now().UTC(),
	}
	if r.e.Work.Chain != "" {
		m.Kind = history.Chain
	} else if r.e.Work.Template != "" {
		m.Kind = history.Template
		m.Name, _ = queue.CutTemplate(m.Name)
	}
	if err := r.s.NotifyOnce(context.WithoutCancel(ctx), r.env, m); err != nil {
		r.s.Tell(err)
	}
}
