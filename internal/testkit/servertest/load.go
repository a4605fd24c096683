package servertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// Soak reports whether tests are to run with their full counts.
func Soak() bool { return os.Getenv("BRINE_SOAK") != "" }

// count is a count of a test: small, unless it is a soak.
func count(small, full int) int {
	if Soak() {
		return full
	}
	return small
}

func row(jid, id string) *value.Map {
	return value.MapOf(
		"fun_args", value.NewList(), "jid", jid, "return", "some text that a command printed, of the length of a line or so: "+id,
		"retcode", int64(0), "success", true, "cmd", "_return", "_stamp", "2026-11-21T09:08:07.000001", "fun", "cmd.run", "id", id,
	)
}

// stored waits for nothing: it returns how many answers of a job a store has.
func stored(t testing.TB, open func(context.Context) (jobs.Returner, error), jid string) int {
	t.Helper()
	r, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	j, err := r.(jobs.Store).Job(t.Context(), jid)
	if err != nil || j == nil {
		t.Fatalf("job %s = %v, %v", jid, j, err)
	}
	return j.Returns.Len()
}

// Load hands returns to a returner as a run does, by a sink and from many
// goroutines, and logs how many it takes in a second. All of them have to be
// there in the end.
func Load(t *testing.T, name string, open func(context.Context) (jobs.Returner, error)) {
	t.Helper()
	const jid, hands = "20261121090807000011", 32
	n := count(1000, 10000)
	s := &jobs.Sink{Name: name, Open: open, Spool: t.TempDir(), Warn: func(err error) { t.Error(err) }}
	begin := time.Now()
	s.Load(jobs.Load{JID: jid, Fun: "cmd.run", Tgt: "*", TgtType: "glob"})
	var wg sync.WaitGroup
	for h := range hands {
		wg.Go(func() {
			for i := h; i < n; i += hands {
				s.Return(row(jid, fmt.Sprintf("web%d", i)))
			}
		})
	}
	wg.Wait()
	handed := time.Since(begin)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	took := time.Since(begin)
	t.Logf("%s: %d returns in %s, %.0f a second; the run waited %s for its queue", name, n, took.Round(time.Millisecond), float64(n)/took.Seconds(), handed.Round(time.Millisecond))
	if got := stored(t, open, jid); got != n {
		t.Errorf("%s has %d returns of %d", name, got, n)
	}
	if jobs.Spooled(s.Spool) {
		t.Errorf("%s: rows are left in the spool", name)
	}
}

// Outage stops a server while a run hands returns over, and starts it again. The
// next run sends what the server did not take: each return is there once.
func Outage(t *testing.T, name string, srv *Server, open func(context.Context) (jobs.Returner, error)) {
	t.Helper()
	const jid = "20261121090807000012"
	const n = 300
	dir := t.TempDir()
	down := make(chan error, n)
	s := &jobs.Sink{Name: name, Open: open, Spool: dir, Batch: 10, Retries: []time.Duration{10 * time.Millisecond}, Warn: func(err error) { down <- err }}
	for i := range n {
		switch i {
		case n / 3:
			srv.Stop()
		case 2 * n / 3:
			select {
			case err := <-down:
				t.Logf("%s: %v", name, err)
			case <-time.After(time.Minute):
				t.Fatalf("%s: the sink does not say that the server is down", name)
			}
			srv.Start(t)
		}
		s.Return(row(jid, fmt.Sprintf("web%d", i)))
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(); err == nil {
		t.Errorf("%s: Close of a sink whose server was down = nil", name)
	}
	drain(name, dir, open)
	if got := stored(t, open, jid); got != n {
		t.Errorf("%s has %d returns of %d", name, got, n)
	}
}

// Killed kills a server at a random moment of a run that hands returns over, and
// starts it again for the next run: BRINE_TEST_KILLS times, else twice. In the end
// each return is stored, once: rows counts those of all jobs whose id begins with
// a prefix; nil is for stores that cannot have a return twice.
func Killed(t *testing.T, name string, srv *Server, open func(context.Context) (jobs.Returner, error), rows func(prefix string) int) {
	t.Helper()
	const prefix, each = "202611220908", 20
	kills := 2
	if n, err := strconv.Atoi(os.Getenv("BRINE_TEST_KILLS")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	jid := func(k int) string { return fmt.Sprintf("%s%08d", prefix, k) }
	first := &jobs.Sink{Name: name, Open: open, Spool: dir, Warn: func(error) {}}
	first.Return(row("20261121090807000014", "web1"))
	_ = first.Close()
	drain(name, dir, open) // a server that is new may not survive to be killed
	begin, cut := time.Now(), 0
	for k := range kills {
		s := &jobs.Sink{Name: name, Open: open, Spool: dir, Batch: 4, Retries: []time.Duration{time.Millisecond}, Warn: func(error) {}}
		s.Resend()
		s.Load(jobs.Load{JID: jid(k), Fun: "cmd.run", Tgt: "*", TgtType: "glob"})
		down := make(chan struct{})
		time.AfterFunc(time.Duration(rand.IntN(each*3/2))*time.Millisecond, func() {
			defer close(down)
			srv.Stop()
		})
		for i := range each {
			s.Return(row(jid(k), fmt.Sprintf("web%d", i)))
			time.Sleep(time.Millisecond)
		}
		if err := s.Close(); err != nil {
			cut++
		}
		<-down
		srv.Start(t)
	}
	drain(name, dir, open)
	r, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	total := 0
	for k := range kills {
		j, err := r.(jobs.Store).Job(t.Context(), jid(k))
		if err != nil || j == nil || j.Returns.Len() != each {
			t.Errorf("%s has job %s as %+v, %v; want %d returns", name, jid(k), j, err, each)
			continue
		}
		total += j.Returns.Len()
	}
	if rows != nil {
		if n := rows(prefix); n != kills*each {
			t.Errorf("%s has %d rows of %d returns", name, n, kills*each)
		}
	}
	t.Logf("%s: killed %d times in %s, %d of the runs could not hand all over; %d returns are stored", name, kills, time.Since(begin).Round(time.Second), cut, total)
}

// drain has runs send what is in a spool. A server listens before it serves: a
// run that comes too early leaves the rows to the one after it.
func drain(name, dir string, open func(context.Context) (jobs.Returner, error)) {
	for end := time.Now().Add(time.Minute); jobs.Spooled(dir) && time.Now().Before(end); {
		next := &jobs.Sink{Name: name, Open: open, Spool: dir}
		next.Resend()
		_ = next.Close()
		if jobs.Spooled(dir) {
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// Large hands a row of size bytes to a returner among others, of the same job and
// of a later run. The others are stored, and the large one is put aside with a
// reason that has want in it.
func Large(t *testing.T, name string, size int, want string, open func(context.Context) (jobs.Returner, error)) {
	t.Helper()
	const jid = "20261121090807000013"
	dir := t.TempDir()
	hand := func(rows ...*value.Map) (said []string) {
		s := &jobs.Sink{Name: name, Open: open, Spool: dir, Warn: func(err error) { said = append(said, err.Error()) }}
		s.Resend()
		for _, r := range rows {
			s.Return(r)
		}
		_ = s.Close()
		return said
	}
	big := row(jid, "big")
	big.Set("return", strings.Repeat("a line of \"text\"\n", size/17))
	if said := hand(row(jid, "web1"), big, row(jid, "web2")); len(said) != 1 || !strings.Contains(said[0], want) || !strings.Contains(said[0], "put aside") {
		t.Errorf("%s said %q", name, said)
	}
	if said := hand(row(jid, "web3")); len(said) > 0 {
		t.Errorf("%s said in the next run %q", name, said)
	}
	if got := stored(t, open, jid); got != 3 {
		t.Errorf("%s has %d returns of 3", name, got)
	}
	aside, err := jobs.Aside(dir)
	if err != nil || len(aside) != 1 || aside[0].Name != jid+"/big" || aside[0].Size < size || !strings.Contains(aside[0].Why, want) {
		t.Errorf("%s: %d rows are aside, %v", name, len(aside), err)
	}
	if jobs.Spooled(dir) {
		t.Errorf("%s: rows are left in the spool", name)
	}
}
