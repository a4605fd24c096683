package shared_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
	"brine/internal/testkit/sharedtest"
)

func opened(t *testing.T, dir string) *shared.Store {
	t.Helper()
	s, err := shared.Open(t.Context(), shared.Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sharedtest.Store(t, func() *shared.Store { return opened(t, dir) })
}

// said collects warnings.
type said struct {
	mu   sync.Mutex
	text string
}

func (s *said) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += text + "\n"
}

func (s *said) has(part string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text, part)
}

func controller(dir string, out *said, lease time.Duration) *shared.Controller {
	return &shared.Controller{
		Open:    func(ctx context.Context) (*shared.Store, error) { return shared.Open(ctx, shared.Path(dir)) },
		Records: true, Owner: "zoe@ctl", Warn: out.add,
		Self: shared.Run{Controller: "ctl", Host: "machine", PID: 7, Lease: lease},
	}
}

func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come", what)
		}
	}
}

const jid = "20261121090807000001"

// A lock that is broken is noticed at a heartbeat, and told of loudly.
func TestBrokenLockIsNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out said
	c := controller(dir, &out, time.Minute/10)
	defer c.Close()
	h, err := c.Take(t.Context(), shared.Lock{Name: "orch", JID: jid}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if why := h.Lost(); why != "" {
		t.Fatal(why)
	}
	s := opened(t, dir)
	defer s.Close()
	if err := s.Drop(t.Context(), "orch", jid); err != nil {
		t.Fatal(err)
	}
	wait(t, "the loss", func() bool { return h.Lost() != "" })
	if !out.has("THE LOCK orch OF JOB "+jid+" IS LOST") || !strings.Contains(h.Lost(), "lock.break") {
		t.Errorf("said %q, %q", out.text, h.Lost())
	}
}

// A store that is away for longer than the lease loses the lock, and nobody has to
// wait for a heartbeat to know it.
func TestStoreThatIsAwayLosesLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out said
	var away sync.Mutex
	var store *shared.Store
	c := controller(dir, &out, 2*time.Second)
	open := c.Open
	c.Open = func(ctx context.Context) (*shared.Store, error) {
		s, err := open(ctx)
		away.Lock()
		store = s
		away.Unlock()
		return s, err
	}
	defer c.Close()
	h, err := c.Take(t.Context(), shared.Lock{Name: "orch", JID: jid}, nil)
	if err != nil {
		t.Fatal(err)
	}
	away.Lock()
	_ = store.Close() // whatever it is asked from now on fails
	away.Unlock()
	wait(t, "the loss", func() bool { return h.Lost() != "" })
	if !strings.Contains(h.Lost(), "its database has not answered for") || !out.has("No new step begins") {
		t.Errorf("said %q, %q", out.text, h.Lost())
	}
}

// What a controller records of an orchestration is in the store before Note is back;
// of other jobs, only those that last.
func TestRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out said
	c := controller(dir, &out, time.Minute/30)
	s := opened(t, dir)
	defer s.Close()
	orch := c.Record(jobs.Load{JID: jid, Fun: "runner.state.orchestrate", Minions: []string{"ctl"}}, jobs.Nothing{})
	for _, kind := range []string{"definition", "step", "worker"} {
		if err := orch.Note(kind, value.MapOf("tag", "a", "sls", "orch", "return", value.MapOf("result", true))); err != nil {
			t.Fatal(err)
		}
	}
	j, err := s.Job(t.Context(), jid)
	if err != nil || j == nil || j.State != jobs.Active || len(j.Steps) != 1 || j.Definition.Str("sls") != "orch" {
		t.Fatalf("Job = %+v, %v", j, err)
	}
	const short, long = "20261121090807000002", "20261121090807000003"
	quick := c.Record(jobs.Load{JID: short, Fun: "test.ping"}, jobs.Nothing{})
	slow := c.Record(jobs.Load{JID: long, Fun: "test.sleep"}, jobs.Nothing{})
	if err := errors.Join(quick.Return(fun.Return{ID: "web1"}), quick.End()); err != nil {
		t.Fatal(err)
	}
	known := func(jid string) bool {
		r, err := s.Run(t.Context(), jid)
		if err != nil {
			t.Fatal(err)
		}
		return r != nil
	}
	wait(t, "the note of a job that lasts", func() bool { return known(long) })
	first, err := s.Run(t.Context(), jid)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "a heartbeat", func() bool {
		r, err := s.Run(t.Context(), jid)
		return err == nil && r.LastHeartbeat.After(first.LastHeartbeat)
	})
	if err := errors.Join(slow.End(), orch.End()); err != nil {
		t.Fatal(err)
	}
	if known(short) || known(long) {
		t.Error("jobs that ended are known")
	}
	if j, err := s.Job(t.Context(), jid); err != nil || j == nil || j.State != jobs.Complete {
		t.Errorf("Job = %+v, %v", j, err)
	}
	c.Close()
	if out.text != "" {
		t.Errorf("said %q", out.text)
	}
}

// A store that cannot be reached holds up no job: what it is told waits.
func TestStoreThatComesLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out said
	c := controller(dir, &out, time.Minute/10)
	open := c.Open
	var mu sync.Mutex
	up := false
	c.Open = func(ctx context.Context) (*shared.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if !up {
			return nil, errors.New("no route to it")
		}
		return open(ctx)
	}
	if _, err := c.Take(t.Context(), shared.Lock{Name: "orch", JID: jid}, nil); err == nil || !strings.Contains(err.Error(), "no route to it") {
		t.Errorf("Take = %v", err)
	}
	r := c.Record(jobs.Load{JID: jid, Fun: "runner.state.orchestrate"}, jobs.Nothing{})
	for _, kind := range []string{"definition", "step"} {
		if err := r.Note(kind, value.MapOf("tag", "a", "sls", "orch", "return", value.MapOf("result", true))); err != nil {
			t.Fatal(err)
		}
	}
	if !out.has("no route to it") || strings.Count(out.text, "\n") != 1 {
		t.Errorf("said %q", out.text)
	}
	mu.Lock()
	up = true
	mu.Unlock()
	s := opened(t, dir)
	defer s.Close()
	wait(t, "what waits", func() bool {
		j, err := s.Job(t.Context(), jid)
		return err == nil && j != nil && len(j.Steps) == 1
	})
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// What a store has not taken at the end is told of: only this machine has it.
func TestStoreThatNeverComes(t *testing.T) {
	t.Parallel()
	var out said
	c := controller(t.TempDir(), &out, time.Minute)
	c.Open = func(context.Context) (*shared.Store, error) { return nil, errors.New("no route to it") }
	r := c.Record(jobs.Load{JID: jid, Fun: "runner.state.orchestrate"}, jobs.Nothing{})
	if err := errors.Join(r.Note("definition", value.MapOf("sls", "orch")), r.End()); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if !out.has("has not all of the record of job " + jid + ": resume it on this machine") {
		t.Errorf("said %q", out.text)
	}
}

// A file that is none of SQLite's is an error that names it.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	if _, err := shared.Open(t.Context(), filepath.Join("/dev/null", "locks.db")); err == nil {
		t.Error("a file below a device is opened")
	}
}
