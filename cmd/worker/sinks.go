package worker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/runner"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet/queue"
	"brine/internal/fleet/sink"
	"brine/internal/py/value"
	"brine/runner/reactor"
)

const (
	// sinkLease is how long a worker alone sends what waits for a sink, after each look: longer
	// than an attempt takes.
	sinkLease = 20 * time.Second
	// sinkLook is how often a worker looks what waits, and sinkTurn how often one looks
	// whether another one has ended that sends.
	sinkLook = 500 * time.Millisecond
	sinkTurn = 2 * time.Second
	// gather is how long events are gathered that get into the spool together, and
	// gatherMost how many.
	gather     = 50 * time.Millisecond
	gatherMost = 256
	// sinkBytes bounds what is sent at once, about.
	sinkBytes = 4 << 20
	// firstPause is the pause after an attempt to send that failed, doubled after each
	// further one up to longestPause.
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	// soleSinks names who takes events that cannot be told apart.
	soleSinks = "event_sinks"
)

// A sinking takes the events that sinks ask for, keeps them in the database of the queue, and
// sends them.
type sinking struct {
	*worker
	all []*sink.Sink
	id  string

	arrivals chan event.Event
	stopping chan struct{}

	log    sinkLog // of the goroutine that reads it
	beaten beat    // of the goroutine that keeps events

	mu     sync.Mutex
	caught bool           // what the log had was brought
	heard  int            // events that sinks ask for, so far
	kept   int            // of them, those that are in the database or lost
	bytes  int            // of arrivals
	n      int            // events that cannot be told apart, so far
	missed int            // events that were lost before their tags were seen
	lost   map[string]int // events that were heard and lost, by sink
}

// newSinking reads where events are sent; nil: nowhere.
func (w *worker) newSinking() (*sinking, error) {
	opts := w.s.Cfg.Opts
	all, err := sink.Read(opts, filepath.Dir(opts.Str("conf_file")), w.app.Host.ReadFile)
	if err != nil {
		return nil, &app.StatusError{Status: app.ExitUsage, Err: err, Hint: "'brine docs events' describes the option " + sink.Option}
	}
	if len(all) == 0 {
		return nil, nil
	}
	w.s.Secrets.Add(sink.Secrets(all)...)
	return &sinking{worker: w, all: all, arrivals: make(chan event.Event, maxArrivals), stopping: make(chan struct{}), lost: map[string]int{}}, nil
}

// miss notes that events were lost before anybody saw their tags.
func (k *sinking) miss(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.missed += n
}

// ready reports whether there is room for more.
func (k *sinking) ready() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.arrivals) < maxArrivals/2 && k.bytes < maxArrivalBytes/2
}

// earlier takes an event of the stream. Sinks read on in a log where they ended, and know what
// they have.
func (k *sinking) earlier(ctx context.Context, e event.Event, _ time.Time) { k.hear(ctx, e) }

// hear takes an event if a sink asks for it.
func (k *sinking) hear(ctx context.Context, e event.Event) {
	var want []string
	for _, s := range k.all {
		if s.Wants(e) {
			want = append(want, s.Name)
		}
	}
	if len(want) == 0 || ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bytes == 0 || k.bytes+e.Cost() <= maxArrivalBytes {
		select {
		case k.arrivals <- e:
			k.bytes += e.Cost()
			k.heard++
			return
		default:
		}
	}
	for _, name := range want {
		k.lost[name]++
	}
}

// begin begins to keep and to send events.
func (k *sinking) begin(ctx context.Context, env *fun.Env) (stop func()) {
	k.id = env.ID
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var kept, sent sync.WaitGroup
	kept.Go(func() { k.keep(ctx) })
	sent.Go(func() { k.catchUp(ctx, env) })
	for _, s := range k.all {
		k.s.Note(fmt.Sprintf("events go to %s: %s %s", s.Name, s.Kind, printable.Line(s.Where())))
		sent.Go(func() { k.deliver(ctx, s) })
	}
	return func() {
		close(k.arrivals)
		ended := make(chan struct{})
		go func() {
			kept.Wait()
			k.sawAll(ctx, true)
			close(k.stopping)
			sent.Wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(drainTime):
		}
		cancel()
		<-ended
	}
}

// keep puts what was heard into the spools of the sinks, and tells from time to time what was
// lost.
func (k *sinking) keep(ctx context.Context) {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	defer func() { k.tell(context.WithoutCancel(ctx)) }()
	for {
		select {
		case e, ok := <-k.arrivals:
			if !ok {
				return
			}
			some := []event.Event{e}
			for until := time.After(gather); ok && len(some) < gatherMost; {
				select {
				case e, ok = <-k.arrivals:
					if ok {
						some = append(some, e)
					}
					continue
				case <-until:
				}
				break
			}
			k.spool(ctx, some, func(*sink.Sink, event.Event) bool { return true })
			k.mu.Lock()
			k.kept += len(some)
			for _, e := range some {
				k.bytes -= e.Cost()
			}
			k.mu.Unlock()
			if !ok {
				return
			}
		case <-tick.C:
			k.tell(ctx)
			k.sawAll(ctx, false)
		}
	}
}

// spool puts events into the spools of the sinks that ask for them, if they are due.
func (k *sinking) spool(ctx context.Context, events []event.Event, due func(*sink.Sink, event.Event) bool) {
	bySink := map[*sink.Sink][]queue.SinkEvent{}
	for _, e := range events {
		masked, _ := k.s.Mask(e.Data).(*value.Map) // a log has them so
		data := masked.Copy()
		data.Delete(event.CauseKey)
		key := queue.Key(e.Tag, reactor.Canonical(data))
		if e.Unstamped {
			mine := false
			if k.asked(ctx, func(ctx context.Context) (err error) {
				mine, err = k.q.Sole(ctx, soleSinks, k.name)
				return err
			}) != nil || !mine {
				continue
			}
			k.n++
			key = queue.Key(key, k.name, fmt.Sprint(k.n))
		}
		text, err := sink.Encode(e.Tag, masked)
		for _, s := range k.all {
			if !s.Wants(e) || !due(s, e) {
				continue
			}
			if err != nil {
				k.lose(s.Name, 1)
				continue
			}
			bySink[s] = append(bySink[s], queue.SinkEvent{ID: queue.SinkID(s.Name, key), Payload: text})
		}
	}
	for _, s := range k.all {
		some := bySink[s]
		if len(some) == 0 {
			continue
		}
		lost := 0
		err := k.asked(ctx, func(ctx context.Context) (err error) {
			lost, err = k.q.Spool(ctx, s.Name, s.Spool, some)
			return err
		})
		switch {
		case err != nil:
			k.s.Tell(fmt.Errorf("%d events for %s are lost: they do not get into the database of the queue: %w", len(some), s.Name, err))
		case lost > 0:
			k.s.Tell(fmt.Errorf("%d events for %s are lost, since %d bytes wait (spool)", lost, s.Name, s.Spool))
		}
	}
}

// lose counts events of a sink that are lost.
func (k *sinking) lose(name string, n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost[name] += n
}

// asked asks the database of the queue until it answers.
func (k *sinking) asked(ctx context.Context, ask func(context.Context) error) error {
	answers := 0
	for told, n := false, 0; ; n++ {
		try, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
		err := ask(try)
		cancel()
		if err != nil && assembly.Answers(err) && k.q.Ping(ctx) == nil { // a full disk is waited for
			answers++
		}
		if err == nil || ctx.Err() != nil || answers >= refusals { // it answers, and does not take it
			return err
		}
		if !told {
			told = true
			k.s.Tell(fmt.Errorf("events wait, since the queue does not answer: %w", err))
		}
		k.wait(ctx, min(5*time.Second, 100*time.Millisecond<<min(n, 6)))
	}
}

// tell tells which events no sink gets, and counts them.
func (k *sinking) tell(ctx context.Context) {
	k.mu.Lock()
	missed, lost := k.missed, k.lost
	k.missed, k.lost = 0, map[string]int{}
	k.mu.Unlock()
	if missed > 0 {
		k.s.Tell(fmt.Errorf("%d events came faster than they were read, and are lost: no sink gets them", missed))
	}
	for _, s := range k.all {
		n := lost[s.Name]
		if n > 0 {
			k.s.Tell(fmt.Errorf("%d events for %s came faster than they were kept, and are lost", n, s.Name))
		}
		if n += missed; n == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, drainTime)
		if err := k.q.SinkLost(ctx, s.Name, n); err != nil {
			k.s.Tell(fmt.Errorf("this could not be noted in the database of the queue: %w", err))
		}
		cancel()
	}
}

// ends reports whether the worker stops.
func (k *sinking) ends() bool {
	select {
	case <-k.stopping:
		return true
	default:
		return false
	}
}

// pause waits, but no longer than until the worker stops.
func (k *sinking) pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-k.stopping:
	case <-time.After(d):
	}
}

// deliver sends what waits for a sink until the worker stops. Of several workers one does.
func (k *sinking) deliver(ctx context.Context, s *sink.Sink) {
	d := &delivery{sinking: k, to: s}
	_ = k.asked(ctx, func(ctx context.Context) error { // it has a row from now on
		_, err := k.q.Spool(ctx, s.Name, s.Spool, nil)
		return err
	})
	for ctx.Err() == nil {
		next, err := d.once(ctx)
		if err != nil {
			next = sinkTurn // the worker says that the queue does not answer
		}
		if k.ends() && (err != nil || next > 0) {
			break
		}
		k.pause(ctx, next)
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = k.q.LeaveSink(leave, s.Name, k.name) // else it waits for the end of the lease
}

// A delivery sends what waits for a sink.
type delivery struct {
	*sinking
	to    *sink.Sink
	wrong string // with the last attempt, as it was told
}

// once sends once, if there is something to send. next is how long to wait then.
func (d *delivery) once(ctx context.Context) (next time.Duration, err error) {
	ask, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
	defer cancel()
	held, due, tries, err := d.q.HoldSink(ask, d.to.Name, d.name, sinkLease)
	switch {
	case err != nil || !held:
		return sinkTurn, err
	case due > 0:
		return min(due, sinkLease/3), nil
	}
	events, age, full, err := d.q.SinkBatch(ask, d.to.Name, d.to.Batch, sinkBytes)
	if err != nil || len(events) == 0 {
		return sinkLook, err
	}
	if early := d.to.Wait - age; !full && early > 0 && !d.ends() {
		return min(early, sinkLook), nil
	}
	return 0, d.send(ctx, events, tries)
}

// send sends events, and notes what became of them. Where one of them is not wanted, they
// are sent one by one.
func (d *delivery) send(ctx context.Context, events []queue.SinkEvent, tries int) error {
	err := d.to.Send(ctx, d.id, events, d.app.Host.Now())
	if ctx.Err() != nil && err != nil { // the worker stops: it is not the fault of the receiver
		return err
	}
	note, cancel := context.WithTimeout(context.WithoutCancel(ctx), runner.QueueTimeout)
	defer cancel()
	unfit, isUnfit := errors.AsType[*sink.UnfitError](err)
	switch {
	case err == nil:
		if d.wrong != "" {
			d.wrong = ""
			d.s.Note("events reach " + d.to.Name + " again")
		}
		return d.q.SinkSent(note, d.to.Name, events, false, "")
	case isUnfit:
		text := printable.Line(err.Error())
		d.s.Tell(fmt.Errorf("%d events for %s are lost: %s", len(unfit.Events), d.to.Name, text))
		return d.q.SinkSent(note, d.to.Name, unfit.Events, true, text)
	case sink.Divides(err) && len(events) > 1:
		for i := range events {
			if held, _, _, err := d.q.HoldSink(note, d.to.Name, d.name, sinkLease); err != nil || !held {
				return err
			}
			if err := d.send(ctx, events[i:i+1], tries); err != nil {
				return err
			}
			if d.wrong != "" { // the receiver does not answer any more
				return nil
			}
		}
		return nil
	}
	text := printable.Line(err.Error())
	if text != d.wrong {
		d.wrong = text
		d.s.Tell(fmt.Errorf("events do not reach %s, it is tried again: %s", d.to.Name, text))
	}
	return d.q.SinkFailed(note, d.to.Name, min(longestPause, firstPause<<min(tries, 16)), text)
}
