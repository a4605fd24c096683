package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/runner"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
	"brine/internal/view/lint"
	"brine/runner/reactor"
)

const (
	// maxArrivals and maxArrivalBytes bound the events that were heard and are not in the
	// queue yet.
	maxArrivals     = 16384
	maxArrivalBytes = 64 << 20
	// tellEvery is how often a worker says which events nobody reacts to.
	tellEvery = 10 * time.Second
	// refusals is how often a queue that answers does not take something before that is taken
	// for its answer: it may have come back just then.
	refusals = 4
	// drainTime bounds how long a worker that stops brings what it heard into the queue.
	drainTime = 5 * time.Second
)

// A reacting takes the events that something reacts to, and brings them into the queue.
type reacting struct {
	*worker
	m      reactor.Map
	limits *reactor.Limits
	user   string
	id     string

	arrivals chan arrival
	wg       sync.WaitGroup

	mu      sync.Mutex
	bytes   int                 // of arrivals
	pending int                 // arrivals that are not in the queue yet
	passed  time.Time           // of the last event of a stream before which nothing was pending
	n       int                 // events that cannot be told apart, so far
	recent  recently            // that were brought
	missed  int                 // events that were lost before their tags were seen
	lost    map[string]int      // events that were heard and lost, by tag
	full    map[string][]string // keys of events that did not get into the queue, by tag
	old     map[string][]string // keys of those that were too old, by tag
	skipped int                 // events that another worker brings, since they cannot be told apart
}

// An arrival is an event that was heard.
type arrival struct {
	event.Event
	late bool // it is too old to react to
}

// newReacting reads what reacts to events.
func (w *worker) newReacting() (r *reacting, err error) {
	opts, conf := w.s.Cfg.Opts, w.s.Cfg.Opts.Str("conf_file")
	r = &reacting{worker: w, user: w.s.UserName(), arrivals: make(chan arrival, maxArrivals), lost: map[string]int{}, full: map[string][]string{}, old: map[string][]string{}}
	if r.m, err = reactor.Read(w.app.Host, opts, filepath.Dir(conf), w.s.Cfg.Place); err != nil {
		return nil, err
	}
	if len(r.m) == 0 {
		return nil, &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("--react: %s has no option reactor", cmp.Or(conf, "the configuration")),
			Hint: `write "reactor: [{'deploy/*': [salt://reactor/deploy.sls]}]" there; -c names the directory of the configuration`,
		}
	}
	r.limits, err = reactor.ReadLimits(opts, w.s.Cfg.Place)
	return r, err
}

// begin begins to bring what is heard into the queue, until the function that it returns is
// called after the last event was heard.
func (r *reacting) begin(ctx context.Context, env *fun.Env) (stop func()) {
	r.id = env.ID
	bringing, done := context.WithCancel(context.WithoutCancel(ctx))
	brought := make(chan struct{})
	go func() {
		defer close(brought)
		r.bring(bringing)
	}()
	r.check(ctx)
	r.s.Note("events are heard: " + r.globs())
	visiting, end := context.WithCancel(ctx)
	if r.o.collect != "" {
		r.wg.Go(func() { r.collect(visiting, env) })
	}
	return func() {
		end()
		r.wg.Wait()
		close(r.arrivals)
		select {
		case <-brought:
		case <-time.After(drainTime):
		}
		done()
		<-brought
	}
}

// check names the reactions that can never be run, before an event asks for them. The others
// are run all the same.
func (r *reacting) check(ctx context.Context) {
	if err := r.s.OpenGit(ctx); err != nil { // files may come from there
		r.s.Tell(fmt.Errorf("the files of the reactors are not checked: %w", err))
		return
	}
	faults, later := lint.Reactors(ctx, r.s.Env(ctx, r.s.JIDs.Next(r.app.Host.Now())), r.m)
	for _, f := range later {
		r.s.Note("not checked before an event comes: " + f.Error())
	}
	for _, f := range faults {
		r.s.Fault(f)
	}
	if len(faults) > 0 {
		r.s.Tell(errors.New("reactions above cannot be run: their events become failed entries of the queue; 'brine run reactor.list' checks the files again"))
	}
}

// globs names the tags that something reacts to.
func (r *reacting) globs() string {
	var all []string
	for _, e := range r.m {
		all = append(all, e.Glob)
	}
	return printable.Line(fun.Some(all))
}

// miss notes that events were lost before anybody saw their tags.
func (r *reacting) miss(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed += n
}

// ready reports whether there is room for more.
func (r *reacting) ready() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.arrivals) < maxArrivals/2 && r.bytes < maxArrivalBytes/2
}

// hear takes an event if something reacts to it.
func (r *reacting) hear(ctx context.Context, e event.Event) { r.arrive(ctx, arrival{Event: e}) }

// earlier takes an event of the stream; one that is too old is counted if no worker has brought
// it.
func (r *reacting) earlier(ctx context.Context, e event.Event, begun time.Time) {
	r.arrive(ctx, arrival{e, e.Stamp.Before(begun.Add(-r.limits.Age))})
}

func (r *reacting) arrive(ctx context.Context, e arrival) {
	matches := len(r.m.Match(e.Tag)) > 0
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !matches {
		if e.Remote && r.pending == 0 {
			r.passed = e.Stamp
		}
		return
	}
	if r.bytes > 0 && r.bytes+e.Cost() > maxArrivalBytes {
		r.lost[e.Tag]++
		return
	}
	select {
	case r.arrivals <- e:
		r.bytes += e.Cost()
		r.pending++
	default:
		r.lost[e.Tag]++
	}
}

// bring brings what was heard into the queue, and tells from time to time what was lost.
func (r *reacting) bring(ctx context.Context) {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	defer func() { r.tell(context.WithoutCancel(ctx)) }()
	var come reach
	defer func() { r.reach(context.WithoutCancel(ctx), &come, 0) }()
	for {
		select {
		case e, ok := <-r.arrivals:
			if !ok {
				return
			}
			r.mu.Lock()
			r.bytes -= e.Cost()
			r.mu.Unlock()
			if err := r.bringOne(ctx, e); err != nil {
				r.mu.Lock()
				r.lost[e.Tag]++
				r.mu.Unlock()
				if ctx.Err() == nil {
					r.s.Tell(fmt.Errorf("the event %s does not get into the queue: %w", printable.Line(e.Tag), err))
				}
			}
			r.mu.Lock()
			r.pending--
			r.mu.Unlock()
			if e.Remote && ctx.Err() == nil {
				come.at = e.Stamp
				r.reach(ctx, &come, reachEvery)
			}
		case <-tick.C:
			r.mu.Lock()
			if r.passed.After(come.at) {
				come.at = r.passed
			}
			r.mu.Unlock()
			r.reach(ctx, &come, 0)
			r.tell(ctx)
		}
	}
}

// reachEvery is how often a worker notes how far it has come in a stream. One that was killed
// before it did has the next one read more than it needs to.
const reachEvery = time.Second

// A reach is how far a worker has come in a stream.
type reach struct {
	at, noted time.Time // by the clock of the stream
	when      time.Time // it was noted, by that of this machine
}

// reach notes how far the worker has come, unless it did so less than a time ago. A queue that
// does not answer hears it the next time.
func (r *reacting) reach(ctx context.Context, come *reach, every time.Duration) {
	now := r.app.Host.Now()
	if come.at.Equal(come.noted) || now.Sub(come.when) < every {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
	defer cancel()
	come.when = now
	if r.q.Reach(ctx, r.o.queue, come.at) == nil {
		come.noted = come.at
	}
}

// bringOne brings an event into the queue. A queue that does not answer is asked until it
// does.
func (r *reacting) bringOne(ctx context.Context, e arrival) error {
	answers := 0
	for told, n := false, 0; ; n++ {
		try, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
		decision, entry, key, err := r.tryToBring(try, e)
		cancel()
		if err == nil {
			r.became(decision, entry, key, e.late)
			return nil
		}
		if assembly.Answers(err) && r.q.Ping(ctx) == nil { // a full disk is waited for
			answers++
		}
		if ctx.Err() != nil || answers >= refusals { // the queue answers, and does not take it
			return err
		}
		if !told {
			told = true
			r.s.Tell(fmt.Errorf("events wait, since the queue does not answer: %w", err))
		}
		r.wait(ctx, min(5*time.Second, 100*time.Millisecond<<min(n, 6)))
	}
}

// tryToBring brings an event into the queue. key is that of the event.
func (r *reacting) tryToBring(ctx context.Context, e arrival) (decision queue.Decision, entry *queue.Entry, key string, err error) {
	data := e.Data.Copy()
	cause, ok := queue.CauseOf(data.At(event.CauseKey))
	data.Delete(event.CauseKey)
	a := queue.Arrival{Key: queue.Key(e.Tag, reactor.Canonical(data)), MaxWaiting: r.limits.Waiting, Late: e.late}
	if r.recent.has(a.Key) {
		return queue.Known, nil, "", nil
	}
	if e.Unstamped {
		mine, err := r.q.Sole(ctx, r.o.queue, r.name)
		if err != nil {
			return 0, nil, "", err
		}
		if !mine {
			r.mu.Lock()
			r.skipped++
			r.mu.Unlock()
			return queue.Known, nil, "", nil
		}
		r.mu.Lock()
		r.n++
		a.Key = queue.Key(a.Key, r.name, fmt.Sprint(r.n))
		r.mu.Unlock()
	}
	if same, ok := r.limits.Same(e.Tag, data); ok {
		a.Same = queue.Key(same)
	}
	switch {
	case !ok && e.Data.Has(event.CauseKey):
		a.Refuse = event.CauseKey + " of the event is not a list of jids"
	case len(cause) >= r.limits.Depth:
		a.Refuse = fmt.Sprintf("it may be a loop: %d reactions led to this event, one after the other, and reactor_depth is %d; 'brine run reactor.trace' shows them", len(cause), r.limits.Depth)
	}
	entry = r.entry(e.Tag, data, cause)
	if decision, err = r.q.Bring(ctx, entry, a); err == nil {
		r.recent.add(a.Key)
	}
	return decision, entry, a.Key, err
}

// maxRecent is how many keys of events a worker keeps.
const maxRecent = 1 << 15

// A recently has the keys of the last events that were brought: those that come again, such as
// by a stream that is read twice, need no question to the database. What is heard and what is
// collected from machines comes at the same time.
type recently struct {
	mu    sync.Mutex
	keys  map[string]struct{}
	order []string // of keys, as a ring that begins at next
	next  int
}

func (r *recently) has(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.keys[key]
	return ok
}

func (r *recently) add(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.keys[key]
	switch {
	case known:
		return
	case len(r.order) < maxRecent:
		if r.keys == nil {
			r.keys = map[string]struct{}{}
		}
		r.order = append(r.order, key)
	default:
		delete(r.keys, r.order[r.next])
		r.order[r.next] = key
		r.next = (r.next + 1) % maxRecent
	}
	r.keys[key] = struct{}{}
}

// entry is a new entry for an event.
func (r *reacting) entry(tag string, data *value.Map, cause []string) *queue.Entry {
	return &queue.Entry{
		JID: r.s.JIDs.Next(r.app.Host.Now()), Queue: r.o.queue, User: r.user, Controller: r.id, SLS: tag,
		Work: &queue.Work{Event: &queue.Event{Tag: tag, Data: data, Cause: cause}},
	}
}

// became does what is due when an event was brought.
func (r *reacting) became(decision queue.Decision, e *queue.Entry, key string, late bool) {
	switch decision {
	case queue.Added:
		select {
		case r.wake <- struct{}{}:
		default:
		}
	case queue.Declined:
		entry, err := r.q.Entry(context.Background(), e.JID)
		if err == nil {
			r.s.Tell(fmt.Errorf("the event %s is refused as %s: %s", printable.Line(e.SLS), e.JID, entry.Error))
		}
	case queue.NotTaken:
		r.mu.Lock()
		of := r.full
		if late {
			of = r.old
		}
		of[e.SLS] = append(of[e.SLS], key)
		r.mu.Unlock()
	case queue.Known, queue.Joined:
	}
}

// maxWarnedTags bounds how many tags of lost events have an entry of their own, each time.
const maxWarnedTags = 50

// tell tells which events nobody reacts to, and leaves an entry for each tag in the queue.
func (r *reacting) tell(ctx context.Context) {
	r.mu.Lock()
	missed, lost, full, old := r.missed, r.lost, r.full, r.old
	r.missed, r.lost, r.full, r.old = 0, map[string]int{}, map[string][]string{}, map[string][]string{}
	r.mu.Unlock()
	if missed > 0 {
		r.s.Tell(fmt.Errorf("%d events came faster than they were read, and are lost: what reacts to them did not run", missed))
		r.leave(ctx, "*", fmt.Sprintf("%d events were lost before %s read their tags", missed, r.name))
	}
	r.tellOf(ctx, lost, func(n int) string {
		return fmt.Sprintf("%d events were heard by %s, and lost before they were in the queue", n, r.name)
	})
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	tooMany := fmt.Sprintf("%d wait for a worker (reactor_worker_hwm)", r.limits.Waiting)
	tooOld := fmt.Sprintf("they were older than %v when a worker began (reactor_max_age)", r.limits.Age)
	r.tellNotTaken(ctx, full, r.full, "since "+tooMany)
	r.tellNotTaken(ctx, old, r.old, "since "+tooOld)
	r.tellNotTaken(ctx, map[string][]string{"": nil}, nil, "since "+tooMany+", or "+tooOld)
}

// orphaned is how long an event that was not taken waits for the worker that says so, before
// another one does.
const orphaned = 3 * tellEvery

// tellNotTaken tells which events were not taken, and why: those whose keys it has by tag, and
// with the tag "" those of workers that have died. What cannot be said now is for next.
func (r *reacting) tellNotTaken(ctx context.Context, byTag, next map[string][]string, why string) {
	if len(byTag) > maxWarnedTags {
		var rest []string
		for _, tag := range slices.Sorted(maps.Keys(byTag))[maxWarnedTags:] {
			rest = append(rest, byTag[tag]...)
			delete(byTag, tag)
		}
		byTag["*"] = append(byTag["*"], rest...)
	}
	for tag, keys := range byTag {
		of := cmp.Or(tag, "*")
		n, err := r.q.NoteNotTaken(ctx, r.entry(of, value.NewMap(0), nil), keys, orphaned, func(n int64) string {
			return fmt.Sprintf("%d events were not taken, %s", n, why)
		})
		switch {
		case err != nil && tag != "": // the next time, or by another worker
			r.mu.Lock()
			next[tag] = append(next[tag], keys...)
			r.mu.Unlock()
		case n > 0:
			r.s.Tell(fmt.Errorf("%s: %d events were not taken, %s", printable.Line(of), n, why))
		}
	}
}

// tellOf tells of lost events by tag.
func (r *reacting) tellOf(ctx context.Context, counts map[string]int, why func(n int) string) {
	seen, rest := 0, 0
	for tag, n := range counts {
		if seen++; seen > maxWarnedTags {
			rest += n
			continue
		}
		r.s.Tell(errors.New(printable.Line(tag) + ": " + why(n)))
		r.leave(ctx, tag, why(n))
	}
	if rest > 0 {
		r.s.Tell(errors.New("other tags: " + why(rest)))
		r.leave(ctx, "*", why(rest))
	}
}

// leave puts an entry for events that nobody reacts to into the queue.
func (r *reacting) leave(ctx context.Context, tag, why string) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	if err := r.q.Lost(ctx, r.entry(tag, value.NewMap(0), nil), why); err != nil {
		r.s.Tell(fmt.Errorf("this could not be noted in the queue: %w", err))
	}
}

// eventOf names what an entry reacts to.
func eventOf(e *queue.Entry) string {
	return "the reaction to " + printable.Line(strings.TrimSpace(e.SLS))
}
