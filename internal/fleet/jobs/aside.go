package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"brine/internal/py/value"
)

// Refused wraps the error of a service that is up and does not want a row: it
// will not want it later, either.
func Refused(err error) error { return &refusal{error: err} }

// TooLarge wraps the error of a store that takes no row of that size. The row is
// put aside even where the store has taken no other one.
func TooLarge(err error) error { return &refusal{error: err, sure: true} }

type refusal struct {
	error
	sure bool // it is the row, and not the settings
}

func (r *refusal) Unwrap() error { return r.error }

// An UnfitError is the error of a returner that took nothing of what it was
// given, because its store would not take some of the rows: Rows has the reasons
// by their places. The others are given to it again.
type UnfitError struct{ Rows map[int]error }

// Error names one of the reasons.
func (u *UnfitError) Error() string {
	for _, err := range u.Rows {
		return err.Error()
	}
	return "a row does not fit"
}

// unfitRowsError is an UnfitError with the rows themselves.
type unfitRowsError struct{ rows []failedRow }

func (u *unfitRowsError) Error() string { return "rows do not fit" }

// A blameless error is not the fault of a row: the service was not reached, or
// did not accept the credentials.
type blameless interface{ Blameless() bool }

// A failedRow is a row that a returner did not take, with the reason.
type failedRow struct {
	item
	why  error
	sure bool // it is put aside in any case
	// broke says that the returner broke on it, when it had taken rows took times:
	// whether it takes others still is seen later.
	broke bool
	took  int
}

// largeRow is how many bytes of JSON a row has that a store may have no room for.
const largeRow = 1 << 20

// its reports whether it is known that the row is at fault: the returner took others,
// or the load of a job where the row is a large one.
func (l failedRow) its(w *writer) bool {
	if l.sure || w.accepted && (!l.broke || w.takes > l.took) {
		return true
	}
	return w.loaded && len(value.EncodeJSON(l.data)) >= largeRow
}

// A rowHandler is notified of rows that were taken or put aside.
type rowHandler struct {
	took  func([]item)
	aside func(failedRow)
}

// maxAlone is how often a row fails alone before it is put aside.
const maxAlone = 3

// An isolator separates the rows that a returner takes from those on which it breaks.
type isolator struct {
	w      *writer
	f      rowHandler
	began  time.Time
	passed bool
	failed []failedRow
	trail  int // how many of them have failed since something passed
}

// maxTrail is how many rows fail alone, one after the other, before it is the
// returner that has broken.
const maxTrail = 2

// isolate finds the rows that a returner fails on while it takes others: each of
// them has failed alone maxAlone times. It returns the rows whose outcome is still
// open, with the error, where nothing passes or it takes too long. passed says
// that others have passed since the rows failed before.
func (w *writer) isolate(ctx context.Context, batch []item, f rowHandler, err error, passed bool) ([]item, error) {
	s := &isolator{w: w, f: f, began: time.Now(), passed: passed}
	before := w.takes
	left, err := s.isolate(ctx, batch, err)
	if err != nil && !s.passed {
		for _, l := range s.failed {
			left = append(left, l.item)
		}
		return left, err
	}
	for i, l := range s.failed {
		l.sure = passed
		if i == len(s.failed)-1 && s.trail == 1 && w.takes > before {
			l.broke = false // what came right before it passed
		}
		f.aside(l)
	}
	return left, err
}

// over reports whether there is no use in going on.
func (s *isolator) over() bool {
	took := time.Since(s.began)
	return !s.w.broke || s.trail > maxTrail || took > 2*retryTime || !s.passed && (len(s.failed) > 1 || took > retryTime)
}

func (s *isolator) isolate(ctx context.Context, batch []item, err error) ([]item, error) {
	if len(batch) == 1 {
		return s.alone(ctx, batch, err)
	}
	half := len(batch) / 2
	for i, part := range [][]item{batch[:half], batch[half:]} {
		left, err := s.w.deliver(ctx, part, s.f)
		if len(left) < len(part) {
			s.passed, s.trail = true, 0
		}
		if err != nil && !s.over() {
			left, err = s.isolate(ctx, left, err)
		}
		if err == nil {
			continue
		}
		left = append([]item(nil), left...)
		if i == 0 {
			left = append(left, batch[half:]...)
		}
		return left, err
	}
	return nil, nil
}

// alone tries a row by itself, which has failed so once.
func (s *isolator) alone(ctx context.Context, row []item, err error) ([]item, error) {
	for i := range maxAlone - 1 {
		if i < len(s.w.sink.Retries) {
			time.Sleep(s.w.sink.Retries[i])
		}
		if _, err = s.w.deliver(ctx, row, s.f); err == nil {
			s.passed, s.trail = true, 0
			return nil, nil
		}
		if !s.w.broke {
			return row, err
		}
	}
	s.trail++
	s.failed = append(s.failed, failedRow{item: row[0], why: err, broke: true, took: s.w.takes})
	if s.over() {
		return nil, err
	}
	return nil, nil
}

// asideFile has, in a spool, what the returner did not take: no run sends it.
const asideFile = "refused"

// putAside ends what is to be said of rows that were not taken. Where the
// returner took others, or the store has no room for such a row, it is the row's
// own fault and no later run tries it; else the settings may be wrong, and it
// stays for the next run.
func (w *writer) putAside() {
	var aside, stay []failedRow
	for _, l := range w.refused {
		if l.its(w) || w.sink.Again {
			aside = append(aside, l)
		} else {
			stay = append(stay, l)
		}
	}
	s := w.sink
	s.fail(len(w.refused))
	if s.Spool == "" {
		w.warnRefused(w.refused, "they are lost")
		return
	}
	w.warnRefused(stay, "they are kept in "+s.Spool+" and sent by the next run")
	if len(aside) == 0 {
		return
	}
	path := filepath.Join(s.Spool, asideFile)
	if err := s.spool.prepare(); err != nil {
		w.warnRefused(aside, fmt.Sprintf("they stay in %s: %v", s.Spool, err))
		return
	}
	if err := appendAside(path, aside); err != nil {
		w.warnRefused(aside, fmt.Sprintf("they stay in %s: %v", s.Spool, err))
		return
	}
	items := make([]item, len(aside))
	for i, l := range aside {
		items[i] = l.item
	}
	w.took(items)
	w.warnRefused(aside, "put aside in "+path+"; "+cmp.Or(s.Aside, "'brine run returner.aside' lists, sends or drops them"))
}

// maxNamed is how many rows a warning names.
const maxNamed = 3

// warnRefused warns of rows that were not taken and of what becomes of them.
func (w *writer) warnRefused(rows []failedRow, what string) {
	if len(rows) == 0 {
		return
	}
	var why []error
	for _, l := range rows[:min(maxNamed, len(rows))] {
		why = append(why, fmt.Errorf("%s: %w", l.describe(), l.why))
	}
	w.warn(fmt.Errorf("returner %s refused %s: %w; %s", w.sink.Name, rowsOf(len(rows)), errors.Join(why...), what))
}

// An AsideRow is a row that was put aside.
type AsideRow struct {
	Name string // JID/ID of a return, JID of a load, the tag of an event
	Kind string // load, return or event
	Data *value.Map
	Why  string
	At   string // when, as stamps are
	Size int    // bytes of its JSON
}

// nameOf is how a row is called on a command line.
func (it item) nameOf() string {
	switch it.kind {
	case returnItem:
		return it.data.Str("jid") + "/" + it.data.Str("id")
	case loadItem:
		return it.data.Str("jid")
	}
	return it.data.Str("tag")
}

// appendAside adds rows to a file, a line of JSON each.
func appendAside(path string, rows []failedRow) error {
	var b []byte
	for _, l := range rows {
		m := value.MapOf("kind", l.kind, "why", l.why.Error(), "at", time.Now().UTC().Format("2006-01-02T15:04:05.000000"), "data", l.data)
		b = append(append(b, value.EncodeJSON(m)...), '\n')
	}
	f, err := lockAside(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	return err
}

// lockAside opens the file of rows that were put aside, for this process alone.
// Another one may have put a new file in its place while this one waited.
func lockAside(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, err
		}
		mine, err := f.Stat()
		if err == nil {
			if now, err := os.Stat(path); err == nil && os.SameFile(mine, now) {
				return f, nil
			}
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// readAside reads rows that were put aside.
func readAside(f *os.File) ([]AsideRow, error) {
	var out []AsideRow
	err := spoolLines(f, func(m *value.Map) error {
		it := item{kind: m.Str("kind"), data: m.Map("data")}
		if it.data != nil {
			out = append(out, AsideRow{
				Name: it.nameOf(), Kind: it.kind, Data: it.data, Why: m.Str("why"), At: m.Str("at"), Size: len(value.EncodeJSON(it.data)),
			})
		}
		return nil
	})
	return out, err
}

// Aside returns the rows that were put aside in the spool of a sink.
func Aside(dir string) ([]AsideRow, error) {
	f, err := os.Open(filepath.Join(dir, asideFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAside(f)
}

// DropAside forgets the rows among those put aside that pick names. With again
// they are put into the spool first, to be sent by who next works on it. It
// returns them.
func DropAside(dir string, again bool, pick func(AsideRow) bool) ([]AsideRow, error) {
	path := filepath.Join(dir, asideFile)
	if _, err := os.Stat(path); err != nil {
		return nil, nil
	}
	f, err := lockAside(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := readAside(f)
	if err != nil {
		return nil, err
	}
	var keep []byte
	var gone []AsideRow
	for _, r := range all {
		if pick(r) {
			gone = append(gone, r)
			continue
		}
		m := value.MapOf("kind", r.Kind, "why", r.Why, "at", r.At, "data", r.Data)
		keep = append(append(keep, value.EncodeJSON(m)...), '\n')
	}
	if len(gone) == 0 {
		return nil, nil
	}
	if again {
		p := spool{dir: dir}
		for _, r := range gone {
			if p.add(r.Kind, value.EncodeJSON(r.Data)) == 0 {
				err := p.fault()
				p.drop()
				return nil, err
			}
		}
		p.close() // the rows stay in it: none was taken
	}
	if len(keep) == 0 {
		return gone, os.Remove(path)
	}
	next := path + ".new"
	if err := writeSynced(next, keep); err != nil {
		return nil, err
	}
	return gone, os.Rename(next, path)
}

// writeSynced writes a file that is on disk when it is back.
func writeSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
