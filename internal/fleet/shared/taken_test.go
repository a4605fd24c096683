package shared

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

const one, two, three = "20261121090807000001", "20261121090807000002", "20261121090807000003"

// controllerOf returns a controller whose store is there from the time that up is set.
func controllerOf(t *testing.T) (c *Controller, s *Store, up *atomic.Bool) {
	t.Helper()
	open := func(ctx context.Context) (*Store, error) { return Open(ctx, Path(t.TempDir())) }
	s, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	up = &atomic.Bool{}
	c = &Controller{
		Open: func(context.Context) (*Store, error) {
			if !up.Load() {
				return nil, errors.New("no route to it")
			}
			return New(s.db, s.d, func() error { return nil }), nil
		},
		Records: true, Warn: func(text string) { t.Log(text) },
		Self: Run{Controller: "ctl", Host: "machine", PID: 7, Lease: time.Second},
	}
	t.Cleanup(c.Close)
	return c, s, up
}

func ended(t *testing.T, s *Store, jid string, steps ...string) *jobs.Job {
	t.Helper()
	r := Run{JID: jid, Load: value.NewMap(0), Lease: time.Hour}
	err := s.BeginNote(t.Context(), r, 0, "definition", value.MapOf("sls", "orch"))
	for n, tag := range steps {
		err = errors.Join(err, s.Note(t.Context(), jid, n+1, "step", value.MapOf("tag", tag, "return", value.MapOf("result", true))))
	}
	if err = errors.Join(err, s.End(t.Context(), jid)); err != nil {
		t.Fatal(err)
	}
	j, err := s.Job(t.Context(), jid)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come", what)
		}
	}
}

// A run that goes on with another one while the store is away claims it as soon as the
// store is there, with all that it did meanwhile. Until then it is behind.
func TestResumeWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	c, s, up := controllerOf(t)
	j := ended(t, s, one, "a", "b")
	r := c.Record(jobs.Load{JID: two, Fun: "runner.state.orchestrate"}, jobs.Nothing{})
	if _, err := c.Resume(two, []string{one}, j); !errors.Is(err, ErrDown) {
		t.Fatalf("Resume = %v", err)
	}
	if err := r.Note("step", value.MapOf("tag", "c", "return", value.MapOf("result", true))); err != nil {
		t.Fatal(err)
	}
	if !c.Behind() || c.Taken() != "" {
		t.Errorf("Behind = %t, Taken = %q", c.Behind(), c.Taken())
	}
	up.Store(true)
	until(t, "what waits", func() bool { return !c.Behind() })
	got, err := s.Job(t.Context(), two)
	if err != nil || got.Prefix() != 3 {
		t.Errorf("the store has %+v, %v", got, err)
	}
	if old, err := s.Run(t.Context(), one); err != nil || old.ResumedBy != two || c.Taken() != "" {
		t.Errorf("the first run is %+v, %v; Taken = %q", old, err, c.Taken())
	}
}

// Where another run was faster, the one that could not ask begins no new step.
func TestResumeThatAnotherTook(t *testing.T) {
	t.Parallel()
	c, s, up := controllerOf(t)
	j := ended(t, s, one, "a")
	c.Record(jobs.Load{JID: two, Fun: "runner.state.orchestrate"}, jobs.Nothing{})
	if _, err := c.Resume(two, []string{one}, j); !errors.Is(err, ErrDown) {
		t.Fatalf("Resume = %v", err)
	}
	if err := s.Resume(t.Context(), Run{JID: three, Load: value.NewMap(0)}, []string{one}, j); err != nil {
		t.Fatal(err)
	}
	up.Store(true)
	until(t, "the loss", func() bool { return c.Taken() != "" })
	if !strings.Contains(c.Taken(), "go on with job "+three) {
		t.Errorf("Taken = %q", c.Taken())
	}
}

// A run that was not heard of for longer than its lease notices that another one goes on
// with it, before it begins a new step.
func TestTaken(t *testing.T) {
	t.Parallel()
	c, s, up := controllerOf(t)
	c.Self.Lease = time.Hour
	up.Store(true)
	r := c.Record(jobs.Load{JID: two, Fun: "runner.state.orchestrate"}, jobs.Nothing{})
	if err := r.Note("definition", value.MapOf("sls", "orch")); err != nil {
		t.Fatal(err)
	}
	s.Dead = func(string) bool { return true }
	if err := s.Resume(t.Context(), Run{JID: three, Load: value.NewMap(0)}, []string{two}, nil); err != nil {
		t.Fatal(err)
	}
	if why := c.Taken(); why != "" {
		t.Errorf("with a heartbeat that is new, Taken = %q", why)
	}
	c.mu.Lock()
	c.beaten = time.Now().Add(-2 * time.Hour)
	c.mu.Unlock()
	if why := c.Taken(); !strings.Contains(why, "job "+three+" goes on with it") {
		t.Errorf("Taken = %q", why)
	}
}
