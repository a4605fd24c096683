package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/py/value"
)

// An Unsure returner tells only when it is closed whether it has what it was
// given. Its rows are on disk until then; after a fault all of them come again.
type Unsure interface {
	Returner
	Unsure()
}

// A PartialError is the error of a returner that took the first N of the rows that
// it was given.
type PartialError struct {
	N   int
	Err error
}

// Error says why the others were not taken.
func (p *PartialError) Error() string { return p.Err.Error() }

// Unwrap returns the reason.
func (p *PartialError) Unwrap() error { return p.Err }

// A waiter is the error of a service that says when to try again.
type waiter interface{ RetryAfter() time.Duration }

// longWait is the longest time that a run waits for a service that says when to
// try again; what comes later is for the next run.
const longWait = 5 * time.Second

// retryTime is how long a batch is retried, and how long rows that a server
// refuses are separated from the others while it takes none: a server that
// hangs costs a run one try, not several.
const retryTime = 4 * time.Second

// A DownError says that a returner is down, and what becomes of its rows. A sink tells
// it once, however often it finds that.
type DownError struct {
	// Store is the same for all sinks of a store; "" is not known.
	Store string
	err   error
}

// Error says it.
func (d *DownError) Error() string { return d.err.Error() }

// Unwrap returns the reason.
func (d *DownError) Unwrap() error { return d.err }

// A writer is the worker's side of a sink.
type writer struct {
	sink    *Sink
	ret     Returner
	batch   []item
	down    time.Time     // when the returner was last found down; zero: it is up
	backoff time.Duration // how long it is left alone then
	why     string        // why another run found it down, until that is reported
	// marked says that there may be a note that the returner hangs.
	marked bool

	unsure  bool   // the returner is Unsure
	given   []item // rows that it was given, without their data
	gaveUp  bool   // it failed: all that comes stays on disk
	cleaned bool

	accepted   bool        // it took rows
	loaded     bool        // it took loads, and stores them
	takes      int         // how often it did
	refusing   time.Time   // since when it has refused rows and taken none
	last       bool        // it is tried again with what an earlier run left, after its own
	refused    []failedRow // rows that it did not take, by their own fault
	hung       bool        // the last try ended by its time-out
	hangs      int         // how often the returner was down by that
	warnedDown bool        // that it is down
	broke      bool        // the last try failed at the rows: the returner had been reached
}

// tryTimeout bounds one try.
const tryTimeout = 15 * time.Second

// backoffTime is how long a returner that is down is left alone, and hangBackoff how
// long one whose time-out was waited for is, by all runs.
const (
	backoffTime = 5 * time.Second
	hangBackoff = time.Minute
)

// send gives a batch to the returner, or leaves it to the spool.
func (w *writer) send(over context.Context, batch []item) {
	if w.gaveUp || w.backingOff() || w.hangs > 0 && w.sink.closing.Load() {
		w.keep(batch, nil)
		return
	}
	var err error
	began := time.Now()
	for i := 0; ; i++ {
		if batch, err = w.deliver(context.Background(), batch, rowHandler{w.took, w.aside}); err == nil {
			w.isUp()
			if !w.unsure {
				w.clean(over)
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
		pause, again := w.sink.Retries[i], waitOf(err)
		if again > longWait || time.Since(began) > retryTime {
			break
		}
		time.Sleep(max(pause, again))
	}
	if w.broke {
		before := w.takes
		if batch, err = w.isolate(context.Background(), batch, rowHandler{w.took, w.aside}, err, false); err == nil && w.takes > before {
			return
		}
	}
	w.isDown(err)
	if len(batch) > 0 {
		w.keep(batch, err)
	}
}

// waitOf is how long the service asks to be left alone.
func waitOf(err error) time.Duration {
	var wait waiter
	if errors.As(err, &wait) {
		return wait.RetryAfter()
	}
	return 0
}

// backingOff reports whether a returner that was down is left alone.
func (w *writer) backingOff() bool { return !w.down.IsZero() && time.Since(w.down) < w.backoff }

// isDown notes that the returner does not take rows now. That it hung is
// remembered for other runs, too.
func (w *writer) isDown(err error) {
	w.down, w.backoff = time.Now(), max(backoffTime, waitOf(err))
	if !w.hung {
		return
	}
	w.hangs++
	w.backoff = hangBackoff
	if mark := w.sink.Down; mark != "" && os.MkdirAll(filepath.Dir(mark), 0o700) == nil {
		w.marked = os.WriteFile(mark, []byte(err.Error()+"\n"), 0o600) == nil
	}
}

// isUp notes that the returner takes rows.
func (w *writer) isUp() {
	w.down = time.Time{}
	if w.marked {
		w.marked = false
		_ = os.Remove(w.sink.Down)
	}
}

// recall takes over what another run found not long ago: that the returner hangs.
func (w *writer) recall() {
	s := w.sink
	if s.Down == "" {
		return
	}
	at, why, marked := hung(s.Down)
	w.marked = marked
	if !at.IsZero() {
		w.down, w.backoff, w.why = at, hangBackoff, why
	}
}

// hung reads the note that a returner hung: since when, and why; the zero time
// where that is long ago. there says that there is a note.
func hung(mark string) (at time.Time, why string, there bool) {
	st, err := os.Stat(mark)
	if err != nil {
		return time.Time{}, "", false
	}
	ago := time.Since(st.ModTime())
	if ago < 0 || ago >= hangBackoff {
		return time.Time{}, "", true
	}
	b, _ := os.ReadFile(mark)
	return st.ModTime(), strings.TrimSpace(string(b)), true
}

// Hung returns an error where a run noted in the file mark not long ago that a
// returner hung: who reads from it need not wait for it again.
func Hung(mark string) error {
	at, why, _ := hung(mark)
	if at.IsZero() {
		return nil
	}
	return fmt.Errorf("it did not answer %s ago (%s), and is asked again %s after that", time.Since(at).Round(time.Second), why, hangBackoff)
}

// NoteHung notes in the file mark that a returner hung when it was read from, where
// err is that it did not answer in time.
func NoteHung(mark string, err error) {
	var late interface{ Timeout() bool }
	if !errors.As(err, &late) || !late.Timeout() {
		return
	}
	if os.MkdirAll(filepath.Dir(mark), 0o700) == nil {
		_ = os.WriteFile(mark, []byte(err.Error()+"\n"), 0o600)
	}
}

// deliver gives rows to the returner, once, and tells f what becomes of them. Rows
// that it does not want are found by halves, and do not hold up the others. It
// returns the rows that were neither taken nor refused.
func (w *writer) deliver(ctx context.Context, batch []item, f rowHandler) ([]item, error) {
	rest, err := w.try(ctx, batch)
	if len(rest) < len(batch) && !w.unsure {
		f.took(without(batch, rest))
	}
	if err == nil || w.unsure {
		return rest, err
	}
	if u, ok := errors.AsType[*unfitRowsError](err); ok {
		unfit := make([]item, len(u.rows))
		for i, l := range u.rows {
			unfit[i] = l.item
			f.aside(l)
		}
		if rest = without(rest, unfit); len(rest) == 0 {
			return nil, nil
		}
		return w.deliver(ctx, rest, f)
	}
	var no *refusal
	if !errors.As(err, &no) || !no.sure && w.refusesAll() {
		return rest, err
	}
	if len(rest) == 1 {
		f.aside(failedRow{item: rest[0], why: err, sure: no.sure})
		return nil, nil
	}
	half := len(rest) / 2
	left, err := w.deliver(ctx, rest[:half], f)
	if err != nil {
		return append(slices.Clip(left), rest[half:]...), err
	}
	return w.deliver(ctx, rest[half:], f)
}

// refusesAll reports whether a returner has refused rows for a while and taken
// none. It would refuse the others too, and trying them one by one hold up the
// run.
func (w *writer) refusesAll() bool {
	if w.accepted {
		return false
	}
	if w.refusing.IsZero() {
		w.refusing = time.Now()
	}
	return time.Since(w.refusing) > retryTime
}

// without returns the rows of all that are not among others, both in one order.
func without(all, others []item) []item {
	if len(others) == 0 {
		return all
	}
	gone := make(map[*value.Map]bool, len(others))
	for _, it := range others {
		gone[it.data] = true
	}
	var out []item
	for _, it := range all {
		if !gone[it.data] {
			out = append(out, it)
		}
	}
	return out
}

// describe names a row.
func (it item) describe() string {
	switch it.kind {
	case returnItem:
		return "the return of " + it.data.Str("id") + " to job " + it.data.Str("jid")
	case loadItem:
		return "the load of job " + it.data.Str("jid")
	}
	return "the event " + it.data.Str("tag")
}

// took notes that the returner has rows.
func (w *writer) took(batch []item) {
	if w.sink.Spool != "" {
		w.sink.spool.sent(batch)
	}
}

// aside notes that the returner did not take a row: what becomes of it is known
// at the end.
func (w *writer) aside(l failedRow) { w.refused = append(w.refused, l) }

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

// try gives a batch to the returner once, and returns the rows that it did not
// take. A connection that fails is opened again at the next try.
func (w *writer) try(ctx context.Context, batch []item) ([]item, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	w.broke, w.hung = false, false
	if err := w.connect(ctx); err != nil {
		w.hung = hangs(ctx, err)
		return batch, err
	}
	rest, err := store(ctx, w.ret, batch)
	if len(rest) < len(batch) {
		_, events := w.ret.(EventSaver)
		used := func(it item) bool { // what a returner has no use for tells nothing
			return it.kind == returnItem || it.kind == eventItem && events
		}
		if _, loads := w.ret.(LoadSaver); loads {
			w.loaded = w.loaded || slices.ContainsFunc(without(batch, rest), func(it item) bool { return it.kind == loadItem })
		}
		if slices.ContainsFunc(without(batch, rest), used) {
			w.accepted = true
			w.takes++
		}
	}
	if _, ok := errors.AsType[*unfitRowsError](err); ok {
		return rest, err
	}
	if err != nil {
		w.hung = hangs(ctx, err)
		w.broke = !w.unsure && !w.hung && byRows(err)
		_ = w.ret.Close()
		w.ret = nil
		if w.unsure {
			rest = batch
		}
		return rest, err
	}
	if w.unsure {
		w.give(batch)
	}
	return nil, nil
}

// hangs reports whether a try ended because its time was over.
func hangs(ctx context.Context, err error) bool {
	var slow interface{ Timeout() bool }
	return ctx.Err() != nil || errors.As(err, &slow) && slow.Timeout()
}

// byRows reports whether a fault may be that of the rows: the returner did not ask
// to be left alone, nor say that it was not reached.
func byRows(err error) bool {
	var none blameless
	var wait waiter
	if errors.As(err, &none) && none.Blameless() {
		return false
	}
	return !errors.As(err, &wait)
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
		w.warn(fmt.Errorf("returner %s: %s lost: %w", w.sink.Name, rowsAre(len(w.given)), err))
		return
	}
	w.warnDown("returner %s is down: %w; what it was given is kept in %s and sent by the next run", w.sink.Name, err, w.sink.Spool)
}

func (s *Sink) fail(rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed += rows
}

// store gives rows to a returner, each kind in its order, and returns those that
// it did not take. What the returner has no use for is left out.
func store(ctx context.Context, r Returner, batch []item) ([]item, error) {
	var loads, rets []*value.Map
	var events []EventRow
	var of [3][]item
	for _, it := range batch {
		switch it.kind {
		case loadItem:
			loads = append(loads, it.data)
			of[0] = append(of[0], it)
		case returnItem:
			rets = append(rets, it.data)
			of[1] = append(of[1], it)
		case eventItem:
			events = append(events, EventRow{Tag: it.data.Str("tag"), Data: it.data.Map("data"), Master: it.data.Str("master_id")})
			of[2] = append(of[2], it)
		}
	}
	steps := [3]func() error{
		func() error {
			if s, ok := r.(LoadSaver); ok {
				return s.SaveLoad(ctx, loads)
			}
			return nil
		},
		func() error { return r.Return(ctx, rets) },
		func() error {
			if s, ok := r.(EventSaver); ok {
				return s.SaveEvents(ctx, events)
			}
			return nil
		},
	}
	for i, step := range steps {
		if len(of[i]) == 0 {
			continue
		}
		err := step()
		if err == nil {
			continue
		}
		rest := of[i]
		if u, ok := errors.AsType[*UnfitError](err); ok && len(u.Rows) > 0 {
			unfit := &unfitRowsError{}
			for n, it := range of[i] {
				if why := u.Rows[n]; why != nil {
					unfit.rows = append(unfit.rows, failedRow{item: it, why: why, sure: true})
				}
			}
			err = unfit
		}
		if part, ok := errors.AsType[*PartialError](err); ok {
			rest = rest[min(part.N, len(rest)):]
		}
		for _, later := range of[i+1:] {
			rest = append(slices.Clip(rest), later...)
		}
		return rest, err
	}
	return nil, nil
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
		w.warn(fmt.Errorf("returner %s: %s lost: %w", s.Name, rowsAre(lost), errors.Join(orDown(why), s.spool.fault())))
	}
	if w.why != "" && lost < len(batch) {
		at := w.down.Add(w.backoff).Format(time.TimeOnly)
		w.warnDown("returner %s does not answer, as an earlier run found: %s; what it is handed is kept in %s and sent by a run after %s", s.Name, w.why, s.Spool, at)
		w.why = ""
	}
	if lost < len(batch) && why != nil {
		w.warnDown("returner %s is down: %w; what it did not take is kept in %s and sent by the next run", s.Name, why, s.Spool)
	}
}

// warnDown warns that the returner is down, once.
func (w *writer) warnDown(format string, args ...any) {
	if !w.warnedDown {
		w.warnedDown = true
		w.warn(&DownError{Store: w.sink.Down, err: fmt.Errorf(format, args...)})
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
func (w *writer) clean(over context.Context) {
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
	ctx, cancel := context.WithTimeout(over, cleanFor)
	defer cancel()
	if err := c.Clean(ctx, s.Keep, s.Archive); err != nil && ctx.Err() == nil {
		w.warn(fmt.Errorf("returner %s: old rows were not removed: %w", s.Name, err))
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
	w.putAside()
	w.sink.spool.close()
}

// rowsAre starts a sentence about n rows.
func rowsAre(n int) string {
	if n == 1 {
		return "1 row is"
	}
	return rowsOf(n) + " are"
}

func rowsOf(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
