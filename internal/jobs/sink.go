package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/event"
	"brine/internal/value"
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
	// Retries are the pauses between tries; nil is DefaultRetries.
	Retries []time.Duration
	// Batch is how many rows go at once; 0 is 500.
	Batch int
	// Keep is how old rows of a Cleaner may become; 0 is no bound. Archive puts
	// older ones aside instead of removing them.
	Keep    time.Duration
	Archive bool
	// Warn is told what was not sent.
	Warn func(error)

	once  sync.Once
	items chan item
	done  chan struct{}
	used  atomic.Bool     // rows were handed over
	over  context.Context // ends soon after Close was called
	end   context.CancelFunc

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
// A returner that is down empties the queue to disk, so this is no long wait.
const queueLength = 20000

func (s *Sink) start() {
	if s.Batch <= 0 {
		s.Batch = 500
	}
	if s.Retries == nil {
		s.Retries = DefaultRetries[:]
	}
	s.spool.dir = s.Spool
	s.items = make(chan item, queueLength)
	s.done = make(chan struct{})
	s.over, s.end = context.WithCancel(context.Background())
	go s.work()
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
	close(s.items)
	t := time.AfterFunc(grace, s.end)
	<-s.done
	t.Stop()
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed > 0 {
		return fmt.Errorf("returner %s did not take %d rows", s.Name, s.failed)
	}
	return nil
}

// linger is how long a row waits for others to go with. Rows that go alone cost
// a run more than those that go together: a transaction each.
const linger = 50 * time.Millisecond

// work is the goroutine of the sink.
func (s *Sink) work() {
	defer close(s.done)
	w := &writer{sink: s}
	defer w.close()
	w.resend()
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
		w.send(batch)
	}
}

// An Unsure returner tells only when it is closed whether it has what it was
// given. Its rows are on disk until then; after a fault all of them come again.
type Unsure interface {
	Returner
	Unsure()
}

// A writer is the worker's side of a sink.
type writer struct {
	sink  *Sink
	ret   Returner
	batch []item
	down  time.Time // when the returner was last found down; zero: it is up

	unsure  bool   // the returner is Unsure
	given   []item // rows that it was given, without their data
	gaveUp  bool   // it failed: all that comes stays on disk
	cleaned bool
}

// tryTimeout bounds one try.
const tryTimeout = 15 * time.Second

// restTime is how long a returner that is down is left alone.
const restTime = 5 * time.Second

// send gives a batch to the returner, or leaves it to the spool.
func (w *writer) send(batch []item) {
	if w.gaveUp || !w.down.IsZero() && time.Since(w.down) < restTime {
		w.keep(batch, nil)
		return
	}
	var err error
	for i := 0; ; i++ {
		if err = w.try(context.Background(), batch); err == nil {
			w.down = time.Time{}
			if !w.unsure {
				w.took(batch)
				w.clean()
			}
			return
		}
		if w.unsure && len(w.given) > 0 {
			w.give(batch)
			w.giveUp(err)
			return
		}
		if i >= len(w.sink.Retries) {
			break
		}
		time.Sleep(w.sink.Retries[i])
	}
	w.down = time.Now()
	w.keep(batch, err)
}

// took notes that the returner has rows.
func (w *writer) took(batch []item) {
	if w.sink.Spool != "" {
		w.sink.spool.sent(batch, &w.sink.order)
	}
}

// connect opens the returner where that is to be done.
func (w *writer) connect(ctx context.Context) error {
	if w.ret != nil {
		return nil
	}
	r, err := w.sink.Open(ctx)
	if err != nil {
		return err
	}
	w.ret = r
	_, w.unsure = r.(Unsure)
	return nil
}

// try gives a batch to the returner once. A connection that fails is made anew
// at the next try.
func (w *writer) try(ctx context.Context, batch []item) error {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := w.connect(ctx); err != nil {
		return err
	}
	err := store(ctx, w.ret, batch)
	if err != nil {
		_ = w.ret.Close()
		w.ret = nil
		return err
	}
	if w.unsure {
		w.give(batch)
	}
	return nil
}

// give notes what an Unsure returner was given.
func (w *writer) give(batch []item) {
	for _, it := range batch {
		w.given = append(w.given, item{n: it.n})
	}
}

// giveUp leaves all rows that an Unsure returner was given on disk.
func (w *writer) giveUp(err error) {
	w.gaveUp = true
	w.sink.fail(len(w.given))
	if w.sink.Spool == "" {
		w.warn(fmt.Errorf("returner %s: %d rows are lost: %w", w.sink.Name, len(w.given), err))
		return
	}
	w.warn(fmt.Errorf("returner %s is down: %w; what it was given is kept in %s and sent by the next run", w.sink.Name, err, w.sink.Spool))
}

func (s *Sink) fail(rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed += rows
}

// store gives rows to a returner, each kind in its order. What the returner has
// no use for is left out.
func store(ctx context.Context, r Returner, batch []item) error {
	var loads, rets []*value.Map
	var events []EventRow
	for _, it := range batch {
		switch it.kind {
		case loadItem:
			loads = append(loads, it.data)
		case returnItem:
			rets = append(rets, it.data)
		case eventItem:
			events = append(events, EventRow{Tag: it.data.Str("tag"), Data: it.data.Map("data"), Master: it.data.Str("master_id")})
		}
	}
	if s, ok := r.(LoadSaver); ok && len(loads) > 0 {
		if err := s.SaveLoad(ctx, loads); err != nil {
			return err
		}
	}
	if len(rets) > 0 {
		if err := r.Return(ctx, rets); err != nil {
			return err
		}
	}
	if s, ok := r.(EventSaver); ok && len(events) > 0 {
		return s.SaveEvents(ctx, events)
	}
	return nil
}

// keep leaves rows that were not sent on disk.
func (w *writer) keep(batch []item, why error) {
	s := w.sink
	s.fail(len(batch))
	lost := 0
	for _, it := range batch {
		if it.n == 0 {
			lost++
		}
	}
	if lost > 0 {
		w.warn(fmt.Errorf("returner %s: %d rows are lost: %w", s.Name, lost, errors.Join(orDown(why), s.spool.fault())))
	}
	if lost < len(batch) && why != nil {
		w.warn(fmt.Errorf("returner %s is down: %w; what it did not take is kept in %s and sent by the next run", s.Name, why, s.Spool))
	}
}

var errDown = errors.New("it is down")

func orDown(err error) error {
	if err == nil {
		return errDown
	}
	return err
}

func (w *writer) warn(err error) {
	if w.sink.Warn != nil {
		w.sink.Warn(err)
	}
}

// cleanEvery is how often a clean-up begins, among all processes of a cache, and
// cleanFor how long one may take: what it leaves is for the next one.
const (
	cleanEvery = 10 * time.Minute
	cleanFor   = time.Second
)

// clean has a Cleaner forget, once it has shown that it is up.
func (w *writer) clean() {
	s := w.sink
	c, ok := w.ret.(Cleaner)
	if w.cleaned || !ok || s.Keep <= 0 || s.Spool == "" {
		return
	}
	w.cleaned = true
	mark := filepath.Join(s.Spool, ".cleaned")
	if st, err := os.Stat(mark); err == nil && time.Since(st.ModTime()).Abs() < cleanEvery {
		return
	}
	if os.MkdirAll(s.Spool, 0o700) != nil || os.WriteFile(mark, []byte("\n"), 0o600) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.over, cleanFor)
	defer cancel()
	if err := c.Clean(ctx, s.Keep, s.Archive); err != nil && ctx.Err() == nil {
		w.warn(fmt.Errorf("returner %s: rows older than keep_jobs_seconds were not removed: %w", s.Name, err))
	}
}

func (w *writer) close() {
	if w.ret != nil {
		err := w.ret.Close()
		switch {
		case err != nil && w.unsure:
			w.giveUp(err)
		case err != nil:
			w.warn(fmt.Errorf("returner %s: %w", w.sink.Name, err))
		case !w.gaveUp:
			w.took(w.given)
		}
	}
	w.sink.spool.close()
}

// MatchEvent reports whether an event of a tag is to be stored: on the white
// list where there is one, and not on the black list. Both are globs.
// Salt: salt/utils/event.py EventReturn._filter.
func MatchEvent(e event.Event, white, black []string) bool {
	in := len(white) == 0
	for _, p := range white {
		in = in || value.Fnmatch(p, e.Tag)
	}
	for _, p := range black {
		if value.Fnmatch(p, e.Tag) {
			return false
		}
	}
	return in
}
