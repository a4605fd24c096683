package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/value"
)

// A picky returner does not want the rows of some ids.
type picky struct {
	bad     func(id string) bool
	partial bool // it tells how many it took before
	rows    []string
	calls   int
}

func (p *picky) Return(_ context.Context, rets []*value.Map) error {
	p.calls++
	for i, r := range rets {
		if id := r.Str("id"); p.bad(id) {
			err := Refused(fmt.Errorf("400: what is %s", id))
			if p.partial {
				return &PartialError{N: i, Err: err}
			}
			return err
		}
		if p.partial {
			p.rows = append(p.rows, r.Str("id"))
		}
	}
	if !p.partial {
		for _, r := range rets {
			p.rows = append(p.rows, r.Str("id"))
		}
	}
	return nil
}

func (p *picky) Close() error { return nil }

// feed hands rows over to a sink of r and returns what it said.
func feed(t *testing.T, dir string, r Returner, ids ...string) (said []string, err error) {
	t.Helper()
	s := &Sink{
		Name: "picky", Spool: dir, Retries: []time.Duration{time.Millisecond}, Warn: func(err error) { said = append(said, err.Error()) },
		Open: func(context.Context) (Returner, error) { return r, nil },
	}
	s.Resend()
	if len(ids) > 0 {
		s.Load(Load{JID: "20261121090807123456"}) // which it has no use for
	}
	for _, id := range ids {
		s.Return(value.MapOf("id", id, "jid", "20261121090807123456"))
	}
	err = s.Close()
	return said, err
}

func left(t *testing.T, dir string) []string {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for i, n := range names {
		names[i] = filepath.Base(n)
	}
	return names
}

func TestRowsThatAreRefusedHoldNobodyUp(t *testing.T) {
	t.Parallel()
	for _, partial := range []bool{false, true} {
		dir := t.TempDir()
		p := &picky{partial: partial, bad: func(id string) bool { return id == "web3" || id == "web7" }}
		var ids []string
		for i := range 9 {
			ids = append(ids, fmt.Sprint("web", i))
		}
		said, err := feed(t, dir, p, ids...)
		if err == nil || err.Error() != "returner picky did not take 2 rows" {
			t.Errorf("Close = %v", err)
		}
		if d := cmp.Diff("web0 web1 web2 web4 web5 web6 web8", strings.Join(p.rows, " ")); d != "" {
			t.Errorf("partial %t: rows (-want +got):\n%s", partial, d)
		}
		if len(said) != 1 || !strings.Contains(said[0], "refused 2 rows: the return of web3 to job 20261121090807123456: 400: what is web3") || !strings.Contains(said[0], "put aside in "+filepath.Join(dir, "refused")) {
			t.Errorf("said %q", said)
		}
		if d := cmp.Diff([]string{"refused"}, left(t, dir)); d != "" {
			t.Errorf("in the spool (-want +got):\n%s", d)
		}
		b, _ := os.ReadFile(filepath.Join(dir, "refused"))
		if n := strings.Count(string(b), "\n"); n != 2 || !strings.Contains(string(b), `"id":"web7"`) {
			t.Errorf("put aside: %s", b)
		}
		// No later run says or tries anything.
		p.calls = 0
		if said, err := feed(t, dir, p); err != nil || len(said) > 0 || p.calls > 0 {
			t.Errorf("the next run: %q, %v, %d calls", said, err, p.calls)
		}
	}
}

// Where nothing is taken the settings may be wrong: nothing is thrown away.
func TestAReturnerThatRefusesAllKeepsAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refuses := true
	p := &picky{bad: func(id string) bool { return refuses || id == "web1" }}
	said, err := feed(t, dir, p, "web1", "web2")
	if err == nil || len(said) != 1 || !strings.Contains(said[0], "sent by the next run") {
		t.Errorf("said %q, %v", said, err)
	}
	said, _ = feed(t, dir, p, "web3")
	if len(said) != 1 || !strings.Contains(said[0], "refused 3 rows") {
		t.Errorf("said %q", said)
	}
	refuses = false
	said, _ = feed(t, dir, p, "web4")
	slices.Sort(p.rows) // runs that overlap keep no order
	if d := cmp.Diff("web2 web3 web4", strings.Join(p.rows, " ")); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if len(said) != 1 || !strings.Contains(said[0], "refused 1 row") || !strings.Contains(said[0], "put aside") {
		t.Errorf("said %q", said)
	}
	if d := cmp.Diff([]string{"refused"}, left(t, dir)); d != "" {
		t.Errorf("in the spool (-want +got):\n%s", d)
	}
}

// A returner that refuses all is not asked for each row.
func TestAReturnerThatRefusesAllHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := &picky{bad: func(string) bool { time.Sleep(time.Second); return true }}
		var ids []string
		for i := range 400 {
			ids = append(ids, fmt.Sprint("web", i))
		}
		said, err := feed(t, dir, p, ids...)
		if err == nil || err.Error() != "returner picky did not take 400 rows" {
			t.Errorf("Close = %v", err)
		}
		if p.calls > 20 || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "400: what is web0; what it did not take is kept") }) {
			t.Errorf("%d calls, said %q", p.calls, said)
		}
		if !Spooled(dir) {
			t.Error("nothing is kept")
		}
	})
}

// A blocked returner takes rows when it is let, and refuses those of an earlier
// run.
type blocked struct {
	picky
	let <-chan struct{}
}

func (b *blocked) Return(ctx context.Context, rets []*value.Map) error {
	<-b.let
	return b.picky.Return(ctx, rets)
}

// What a run hands over while rows of an earlier run are refused may fill the
// queue.
func TestAFullQueueHoldsNoRefusedRowsUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := feed(t, dir, &picky{bad: func(string) bool { return true }}, "old"); err == nil {
		t.Fatal("the row was taken")
	}
	let := make(chan struct{})
	b := &blocked{picky: picky{bad: func(id string) bool { return id == "old" }}, let: let}
	s := &Sink{Name: "blocked", Spool: dir, Open: func(context.Context) (Returner, error) { return b, nil }}
	s.Resend()
	put := make(chan struct{})
	go func() {
		defer close(put)
		for i := range queueLength + 1 {
			s.Return(value.MapOf("id", fmt.Sprint("web", i), "jid", "20261121090807123456"))
		}
	}()
	for { // until the queue is full and somebody waits
		if len(s.items) == queueLength {
			if !s.order.TryLock() {
				break
			}
			s.order.Unlock()
		}
		time.Sleep(time.Millisecond)
	}
	close(let)
	<-put
	if err := s.Close(); err == nil || err.Error() != "returner blocked did not take 1 row" || len(b.rows) != queueLength+1 {
		t.Errorf("Close = %v, %d rows", err, len(b.rows))
	}
}

// A half is a returner whose connection breaks after some rows.
type half struct {
	rows  []string
	after int
}

func (h *half) Return(_ context.Context, rets []*value.Map) error {
	for i, r := range rets {
		if h.after == 0 {
			h.after = -1
			return &PartialError{N: i, Err: errors.New("broken pipe")}
		}
		h.after--
		h.rows = append(h.rows, r.Str("id"))
	}
	return nil
}

func (h *half) Close() error { return nil }

func TestRowsThatWereTakenDoNotComeAgain(t *testing.T) {
	t.Parallel()
	h := &half{after: 2}
	dir := t.TempDir()
	if said, err := feed(t, dir, h, "web1", "web2", "web3", "web4"); err != nil || len(said) > 0 {
		t.Errorf("said %q, %v", said, err)
	}
	if got := strings.Join(h.rows, " "); got != "web1 web2 web3 web4" {
		t.Errorf("rows %q", got)
	}
	if l := left(t, dir); len(l) > 0 {
		t.Errorf("in the spool: %v", l)
	}
}

// A tired service says when to come again.
type tired struct {
	after time.Duration
	tries int
}

func (d *tired) Error() string             { return "429" }
func (d *tired) RetryAfter() time.Duration { return d.after }
func (d *tired) Close() error              { return nil }
func (d *tired) Return(context.Context, []*value.Map) error {
	if d.tries++; d.tries == 1 {
		return fmt.Errorf("service: %w", d)
	}
	return nil
}

func TestAServiceSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	began := time.Now()
	d := &tired{after: 50 * time.Millisecond}
	if said, err := feed(t, t.TempDir(), d, "web1"); err != nil || len(said) > 0 || d.tries != 2 {
		t.Errorf("said %q, %v, %d tries", said, err, d.tries)
	}
	if took := time.Since(began); took < d.after {
		t.Errorf("it was tried again after %s", took)
	}
	// What is too long to wait for is left to the next run.
	d = &tired{after: time.Hour}
	said, err := feed(t, t.TempDir(), d, "web1")
	if err == nil || d.tries != 1 || len(said) != 1 || !strings.Contains(said[0], "429") || !strings.Contains(said[0], "sent by the next run") {
		t.Errorf("said %q, %v, %d tries", said, err, d.tries)
	}
}

// A stuck returner hangs until its time is over.
type stuck struct{ tries int }

func (s *stuck) Close() error { return nil }
func (s *stuck) Return(ctx context.Context, _ []*value.Map) error {
	s.tries++
	time.Sleep(retryTime + 100*time.Millisecond)
	return os.ErrDeadlineExceeded
}

func TestAReturnerThatHangsIsTriedOnce(t *testing.T) {
	t.Parallel()
	s := &stuck{}
	dir := t.TempDir()
	said, err := feed(t, dir, s, "web1")
	if err == nil || s.tries != 1 || len(said) != 1 || !strings.Contains(said[0], "is down") || !Spooled(dir) {
		t.Errorf("said %q, %v, %d tries", said, err, s.tries)
	}
}

// That a returner hangs is remembered by the runs after, for a while.
func TestAReturnerThatHangsIsLeftAloneByOtherRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mark := filepath.Join(dir, "hung")
	run := func(r Returner, id string) (said []string) {
		s := &Sink{
			Name: "mysql", Spool: filepath.Join(dir, "spool"), Down: mark, Retries: []time.Duration{},
			Warn: func(err error) { said = append(said, err.Error()) },
			Open: func(context.Context) (Returner, error) { return r, nil },
		}
		s.Resend()
		s.Return(value.MapOf("id", id, "jid", "20261121090807123456"))
		_ = s.Close()
		return said
	}
	slow := &slow{}
	if said := run(slow, "web1"); slow.tries != 1 || len(said) != 1 || !strings.Contains(said[0], "is down") {
		t.Errorf("%d tries, said %q", slow.tries, said)
	}
	if said := run(slow, "web2"); slow.tries != 1 || len(said) != 1 || !strings.Contains(said[0], "does not answer, as an earlier run found: i/o timeout; what it is handed is kept in") {
		t.Errorf("%d tries, said %q", slow.tries, said)
	}
	old := time.Now().Add(-hangBackoff)
	if err := os.Chtimes(mark, old, old); err != nil {
		t.Fatal(err)
	}
	f := &fragile{}
	if said := run(f, "web3"); len(said) > 0 || strings.Join(f.rows, " ") != "web1 web2 web3" {
		t.Errorf("rows %q, said %q", f.rows, said)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it is still noted that the returner hangs")
	}
}

// A slow returner is not in time.
type slow struct{ tries int }

func (s *slow) Close() error { return nil }
func (s *slow) Return(context.Context, []*value.Map) error {
	s.tries++
	return os.ErrDeadlineExceeded
}
