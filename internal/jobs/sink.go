package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"brine/internal/event"
	"brine/internal/value"
)

// A Sink feeds one returner: in batches, from a goroutine of its own. What the
// returner does not take is tried again with growing pauses, then written to
// disk, from where the next run sends it.
type Sink struct {
	// Name is the returner's, as users give it.
	Name string
	// Open connects.
	Open func(ctx context.Context) (Returner, error)
	// Spool is the directory for what could not be sent; "" keeps nothing.
	Spool string
	// Retries are the pauses between tries; nil is DefaultRetries.
	Retries []time.Duration
	// Batch is how many rows go at once; 0 is 500.
	Batch int
	// Warn is told what was not sent.
	Warn func(error)

	once  sync.Once
	items chan item
	done  chan struct{}

	mu     sync.Mutex
	failed int // rows that were spooled or lost
}

// DefaultRetries are the pauses between tries of a returner that is down.
var DefaultRetries = [...]time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond}

// An item is a row for a returner: one of a load, a return, an event.
type item struct {
	kind string // "load", "return", "event"
	data *value.Map
}

const (
	loadItem   = "load"
	returnItem = "return"
	eventItem  = "event"
)

// Load hands a load over.
func (s *Sink) Load(l Load) { s.put(item{loadItem, l.Map()}) }

// Return hands a return over.
func (s *Sink) Return(full *value.Map) { s.put(item{returnItem, full}) }

// Event hands an event over.
func (s *Sink) Event(row EventRow) {
	s.put(item{eventItem, value.MapOf("tag", row.Tag, "data", row.Data, "master_id", row.Master)})
}

// Resend sends what earlier runs left on disk.
func (s *Sink) Resend() { s.once.Do(s.start) }

func (s *Sink) put(it item) {
	s.once.Do(s.start)
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
	s.items = make(chan item, queueLength)
	s.done = make(chan struct{})
	go s.work()
}

// Close sends what waits and ends the sink. It returns an error where rows did
// not reach the returner.
func (s *Sink) Close() error {
	s.once.Do(func() {})
	if s.items == nil {
		return nil
	}
	close(s.items)
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed > 0 {
		return fmt.Errorf("returner %s did not take %d rows", s.Name, s.failed)
	}
	return nil
}

// work is the goroutine of the sink.
func (s *Sink) work() {
	defer close(s.done)
	w := &writer{sink: s}
	defer w.close()
	w.resend()
	for it := range s.items {
		batch := append(w.batch[:0], it)
	fill:
		for len(batch) < s.Batch {
			select {
			case more, ok := <-s.items:
				if !ok {
					break fill
				}
				batch = append(batch, more)
			default:
				break fill
			}
		}
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
	spool *os.File

	unsure  bool // the returner is Unsure
	unknown int  // rows that it was given
	gaveUp  bool // it failed: all that comes goes to disk
}

// tryTimeout bounds one try.
const tryTimeout = 15 * time.Second

// restTime is how long a returner that is down is left alone.
const restTime = 5 * time.Second

// send gives a batch to the returner, or to the spool.
func (w *writer) send(batch []item) {
	if w.gaveUp || !w.down.IsZero() && time.Since(w.down) < restTime {
		w.keep(batch, nil)
		return
	}
	var err error
	for i := 0; ; i++ {
		if err = w.try(batch); err == nil {
			w.down = time.Time{}
			return
		}
		if w.unsure && w.unknown > 0 {
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

// try gives a batch to the returner once. A connection that fails is made anew
// at the next try.
func (w *writer) try(batch []item) error {
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	if w.ret == nil {
		r, err := w.sink.Open(ctx)
		if err != nil {
			return err
		}
		w.ret = r
		_, w.unsure = r.(Unsure)
	}
	if w.unsure {
		if err := w.write(batch); err != nil && w.sink.Spool != "" {
			return err
		}
		w.unknown += len(batch)
	}
	err := store(ctx, w.ret, batch)
	if err != nil {
		_ = w.ret.Close()
		w.ret = nil
	}
	return err
}

// giveUp leaves all rows that an Unsure returner was given on disk.
func (w *writer) giveUp(err error) {
	w.gaveUp = true
	w.sink.fail(w.unknown)
	if w.sink.Spool == "" {
		w.warn(fmt.Errorf("returner %s: %d rows are lost: %w", w.sink.Name, w.unknown, err))
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

// keep writes rows that were not sent to disk.
func (w *writer) keep(batch []item, why error) {
	s := w.sink
	s.fail(len(batch))
	if s.Spool == "" {
		w.warn(fmt.Errorf("returner %s: %d rows are lost: %w", s.Name, len(batch), orDown(why)))
		return
	}
	if err := w.write(batch); err != nil {
		w.warn(fmt.Errorf("returner %s: %d rows are lost: %w", s.Name, len(batch), errors.Join(orDown(why), err)))
		return
	}
	if why != nil {
		w.warn(fmt.Errorf("returner %s is down: %w; what it did not take is kept in %s and sent by the next run", s.Name, why, s.Spool))
	}
}

// write adds rows to this run's file in the spool.
func (w *writer) write(batch []item) error {
	if w.spool == nil {
		f, err := openSpool(w.sink.Spool)
		if err != nil {
			return err
		}
		w.spool = f
	}
	var b []byte
	for _, it := range batch {
		b = append(append(b, value.EncodeJSON(value.MapOf("kind", it.kind, "data", it.data))...), '\n')
	}
	if _, err := w.spool.Write(b); err != nil {
		return err
	}
	return w.spool.Sync()
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

const spoolSuffix = ".spool"

// openSpool makes a spool file that no other process has, and locks it.
func openSpool(dir string) (*os.File, error) {
	if dir == "" {
		return nil, errors.New("nothing is kept on disk for it")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, time.Now().UTC().Format("20060102150405.000000")+"-*"+spoolSuffix)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// resend sends what earlier runs left in the spool, oldest first. A file that
// another process is at is left to it.
func (w *writer) resend() {
	s := w.sink
	if s.Spool == "" {
		return
	}
	entries, err := os.ReadDir(s.Spool)
	if err != nil {
		return
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), spoolSuffix) {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	for _, n := range names {
		path := filepath.Join(s.Spool, n)
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		ok := tryLock(f) && w.resendFile(f)
		if ok {
			os.Remove(path)
		}
		f.Close()
		if !ok && w.ret == nil {
			return
		}
	}
}

// resendFile sends the rows of a file; false where they must stay.
func (w *writer) resendFile(f *os.File) bool {
	sc := bufio.NewScanner(f)
	sc.Buffer(make([]byte, 0, 64<<10), 256<<20)
	var batch []item
	flush := func() bool {
		if len(batch) == 0 {
			return true
		}
		err := w.try(batch)
		batch = batch[:0]
		if err != nil {
			w.down = time.Now()
			w.warn(fmt.Errorf("returner %s is down: %w; what it did not take before stays in %s", w.sink.Name, err, w.sink.Spool))
		}
		return err == nil
	}
	for sc.Scan() {
		m := decodeLine(sc.Bytes())
		if m.Map("data") == nil {
			continue // cut short by a crash
		}
		batch = append(batch, item{m.Str("kind"), m.Map("data")})
		if len(batch) >= w.sink.Batch && !flush() {
			return false
		}
	}
	return sc.Err() == nil && flush()
}

func (w *writer) close() {
	if w.ret != nil {
		err := w.ret.Close()
		switch {
		case err != nil && w.unsure:
			w.giveUp(err)
		case err != nil:
			w.warn(fmt.Errorf("returner %s: %w", w.sink.Name, err))
		case w.unsure && w.spool != nil && !w.gaveUp:
			os.Remove(w.spool.Name())
		}
	}
	if w.spool != nil {
		w.spool.Close()
	}
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
