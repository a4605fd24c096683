package jobs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/core/event"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
)

// A Sink feeds one returner: in batches, from a goroutine of its own. A row is
// on disk before the call that hands it over is back, and until the returner
// has taken it: what a run that is killed or a returner that is down leaves
// there, the next run sends.
type Sink struct {
	// Name is the returner's, as users give it.
	Name string
	// Open connects.
	Open func(ctx context.Context) (Returner, error)
	// Spool is the directory for rows that are not sent yet; "" keeps nothing.
	Spool string
	// Owner is what a later run has to know of whose rows are in Spool: it is
	// written there as OwnerFile. nil writes nothing.
	Owner []byte
	// Down is a file that notes that the returner hung, for other runs and other
	// sinks of the same store; "" notes nothing.
	Down string
	// Again says that its rows were put aside before: those that are not taken are
	// put aside again.
	Again bool
	// Aside says what becomes of rows that were put aside, in a warning; "" is that
	// returner.aside shows them.
	Aside string
	// Retries are the pauses between tries; nil is DefaultRetries.
	Retries []time.Duration
	// Batch is how many rows go at once; 0 is 500.
	Batch int
	// Keep is the age up to which a Cleaner keeps rows; 0 means no limit.
	// Archive archives older rows instead of removing them.
	Keep    time.Duration
	Archive bool
	// Warn is called with what was not sent.
	Warn func(error)

	once    sync.Once
	items   chan item
	done    chan struct{}
	used    atomic.Bool        // rows were handed over
	closing atomic.Bool        // no more rows come
	end     context.CancelFunc // ends what is not this run's own

	order sync.Mutex // held while a row gets its places in the spool and the queue
	spool spool

	mu     sync.Mutex
	failed int // rows that are still in the spool, or lost
}

// DefaultRetries are the pauses between tries of a returner that is down.
var DefaultRetries = [...]time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond}

// An item is a row for a returner: one of a load, a return, an event.
type item struct {
	kind string // "load", "return", "event"
	data *value.Map
	n    int64 // its number in the spool; 0: it is not there
}

const (
	loadItem   = "load"
	returnItem = "return"
	eventItem  = "event"
)

// Load hands a load over.
func (s *Sink) Load(l Load) { s.put(item{kind: loadItem, data: l.Map()}) }

// Return hands a return over.
func (s *Sink) Return(full *value.Map) { s.put(item{kind: returnItem, data: full}) }

// Event hands an event over.
func (s *Sink) Event(row EventRow) {
	s.put(item{kind: eventItem, data: value.MapOf("tag", row.Tag, "data", row.Data, "master_id", row.Master)})
}

// Resend sends what earlier runs left on disk.
func (s *Sink) Resend() { s.once.Do(s.start) }

func (s *Sink) put(it item) {
	s.once.Do(s.start)
	s.used.Store(true)
	var data []byte
	if s.Spool != "" {
		data = value.EncodeJSON(it.data)
	}
	s.order.Lock()
	defer s.order.Unlock()
	if s.Spool != "" {
		it.n = s.spool.add(it.kind, data)
	}
	s.items <- it
}

// queueLength is how many rows wait before a run has to wait for the returner.
// If a returner is down, the queue is written to disk, so the wait is short.
const queueLength = 20000

func (s *Sink) start() {
	if s.Batch <= 0 {
		s.Batch = 500
	}
	if s.Retries == nil {
		s.Retries = DefaultRetries[:]
	}
	s.spool.dir, s.spool.owner = s.Spool, s.Owner
	s.items = make(chan item, queueLength)
	s.done = make(chan struct{})
	over, end := context.WithCancel(context.Background())
	s.end = end
	go s.work(over)
}

// grace is how long the end of a run waits for what is not its own: the rows of
// earlier runs, and a clean-up.
const grace = 3 * time.Second

// Close sends what waits and ends the sink. It returns an error where rows did
// not reach the returner.
func (s *Sink) Close() error {
	s.once.Do(func() {})
	if s.items == nil {
		return nil
	}
	s.closing.Store(true)
	close(s.items)
	t := time.AfterFunc(grace, s.end)
	<-s.done
	t.Stop()
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed > 0 {
		return fmt.Errorf("returner %s did not take %s", s.Name, rowsOf(s.failed))
	}
	return nil
}

// linger is how long a row waits for others to go with. Rows that go alone cost
// a run more than those that go together: a transaction each.
const linger = 50 * time.Millisecond

// work is the goroutine of the sink. over ends soon after Close was called.
func (s *Sink) work(over context.Context) {
	defer close(s.done)
	w := &writer{sink: s}
	defer w.close()
	w.recall()
	stuck := w.resend(over, false)
	for it := range s.items {
		batch := append(w.batch[:0], it)
		late := time.NewTimer(linger)
	fill:
		for len(batch) < s.Batch {
			select {
			case more, ok := <-s.items:
				if !ok {
					break fill
				}
				batch = append(batch, more)
			case <-late.C:
				break fill
			}
		}
		late.Stop()
		w.batch = batch
		w.send(over, batch)
	}
	if stuck {
		w.resend(over, true)
	}
}

// Patterns reads an option that chooses events: globs or regular expressions, as a list or as
// text with commas.
func Patterns(key string, v value.Value) (out []string, err error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		out = Names(v)
	case *value.List:
		for _, x := range v.Items {
			p, ok := x.(string)
			if !ok {
				return nil, fmt.Errorf("%s must be a list of strings, not %s", key, value.Repr(v))
			}
			out = append(out, p)
		}
	default:
		return nil, fmt.Errorf("%s must be a list of strings, not %s", key, value.Kind(v))
	}
	return out, CheckPatterns(key, out)
}

// CheckPatterns returns an error for a pattern that matches nothing but itself: it has a
// character that is meant for a regular expression, and is none.
func CheckPatterns(key string, patterns []string) error {
	for _, p := range patterns {
		if _, err := pyre.Compile(p, 0); err != nil && strings.ContainsAny(p, `()|+^$\{}`) {
			return fmt.Errorf("%s: %q is neither a glob nor a regular expression: %w", key, p, err)
		}
	}
	return nil
}

// MatchEvent reports whether an event of a tag is to be stored: on the white
// list where there is one, and not on the black list. Both are globs or regular
// expressions.
// Salt: salt/utils/event.py EventReturn._filter.
func MatchEvent(e event.Event, white, black []string) bool {
	match := func(p string) bool { ok, _ := pyre.Expr(p, e.Tag); return ok }
	return (len(white) == 0 || slices.ContainsFunc(white, match)) && !slices.ContainsFunc(black, match)
}
