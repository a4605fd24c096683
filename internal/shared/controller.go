package shared

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/internal/jobs"
	"brine/internal/value"
)

// A Controller is this process among those that share a store: it says what it
// works on and that it is alive, and holds the locks of its runs. The store is opened
// when there is something to say. Only locks can fail a run; whatever else the store
// does not take waits, and is told of once. It is safe for concurrent use.
type Controller struct {
	Open func(ctx context.Context) (*Store, error)
	// Records says that jobs are noted in the store, too.
	Records bool
	// Who has the Controller, Host, Cache, PID and Lease of this process; Owner is
	// USER@HOST.
	Who   Run
	Owner string
	// Warn is told what is wrong, and what becomes of it.
	Warn func(text string)

	opening sync.Mutex
	store   *Store

	mu    sync.Mutex
	runs  map[string]*record // under way
	noted map[string]bool    // jobs among them that the store knows
	queue []op
	held  []*Held
	turns []Turn
	down  error // of the last try; nil: the store took all
	told  bool

	flushing sync.Mutex
	once     sync.Once
	wake     chan struct{}
	stop     chan struct{}
	done     chan struct{}
}

// An op is something that the store is to be told.
type op struct {
	jid string
	do  func(ctx context.Context, s *Store) error
	try int
}

// patience bounds a question to the store.
const patience = 5 * time.Second

// early is how long a job that is no orchestration may run before it is noted: most
// end sooner.
const early = 500 * time.Millisecond

// beat is the time between heartbeats.
func (c *Controller) beat() time.Duration { return min(c.Who.Lease/6, patience) }

// opened returns the store.
func (c *Controller) opened(ctx context.Context) (*Store, error) {
	c.opening.Lock()
	defer c.opening.Unlock()
	if c.store != nil {
		return c.store, nil
	}
	s, err := c.Open(ctx)
	if err == nil {
		c.store = s
	}
	return s, err
}

// start starts the heartbeats.
func (c *Controller) start() {
	c.once.Do(func() {
		c.wake, c.stop, c.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		go c.work()
	})
}

// work is the goroutine of the heartbeats.
func (c *Controller) work() {
	defer close(c.done)
	next := time.NewTimer(early)
	defer next.Stop()
	due := time.Now().Add(early)
	wait := func(d time.Duration) { due = time.Now().Add(d); next.Reset(d) }
	for {
		select {
		case <-c.stop:
			return
		case <-c.wake: // a job began
			if time.Until(due) > early {
				wait(early)
			}
		case <-next.C:
			c.alive()
			c.register()
			c.flush()
			wait(c.beat())
		}
	}
}

// register has the store told of jobs that it does not know.
func (c *Controller) register() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for jid, r := range c.runs {
		if !c.noted[jid] {
			c.noted[jid] = true
			c.queue = append(c.queue, op{jid: jid, do: func(ctx context.Context, s *Store) error { return s.Begin(ctx, r.run()) }})
		}
	}
}

// flush tells the store what waits, in order, up to the first that it does not take.
func (c *Controller) flush() {
	c.flushing.Lock()
	defer c.flushing.Unlock()
	for {
		c.mu.Lock()
		if len(c.queue) == 0 {
			c.down = nil
			c.mu.Unlock()
			return
		}
		o := c.queue[0]
		c.mu.Unlock()
		err := c.ask(o.do)
		c.mu.Lock()
		switch {
		case err == nil:
			c.queue = c.queue[1:]
		case o.try < 3:
			// It counts where the store can be reached: then it is this that is not taken.
			if c.reachable() {
				c.queue[0].try++
			}
			c.failed(o.jid, err)
			c.mu.Unlock()
			return
		default:
			c.queue = c.queue[1:]
			c.Warn(fmt.Sprintf("the database that controllers share did not take a part of job %s, which another controller cannot resume now: %v", o.jid, err))
		}
		c.mu.Unlock()
	}
}

// failed notes that the store is down; c.mu is held.
func (c *Controller) failed(jid string, err error) {
	c.down = err
	if c.told {
		return
	}
	c.told = true
	c.Warn(fmt.Sprintf("the database that controllers share cannot be reached, so that they do not see how far job %s is, and cannot resume it; it is tried again: %v", jid, err))
}

// reachable reports whether the store answers; it is asked without c.mu.
func (c *Controller) reachable() bool {
	c.mu.Unlock()
	defer c.mu.Lock()
	return c.ask(func(ctx context.Context, s *Store) error { return s.db.PingContext(ctx) }) == nil
}

// ask does something with the store, for some time at most.
func (c *Controller) ask(do func(ctx context.Context, s *Store) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := c.opened(ctx)
	if err != nil {
		return err
	}
	return do(ctx, s)
}

// tell has the store told something now, after what waits. Where the store is down
// it waits for the next heartbeat.
func (c *Controller) tell(jid string, do func(ctx context.Context, s *Store) error) {
	c.mu.Lock()
	c.queue = append(c.queue, op{jid: jid, do: do})
	down := c.down != nil
	c.mu.Unlock()
	if !down {
		c.flush()
	}
}

// alive sends the heartbeats.
func (c *Controller) alive() {
	c.mu.Lock()
	var jids []string
	for jid := range c.noted {
		jids = append(jids, jid)
	}
	held := append([]*Held(nil), c.held...)
	c.mu.Unlock()
	for _, h := range held {
		h.keep()
	}
	c.keepTurns()
	if len(jids) == 0 {
		return
	}
	if err := c.ask(func(ctx context.Context, s *Store) error { return s.Alive(ctx, jids) }); err != nil {
		c.mu.Lock()
		c.failed(jids[0], err)
		c.mu.Unlock()
	}
}

// Close tells the store what waits, gives the locks back and ends the heartbeats.
func (c *Controller) Close() {
	if c == nil {
		return
	}
	started := true
	c.once.Do(func() { started = false })
	if started {
		close(c.stop)
		<-c.done
	}
	c.mu.Lock()
	held, waits, down := append([]*Held(nil), c.held...), len(c.queue) > 0, c.down
	c.mu.Unlock()
	for _, h := range held {
		h.Drop()
	}
	c.endTurns()
	if waits && down == nil || waits && c.ask(func(ctx context.Context, s *Store) error { return s.db.PingContext(ctx) }) == nil {
		for range 4 { // one that is not taken is tried so often
			c.flush()
		}
	}
	c.mu.Lock()
	var jid string
	if len(c.queue) > 0 {
		jid = c.queue[0].jid
	}
	c.mu.Unlock()
	if jid != "" {
		c.Warn(fmt.Sprintf("the database that controllers share has not all of the record of job %s: resume it on this machine, since another one would run steps again", jid))
	}
	if c.store != nil {
		_ = c.store.Close()
	}
}

// Record returns a record that the store is told of, too: that this controller works
// on the job, and the history of an orchestration.
func (c *Controller) Record(l jobs.Load, rec jobs.Record) jobs.Record {
	if c == nil || !c.Records || rec == nil || l.Continued || l.Detached {
		return rec
	}
	r := &record{Record: rec, c: c, load: l.Map(), jid: l.JID}
	c.mu.Lock()
	if c.runs == nil {
		c.runs, c.noted = map[string]*record{}, map[string]bool{}
	}
	c.runs[l.JID] = r
	c.mu.Unlock()
	c.start()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return r
}

// A record is a job under way.
type record struct {
	jobs.Record
	c    *Controller
	jid  string
	load *value.Map

	mu      sync.Mutex
	next    int // number of the next note
	history bool
}

// Unwrap returns the record itself.
func (r *record) Unwrap() jobs.Record { return r.Record }

// run is what the store is told of the job.
func (r *record) run() Run {
	run := r.c.Who
	run.JID, run.Load = r.jid, r.load
	return run
}

// Note records a part of the history. It is in the store when Note is back, unless the
// store is down: another controller does not run again what it has there.
func (r *record) Note(kind string, data *value.Map) error {
	err := r.Record.Note(kind, data)
	if !slices.Contains(jobs.HistoryNotes(), kind) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = true
	n := r.next
	r.next++
	c := r.c
	c.mu.Lock()
	first := !c.noted[r.jid]
	c.noted[r.jid] = true
	c.mu.Unlock()
	kept, _ := value.Clone(data).(*value.Map) // it may have to wait
	c.tell(r.jid, func(ctx context.Context, s *Store) error {
		if first {
			return s.BeginNote(ctx, r.run(), n, kind, kept)
		}
		return s.Note(ctx, r.jid, n, kind, kept)
	})
	return err
}

// End records the end.
func (r *record) End() error {
	err := r.Record.End()
	r.leave()
	return err
}

// Leave closes the record of a job that goes on without this process.
func (r *record) Leave() error {
	err := r.Record.Leave()
	r.leave()
	return err
}

func (r *record) leave() {
	c := r.c
	c.mu.Lock()
	noted := c.noted[r.jid]
	delete(c.runs, r.jid)
	delete(c.noted, r.jid)
	c.mu.Unlock()
	if !noted {
		return
	}
	r.mu.Lock()
	history := r.history
	r.mu.Unlock()
	c.tell(r.jid, func(ctx context.Context, s *Store) error {
		if history {
			return s.End(ctx, r.jid)
		}
		return s.Forget(ctx, r.jid)
	})
}

// Resume has the job jid go on with the orchestration from; see [Store.Resume].
// undo takes that back. A store that does not answer is no hindrance: the warning
// says so.
func (c *Controller) Resume(jid, from string) (undo func(), err error) {
	undo = func() {}
	if c == nil || !c.Records {
		return undo, nil
	}
	c.mu.Lock()
	r := c.runs[jid]
	c.mu.Unlock()
	if r == nil {
		return undo, nil
	}
	run := r.run()
	run.Resumes = from
	r.mu.Lock()
	defer r.mu.Unlock()
	var next int
	var known bool
	err = c.ask(func(ctx context.Context, s *Store) (err error) {
		next, known, err = s.Resume(ctx, run)
		return err
	})
	if claimed, is := errors.AsType[*ClaimedError](err); is {
		return undo, claimed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failed(jid, err)
		return undo, nil
	}
	if !known {
		return undo, nil
	}
	r.next, r.history, c.noted[jid] = next, true, true
	return func() {
		r.mu.Lock()
		r.history = false
		r.mu.Unlock()
		c.tell(jid, func(ctx context.Context, s *Store) error { return s.Release(ctx, run) })
	}, nil
}
