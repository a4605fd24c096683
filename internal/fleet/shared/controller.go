package shared

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A Controller is this process among the controllers that share a store: it
// records what it works on, sends heartbeats, and holds the locks of its runs.
// The store is opened when there is something to write. Only locks can fail a
// run; other writes that the store does not take wait, with one warning. It is
// safe for concurrent use.
type Controller struct {
	Open func(ctx context.Context) (*Store, error)
	// Records says that jobs are noted in the store, too.
	Records bool
	// Self has the Controller, Host, Cache, PID and Lease of this process; Owner is
	// USER@HOST.
	Self  Run
	Owner string
	// Warn is called with what is wrong, and what becomes of it.
	Warn func(text string)

	opening sync.Mutex
	store   *Store

	mu         sync.Mutex
	runs       map[string]*record // under way
	noted      map[string]bool    // jobs among them that the store knows
	queue      []op
	held       []*Held
	turns      []Turn
	down       error // of the last try; nil: the store took all
	warnedDown bool
	beaten     time.Time // before the last heartbeat that the store took
	taken      string    // why the run of this process is another's now

	flushing sync.Mutex
	once     sync.Once
	wake     chan struct{}
	stop     chan struct{}
	done     chan struct{}
}

// An op is a write to the store that waits.
type op struct {
	jid  string
	do   func(ctx context.Context, s *Store) error
	note bool // a part of the history
	try  int
}

// queryTimeout bounds a question to the store.
const queryTimeout = 5 * time.Second

// early is how long a job that is not an orchestration may run before it is
// recorded: most end sooner.
const early = 500 * time.Millisecond

// beat is the time between heartbeats.
func (c *Controller) beat() time.Duration { return min(c.Self.Lease/6, queryTimeout) }

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

// register records jobs that the store does not know.
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
			if r := c.runs[o.jid]; r != nil && o.note {
				// What comes after it would be a history with a hole.
				r.broken.Store(true)
				c.queue = slices.DeleteFunc(c.queue, func(x op) bool { return x.jid == o.jid && x.note })
			}
			c.Warn(fmt.Sprintf("the database that controllers share did not take a part of job %s, which another controller cannot resume now: %v", o.jid, err))
		}
		c.mu.Unlock()
	}
}

// failed notes that the store is down; c.mu is held.
func (c *Controller) failed(jid string, err error) {
	c.down = err
	if c.warnedDown {
		return
	}
	c.warnedDown = true
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
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	s, err := c.opened(ctx)
	if err != nil {
		return err
	}
	return do(ctx, s)
}

// submit writes something to the store now, after the writes that wait. If the store is
// down, it waits for the next heartbeat.
func (c *Controller) submit(o op) {
	c.mu.Lock()
	c.queue = append(c.queue, o)
	down := c.down != nil
	c.mu.Unlock()
	if !down {
		c.flush()
	}
}

// Behind reports whether the store has not all of the history yet that this process
// recorded. What it refused, though it answers, does not count.
func (c *Controller) Behind() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.queue, func(o op) bool { return o.note })
}

// Taken says why this process begins no new step: another run has taken over
// its run, because no heartbeat arrived for longer than its lease. "" means
// that none has.
func (c *Controller) Taken() string {
	if c == nil || !c.Records {
		return ""
	}
	c.mu.Lock()
	old := len(c.noted) > 0 && c.taken == "" && c.down == nil && since(c.beaten) > c.Self.Lease-c.beat()
	c.mu.Unlock()
	if old {
		c.alive()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken
}

// lose notes that another run has taken over a job of this process; c.mu is
// held.
func (c *Controller) lose(why string) {
	if c.taken == "" {
		c.taken = why
		c.Warn(why + ". No new step begins")
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
	old := since(c.beaten) > c.Self.Lease
	c.mu.Unlock()
	for _, h := range held {
		h.keep()
	}
	c.keepTurns()
	if len(jids) == 0 {
		return
	}
	began := time.Now()
	var runs []Run
	err := c.ask(func(ctx context.Context, s *Store) (err error) {
		if err = s.Alive(ctx, jids); err == nil && old {
			runs, err = s.Chain(ctx, jids)
		}
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failed(jids[0], err)
		return
	}
	c.beaten = began
	for _, r := range runs {
		if c.noted[r.JID] && r.ResumedBy != "" {
			c.lose(fmt.Sprintf("job %s was not heard of for longer than controller_lease, and job %s goes on with it", r.JID, r.ResumedBy))
		}
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

// Record returns a record that also writes to the store: that this controller
// works on the job, and the history of an orchestration.
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
	if len(c.noted) == 0 {
		c.beaten = time.Now()
	}
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

	broken atomic.Bool // the store refused a part of the history

	mu      sync.Mutex
	next    int // number of the next note
	history bool
}

// Unwrap returns the record itself.
func (r *record) Unwrap() jobs.Record { return r.Record }

// run returns what the store records of the job.
func (r *record) run() Run {
	run := r.c.Self
	run.JID, run.Load = r.jid, r.load
	return run
}

// Note records a part of the history. It is in the store when Note is back, unless the
// store is down: another controller does not run again what it has there.
func (r *record) Note(kind string, data *value.Map) error {
	err := r.Record.Note(kind, data)
	if !slices.Contains(jobs.HistoryNotes(), kind) || r.broken.Load() {
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
	c.submit(op{jid: r.jid, note: true, do: func(ctx context.Context, s *Store) error {
		if first {
			return s.BeginNote(ctx, r.run(), n, kind, kept)
		}
		return s.Note(ctx, r.jid, n, kind, kept)
	}})
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
	c.submit(op{jid: r.jid, do: func(ctx context.Context, s *Store) error {
		if history {
			return s.End(ctx, r.jid)
		}
		return s.Forget(ctx, r.jid)
	}})
}

// ErrDown is returned (wrapped) where the store does not answer.
var ErrDown = errors.New("the database that controllers share does not answer")

// Resume records that the job jid continues earlier runs, beginning with the
// recorded returns of one of them; see [Store.Resume]. undo reverts that, as
// far as it was done. The error is a [ClaimedError], or [ErrDown]: then it is
// unknown whether the store has it, and it is written as soon as the store
// answers. If the store then refuses it, no new step begins.
func (c *Controller) Resume(jid string, earlier []string, from *jobs.Job) (undo func(), err error) {
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
	if from != nil {
		run.Resumes = from.JID
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	resume := func(ctx context.Context, s *Store) error { return s.Resume(ctx, run, earlier, from) }
	err = c.ask(resume)
	claimed, is := errors.AsType[*ClaimedError](err)
	if is {
		return undo, claimed
	}
	undo = func() {
		r.mu.Lock()
		r.history = false
		r.mu.Unlock()
		c.submit(op{jid: jid, do: func(ctx context.Context, s *Store) error { return s.Release(ctx, run, earlier) }})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.next, r.history, c.noted[jid] = len(kept(from)), true, true
	if err == nil {
		return undo, nil
	}
	c.failed(jid, err)
	c.queue = append(c.queue, op{jid: jid, note: true, do: func(ctx context.Context, s *Store) error {
		err := resume(ctx, s)
		if claimed, is := errors.AsType[*ClaimedError](err); is {
			c.mu.Lock()
			c.lose(claimed.Text)
			c.mu.Unlock()
			return nil
		}
		return err
	}})
	return undo, fmt.Errorf("%w: %w", ErrDown, err)
}

// Chain returns what the store knows of runs and of all that went on with them; see
// [Store.Chain]. It is nothing where jobs are not noted in the store.
func (c *Controller) Chain(jids []string) (out []Run, err error) {
	if c == nil || !c.Records || len(jids) == 0 {
		return nil, nil
	}
	err = c.ask(func(ctx context.Context, s *Store) (err error) {
		out, err = s.Chain(ctx, jids)
		return err
	})
	return out, err
}

// Job returns an orchestration as its controller recorded it; nil where the store
// has none.
func (c *Controller) Job(jid string) (j *jobs.Job, err error) {
	if c == nil || !c.Records {
		return nil, nil
	}
	err = c.ask(func(ctx context.Context, s *Store) (err error) {
		j, err = s.Job(ctx, jid)
		return err
	})
	return j, err
}

// Settle gives the store what the record of a run has and the store has not; see
// [Store.Settle].
func (c *Controller) Settle(j *jobs.Job) error {
	if c == nil || !c.Records || j.Definition == nil {
		return nil
	}
	run := c.Self
	run.JID, run.Load, run.PID = j.JID, j.Load, j.PID()
	return c.ask(func(ctx context.Context, s *Store) error { return s.Settle(ctx, run, j) })
}
