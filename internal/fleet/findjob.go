package fleet

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// Time-outs are questions. A target that is silent for the time-out of its job
// is asked, by saltutil.find_job, whether the job still runs there. One that
// still works is waited for, another period each time; one that does not, or
// does not say within the time for that, is given up. The questions go to all
// that are due at the same time, so that a round is one find_job, and never
// wait for each other.
// Salt: salt/client/__init__.py get_cli_event_returns.

// due is how much later than the first of a round others may be due and still
// be asked with it.
const due = 100 * time.Millisecond

// handoverTime is how long a call that was given up may take to hand over what it
// has.
const handoverTime = 2 * time.Second

// A NoReturnError says that a target was given up: it works on the job no more, or
// does not answer.
type NoReturnError struct{ Why string }

// Error returns Salt's text, and why on a line of its own.
func (e *NoReturnError) Error() string { return "Minion did not return. [No response]\n" + e.Why }

// An asker asks the silent targets of a job, and gives those up that work on it
// too long.
type asker struct {
	f         *Fleet
	job       fun.Job
	asks      bool // else the targets cannot be asked, or are not to be
	timeout   time.Duration
	gather    time.Duration
	maxWait   time.Duration
	begin     time.Time
	lastNamed time.Duration // when those that are waited for were named last

	mu      sync.Mutex
	pending map[string]*pending
	queue   []turn // by when they are due; those of targets that returned meanwhile are in it, too
	wake    chan struct{}
	stop    chan struct{}
	rounds  sync.WaitGroup
}

// pending is a target that has begun and not returned.
type pending struct {
	id     string
	owner  Provider
	due    time.Time // zero: it is being asked, or is not asked
	held   bool      // it was told that the target cannot be heard
	giveUp chan verdict
}

// A turn is when a target is to be asked, unless it has returned until then.
type turn struct {
	p  *pending
	at time.Time // p.due
}

// A verdict says that a target is given up, how long its return may still be on
// its way, and whether it may be at work, which then goes on.
type verdict struct {
	err   *NoReturnError
	late  time.Duration
	leave bool
}

// A Leaver is a Provider whose machines can go on with a job that is given up.
type Leaver interface {
	// Leave has a machine go on with a job when its Run is cancelled. It reports
	// whether the machine will keep the return.
	Leave(id, jid string) bool
}

func leave(p Provider, id, jid string) bool {
	l, ok := p.(Leaver)
	return ok && l.Leave(id, jid)
}

// asker begins to ask for a job; nil for a question, whose time is limited. A raw
// command is none that a target could be asked for.
func (f *Fleet) asker(ctx context.Context, job fun.Job) *asker {
	if job.Fun == findJob && job.Shell == "" {
		return nil
	}
	w := &asker{
		f: f, job: job, asks: f.Timeout > 0 && job.Shell == "", timeout: f.Timeout, gather: f.Gather, maxWait: f.maxWait(job), begin: time.Now(),
		pending: map[string]*pending{}, wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	if job.Timeout > 0 {
		w.timeout = job.Timeout
	}
	if job.Gather > 0 {
		w.gather = job.Gather
	}
	if w.gather <= 0 {
		w.gather = DefaultGather
	}
	w.rounds.Go(func() { w.run(ctx) })
	return w
}

// maxWait is how long a target may work on a job.
func (f *Fleet) maxWait(job fun.Job) time.Duration {
	switch {
	case job.MaxWait > 0:
		return job.MaxWait
	case f.MaxWait > 0:
		return f.MaxWait
	}
	return DefaultMaxWait
}

// end ends the asking and waits for the questions under way.
func (w *asker) end() {
	if w != nil {
		close(w.stop)
		w.rounds.Wait()
	}
}

// call runs the job on a target until it returns or is given up.
func (w *asker) call(ctx context.Context, owner Provider, job fun.Job, id string) fun.Return {
	if w == nil {
		return owner.Run(ctx, job, id, func() {})
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &pending{id: id, owner: owner, giveUp: make(chan verdict, 2)}
	defer w.forget(p)
	// Whatever the target says.
	limit := time.AfterFunc(w.maxWait, func() {
		select {
		case p.giveUp <- verdict{err: &NoReturnError{fmt.Sprintf("it has worked on the job for %s, which is the longest that is waited (max_wait)", w.maxWait)}, leave: w.job.Shell == ""}:
		default:
		}
	})
	defer limit.Stop()
	if !w.asks {
		w.begun(p) // it is named among those that are waited for
	}
	done := make(chan fun.Return, 1)
	go func() { done <- owner.Run(ctx, job, id, func() { w.begun(p) }) }()
	select {
	case ret := <-done:
		return ret
	case v := <-p.giveUp:
		if v.late > 0 {
			// The return may have been under way while the target was asked.
			select {
			case ret := <-done:
				return ret
			case <-time.After(v.late):
			}
		}
		ret := fun.Return{ID: id, JID: job.JID, Away: v.leave && leave(owner, id, job.JID)}
		if ret.Away {
			v.err.Why += "; the call goes on there, and the machine keeps its return: brine run jobs.lookup_jid " + job.JID + " fetches it"
		}
		cancel(v.err)
		select {
		case got := <-done:
			if got.Stage == fun.Returned {
				return got // just now, or the provider knows why it is silent
			}
			ret.Partial, ret.Total, ret.Fleet, ret.FleetJID = got.Partial, got.Total, got.Fleet, got.FleetJID
		case <-time.After(handoverTime):
		}
		ret.Stage, ret.Err = fun.TimedOut, v.err
		return ret
	}
}

func (w *asker) begun(p *pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[p.id] = p
	if w.asks {
		w.enqueue(p)
	}
}

// enqueue has p be asked after another time-out. All wait equally long, so it is
// due last, and run has to be woken only where it waits for nobody. w.mu is held.
func (w *asker) enqueue(p *pending) {
	p.due = time.Now().Add(w.timeout)
	w.queue = append(w.queue, turn{p, p.due})
	if len(w.queue) > 1 {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *asker) forget(p *pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending[p.id] == p {
		delete(w.pending, p.id)
	}
}

// run asks whoever is due, in rounds that do not wait for each other.
func (w *asker) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		asked, next := w.dueAt(time.Now())
		next = min(next, w.name(time.Now()))
		if len(asked) > 0 {
			w.rounds.Go(func() { w.round(ctx, asked) })
		}
		timer.Reset(next)
		select {
		case <-timer.C:
		case <-w.wake:
		case <-w.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

// firstNamed is when the targets that are waited for are named first; then each
// time twice as much time has passed, an hour later at the latest.
const firstNamed = time.Minute

// name names the targets that are waited for, when it is time for that. It
// returns how long it is until the next time.
func (w *asker) name(now time.Time) (next time.Duration) {
	since := now.Sub(w.begin).Round(time.Second)
	if at := max(firstNamed, min(2*w.lastNamed, w.lastNamed+time.Hour)); w.f.Waiting == nil || since < at {
		return max(time.Second, at-since)
	}
	w.lastNamed = since
	w.mu.Lock()
	ids := make([]string, 0, len(w.pending))
	for id := range w.pending {
		ids = append(ids, id)
	}
	w.mu.Unlock()
	if len(ids) > 0 {
		sort.Strings(ids)
		w.f.Waiting(w.job.JID, ids, since)
	}
	return min(since, time.Hour)
}

// dueAt takes the targets that are due, in order, and returns how long it is
// until the next are.
func (w *asker) dueAt(now time.Time) (asked []*pending, next time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	until := now // of the first that is due, and with it those shortly after
	for len(w.queue) > 0 {
		p, at := w.queue[0].p, w.queue[0].at
		if w.pending[p.id] == p && p.due.Equal(at) {
			if at.After(until) {
				break
			}
			until = now.Add(due)
			p.due = time.Time{}
			asked = append(asked, p)
		}
		w.queue[0], w.queue = turn{}, w.queue[1:]
	}
	next = time.Hour
	if len(w.queue) > 0 {
		next = max(time.Millisecond, w.queue[0].at.Sub(now))
	}
	sort.Slice(asked, func(i, j int) bool { return asked[i].id < asked[j].id })
	return asked, next
}

const findJob = "saltutil.find_job"

// round asks targets whether the job still runs there. The question is an event
// as that of any job; its function marks it.
func (w *asker) round(ctx context.Context, asked []*pending) {
	ctx, cancel := context.WithTimeout(ctx, w.gather)
	defer cancel()
	go func() {
		select {
		case <-w.stop: // all have returned meanwhile
			cancel()
		case <-ctx.Done():
		}
	}()
	byID := make(map[string]*pending, len(asked))
	byOwner := map[Provider][]string{}
	ids := make([]string, len(asked))
	for i, p := range asked {
		ids[i], byID[p.id] = p.id, p
		byOwner[p.owner] = append(byOwner[p.owner], p.id)
	}
	question := fun.Job{
		JID: w.f.askJID(), Fun: findJob, Tgt: value.Strings(ids...), TgtType: "list", User: w.job.User, OrchJID: w.job.OrchJID,
		Args: fun.Args{Pos: []value.Value{w.job.JID}, Kw: value.NewMap(0)},
	}
	w.f.announce(question, ids)
	var (
		mu      sync.Mutex
		answers = map[string]bool{}
		wg      sync.WaitGroup
	)
	tell := func(id string, pid int) {
		mu.Lock()
		defer mu.Unlock()
		if answers[id] || byID[id] == nil || ctx.Err() != nil {
			return
		}
		answers[id] = true
		data := value.NewMap(0)
		if pid != 0 {
			data = ProcData(w.f.Table, w.job, pid)
		}
		w.f.returned(question, fun.Return{ID: id, JID: question.JID, Body: fun.ValueBody{V: data}})
		w.answered(byID[id], pid != 0)
	}
	for owner, ids := range byOwner {
		wg.Go(func() { owner.FindJob(ctx, w.job.JID, ids, tell) })
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	if len(answers) < len(asked) {
		// The question may have failed at once. Silence is what lasts until the time for
		// answers is over: each target of a round is answered, held or given up at its end.
		mu.Unlock()
		<-ctx.Done()
		mu.Lock()
	}
	for _, p := range asked {
		if answers[p.id] || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			continue
		}
		if h, ok := p.owner.(Holder); ok {
			if why, held := h.Held(p.id); held {
				w.hold(p, why)
				continue
			}
		}
		p.giveUp <- verdict{err: &NoReturnError{fmt.Sprintf("it was silent for %s, and did not say within %s whether the job still runs there", w.timeout, w.gather)}, leave: true}
	}
}

// A Holder is a Provider that knows of machines that cannot be heard at present:
// they are neither at work nor not, and are waited for.
type Holder interface {
	// Held tells why nothing can be said of a machine that did not answer FindJob.
	Held(id string) (why string, held bool)
}

// hold waits for a target that cannot be heard, another period, and tells the
// person the first time.
func (w *asker) hold(p *pending, why string) {
	if !p.held {
		p.held = true
		w.f.doubt(fmt.Errorf("%s: no answer within %s; %s: waiting for it", p.id, w.timeout+w.gather, why))
	}
	w.answered(p, true)
}

// answered takes the word of a target: what works is waited for, another period.
func (w *asker) answered(p *pending, works bool) {
	if !works {
		p.giveUp <- verdict{err: &NoReturnError{"the job runs there no more, and there is no return"}, late: w.gather}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending[p.id] == p { // it has not returned meanwhile
		w.enqueue(p)
	}
}

// ProcData is what saltutil.find_job tells of a job that runs.
// Salt: salt/utils/minion.py running.
func ProcData(t *fun.Table, job fun.Job, pid int) *value.Map {
	return value.MapOf(
		"jid", job.JID, "fun", jobs.FunOf(name(job)), "arg", args(t, job), "tgt", job.Tgt, "tgt_type", typeOf(job), "ret", job.Returner,
		"user", job.User, "pid", int64(pid),
	)
}

// askJID returns the jid of a question.
func (f *Fleet) askJID() string {
	if f.AskJID != nil {
		return f.AskJID()
	}
	return f.NewJID()
}
