package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"brine/cmd/app"
	"brine/cmd/runner"
	"brine/internal/core/printable"
	"brine/internal/core/schedule"
	"brine/internal/fleet/queue"
)

const (
	// onTime is how late a time of a schedule may be and is not missed: workers are
	// replaced, and databases fail over.
	onTime = 5 * time.Minute
	// minLook is the shortest time between two looks at the schedules.
	minLook = time.Second
)

// schedules is what a worker remembers of the schedules of its queue.
type schedules struct {
	wrong map[string]string // what is wrong with them, as it was last reported
}

// schedule puts what is due into the queue, once before it returns, and then until the
// worker ends, unless that is to stop when the queue is empty. stop ends that.
func (w *worker) schedule(ctx context.Context) (stop func()) {
	w.due.wrong = map[string]string{}
	w.fireDue(ctx)
	if w.o.once || w.o.drainEmpty {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			w.wait(ctx, max(minLook, app.Seconds(w.o.poll)))
			w.fireDue(ctx)
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// fireDue puts what is due now into the queue.
func (w *worker) fireDue(ctx context.Context) {
	if ctx.Err() != nil || w.app.Intr.Draining() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
	defer cancel()
	due, err := w.q.DueSchedules(ctx, w.o.queue)
	if err == nil {
		w.report(ctx, "", err)
	}
	for _, x := range due {
		w.report(ctx, x.Name, w.fire(ctx, x))
	}
	if err != nil && w.q.Ping(ctx) == nil { // else the worker says that the queue does not answer
		w.report(ctx, "", err)
	}
}

// report reports what is wrong with a schedule, or "" with all of them, unless that is known.
func (w *worker) report(ctx context.Context, name string, err error) {
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		delete(w.due.wrong, name)
		return
	}
	text := printable.Line(err.Error())
	if w.due.wrong[name] == text {
		return
	}
	w.due.wrong[name] = text
	if name == "" {
		w.s.Tell(fmt.Errorf("the schedules of the queue %s cannot be read, nothing of them runs: %s", w.o.queue, text))
		return
	}
	w.s.Tell(fmt.Errorf("the schedule %s does not run: %s", printable.Line(name), text))
}

// fire handles the times of a schedule that have come.
func (w *worker) fire(ctx context.Context, x *queue.Schedule) error {
	if x.Work == nil {
		return errors.New("what it runs is not valid; remove it, and add it again")
	}
	r, err := runner.Recurrence(w.app.Host, x)
	if err != nil {
		return err
	}
	now, err := w.q.Now(ctx)
	if err != nil {
		return err
	}
	turn := r.Turn(x.Planned, now, x.Created, x.DueAt)
	f := queue.Firing{
		Time: turn.Due, Planned: turn.Next, Due: x.DueAt(turn.Next), JID: w.s.JIDs.Next(w.app.Host.Now()),
		Missed: turn.Missed, WhyMissed: "no worker looked at the queue before the next time came", MayHaveBehind: x.Overlap == queue.OverlapQueue,
	}
	late := now.Sub(x.DueAt(turn.Due))
	if late > onTime && x.Missed != queue.MissedRun {
		f.Skip = fmt.Sprintf("it was missed: no worker looked at the queue until %s", now.Format(time.RFC3339))
	}
	fired, err := w.q.Fire(ctx, x, f)
	if err == nil && !fired.Known {
		w.fired(x, f, fired)
	}
	return err
}

// fired says what became of the times of a schedule, and wakes the worker.
func (w *worker) fired(x *queue.Schedule, f queue.Firing, fired queue.Fired) {
	at := f.Time.UTC().Format(time.RFC3339)
	if f.Missed > 0 {
		most := ""
		if f.Missed == schedule.MaxMissed {
			most = " or more"
		}
		w.s.Tell(fmt.Errorf("the schedule %s left out %d%s earlier times: %s", printable.Line(x.Name), f.Missed, most, f.WhyMissed))
	}
	if fired.Entry == nil {
		w.s.Tell(fmt.Errorf("the schedule %s left out %s: %s", printable.Line(x.Name), at, fired.Skip))
		return
	}
	w.s.Note(fmt.Sprintf("the schedule %s of %s is queued as %s", printable.Line(x.Name), at, fired.Entry.JID))
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
