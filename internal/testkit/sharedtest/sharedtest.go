// Package sharedtest has what every store that controllers share must do, in any
// database.
package sharedtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
)

// Store tries a store. open opens another connection to it.
func Store(t *testing.T, open func() *shared.Store) {
	t.Helper()
	one, two := opened(t, open), opened(t, open)
	for range 2 {
		if err := one.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	locks(t, one, two)
	atOnce(t, open)
	resumes(t, one, two)
	settles(t, one, two)
	claims(t, open)
	turns(t, open)
	forgets(t, one)
}

// opened opens a connection that is closed at the end of the test.
func opened(t *testing.T, open func() *shared.Store) *shared.Store {
	t.Helper()
	s := open()
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func lock(n int, name string, targets ...string) shared.Lock {
	return shared.Lock{Name: name, JID: jid(n), Targets: targets, Owner: "zoe@ctl", PID: n, Controller: "ctl", Lease: time.Hour}
}

func jid(n int) string { return fmt.Sprintf("20261121090807%06d", n) }

func locks(t *testing.T, one, two *shared.Store) {
	t.Helper()
	ctx := t.Context()
	take := func(s *shared.Store, l shared.Lock, own ...string) string {
		t.Helper()
		err := s.Take(ctx, l, own)
		if err == nil {
			return ""
		}
		if held, is := errors.AsType[*shared.HeldError](err); is {
			return strings.Join(append([]string{held.By.JID}, held.Common...), " ")
		}
		return err.Error()
	}
	const odd = "orch ' \" \\ % é \U0001f9c2"
	for _, tt := range []struct {
		name string
		s    *shared.Store
		l    shared.Lock
		own  []string
		want string
	}{
		{name: "first", s: one, l: lock(1, "orch", "web1", "web2")},
		{name: "a target in common", s: two, l: lock(2, "orch", "web2", "web3"), want: jid(1) + " web2"},
		{name: "other targets", s: two, l: lock(3, "orch", "web3")},
		{name: "all targets", s: two, l: lock(4, "orch"), want: jid(1) + " web1 web2"},
		{name: "another name", s: two, l: lock(5, odd)},
		{name: "all of both", s: one, l: lock(6, odd), want: jid(5)},
		{name: "a step of the holder", s: one, l: lock(7, odd), own: []string{jid(5)}},
	} {
		if got := take(tt.s, tt.l, tt.own...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	all, err := one.Locks(ctx)
	if err != nil || len(all) != 4 {
		t.Fatalf("Locks = %v, %v", all, err)
	}
	for _, l := range all {
		if l.JID == jid(1) && (l.Owner != "zoe@ctl" || l.PID != 1 || len(l.Targets) != 2 || l.Expired || l.Age > time.Hour) {
			t.Errorf("lock = %+v", l)
		}
	}
	if mine, err := one.Beat(ctx, "orch", jid(1)); err != nil || !mine {
		t.Errorf("Beat = %t, %v", mine, err)
	}
	if err := two.Drop(ctx, "orch", jid(1)); err != nil {
		t.Error(err)
	}
	if mine, err := one.Beat(ctx, "orch", jid(1)); err != nil || mine {
		t.Errorf("Beat of a lock that was broken = %t, %v", mine, err)
	}
	lapsed := lock(8, "orch", "web1")
	lapsed.Lease = 0
	if got := take(one, lapsed); got != "" {
		t.Error(got)
	}
	for end := time.Now().Add(time.Minute); take(two, lock(9, "orch", "web1")) != ""; {
		if time.Now().After(end) {
			t.Fatal("a lock whose lease is over is not taken")
		}
	}
	if mine, err := one.Beat(ctx, "orch", jid(8)); err != nil || mine {
		t.Errorf("Beat of a lock that another took = %t, %v", mine, err)
	}
	two.Dead = func(id string) bool { return id == jid(9) }
	if got := take(two, lock(10, "orch", "web1")); got != "" {
		t.Errorf("the lock of a process that is gone: %s", got)
	}
	two.Dead = nil
}

// atOnce has many controllers take one lock: one gets it.
func atOnce(t *testing.T, open func() *shared.Store) {
	t.Helper()
	const rivals = 8
	var wg sync.WaitGroup
	errs := make([]error, rivals)
	for i := range rivals {
		s := opened(t, open)
		wg.Go(func() { errs[i] = s.Take(t.Context(), lock(100+i, "rivals", "web1", fmt.Sprint("web", i)), nil) })
	}
	wg.Wait()
	got := 0
	for _, err := range errs {
		if err == nil {
			got++
		} else if _, held := errors.AsType[*shared.HeldError](err); !held {
			t.Error(err)
		}
	}
	if got != 1 {
		t.Errorf("%d rivals have the lock", got)
	}
}

func run(n int) shared.Run {
	load := value.MapOf("jid", jid(n), "fun", "runner.state.orchestrate", "arg", value.Strings("orch é"), "Minions", value.Strings("ctl"))
	return shared.Run{JID: jid(n), Load: load, Controller: "ctl", Host: "machine", Cache: "/var/cache/brine", PID: n, Lease: time.Hour}
}

func step(tag string, result value.Value, comment string) *value.Map {
	return value.MapOf("tag", tag, "return", value.MapOf("result", result, "comment", comment))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outcome is the steps of a job with their results.
func outcome(t *testing.T, s *shared.Store, n int) string {
	t.Helper()
	j, err := s.Job(t.Context(), jid(n))
	if err != nil || j == nil {
		t.Fatalf("Job(%d) = %v, %v", n, j, err)
	}
	out := []string{j.State.String(), j.Definition.Str("sls")}
	for _, x := range j.Steps {
		out = append(out, x.Str("tag")+"="+value.Str(x.Map("return").At("result")))
	}
	return strings.Join(out, " ")
}

func resumes(t *testing.T, one, two *shared.Store) {
	t.Helper()
	ctx := t.Context()
	long := strings.Repeat("é \U0001f9c2 \" ' \\ \x00", 40000)
	r := run(20)
	for range 2 {
		check(t, one.Begin(ctx, r))
		check(t, one.Note(ctx, r.JID, 0, "definition", value.MapOf("sls", "orch")))
		check(t, one.Note(ctx, r.JID, 1, "step", step("a", true, long)))
		check(t, one.Note(ctx, r.JID, 2, "step", step("b", false, "")))
		check(t, one.Note(ctx, r.JID, 3, "step", step("c", true, "")))
	}
	if got := outcome(t, two, 20); got != "running orch a=True b=False c=True" {
		t.Errorf("job = %s", got)
	}
	j, err := two.Job(ctx, r.JID)
	check(t, err)
	if got := j.Steps[0].Map("return").Str("comment"); got != long {
		t.Errorf("a long return came back with %d bytes of %d", len(got), len(long))
	}
	if got := value.Str(j.Load.List("arg").Items[0]); got != "orch é" || !strings.Contains(j.Where, "pid 20 on machine") {
		t.Errorf("load = %s, %s", value.Repr(j.Load), j.Where)
	}
	next := run(21)
	next.Resumes = r.JID
	all := []string{r.JID}
	if err := two.Resume(ctx, next, all, j); err == nil || !strings.Contains(err.Error(), "may still be running") {
		t.Errorf("a run that is alive is resumed: %v", err)
	}
	two.Dead = func(id string) bool { return id == r.JID }
	for range 2 {
		for range 2 { // the answer may have been lost
			check(t, two.Resume(ctx, next, all, j))
		}
		if got := outcome(t, one, 21); got != "running orch a=True" {
			t.Errorf("who goes on begins with %s", got)
		}
		third := run(22)
		third.Resumes = r.JID
		if err := two.Resume(ctx, third, all, j); err == nil || !strings.Contains(err.Error(), "--resume "+next.JID) {
			t.Errorf("two go on with one orchestration: %v", err)
		}
		check(t, two.Release(ctx, next, all))
	}
	check(t, two.Resume(ctx, next, all, j))
	two.Dead = nil
	check(t, two.Note(ctx, next.JID, 2, "definition", value.MapOf("sls", "orch2")))
	check(t, two.Note(ctx, next.JID, 3, "step", step("a", true, "")))
	check(t, two.Note(ctx, next.JID, 4, "step", step("b", true, "")))
	check(t, two.End(ctx, next.JID))
	if got := outcome(t, one, 21); got != "complete orch2 a=True b=True" {
		t.Errorf("job = %s", got)
	}
	chain, err := one.Chain(ctx, []string{jid(99), r.JID, next.JID})
	if err != nil || len(chain) != 2 || chain[0].ResumedBy != next.JID || chain[1].JID != next.JID {
		t.Errorf("Chain = %+v, %v", chain, err)
	}
	// A run that the store does not know, such as one whose controller never reached
	// it, hinders nobody, and what is recorded of it elsewhere is in the store then.
	gone := run(23)
	check(t, two.Resume(ctx, gone, []string{jid(99)}, j))
	if got := outcome(t, one, 23); got != "running orch a=True" {
		t.Errorf("who goes on begins with %s", got)
	}
	check(t, two.Forget(ctx, gone.JID))
	check(t, one.Alive(ctx, []string{r.JID, next.JID, jid(99)}))
	open, err := one.Open(ctx, "", jid(1000))
	if err != nil || len(open) != 1 || open[0].JID != r.JID || open[0].ResumedBy != next.JID {
		t.Errorf("Open = %+v, %v", open, err)
	}
}

// settles: what a store could not be told while a run lasted it is told later, unless
// another one has gone on by then.
func settles(t *testing.T, one, two *shared.Store) {
	t.Helper()
	ctx := t.Context()
	r := run(40)
	check(t, one.BeginNote(ctx, r, 0, "definition", value.MapOf("sls", "orch")))
	check(t, one.Note(ctx, r.JID, 1, "step", step("a", true, "")))
	j, err := one.Job(ctx, r.JID)
	check(t, err)
	j.Steps = append(j.Steps, step("b", true, ""), step("c", false, ""))
	j.Pass(value.MapOf("tag", "c", "ids", value.Strings("web1")))
	j.State = jobs.Complete
	for range 2 {
		check(t, two.Settle(ctx, r, j))
		if got := outcome(t, one, 40); got != "complete orch a=True b=True c=False" {
			t.Errorf("after it is settled, the job is %s", got)
		}
	}
	if got, err := one.Job(ctx, r.JID); err != nil || len(got.Passed["c"]) != 1 {
		t.Errorf("after it is settled, Passed is %v, %v", got.Passed, err)
	}
	next := run(41)
	check(t, two.Resume(ctx, next, []string{r.JID}, j))
	j.Steps[2] = step("c", true, "")
	check(t, one.Settle(ctx, r, j))
	if got := outcome(t, one, 40); got != "complete orch a=True b=True c=False" {
		t.Errorf("a run that another one has gone on with is %s", got)
	}
	never := run(42)
	j.JID, j.State = never.JID, jobs.Interrupted
	check(t, one.Settle(ctx, never, j))
	if got := outcome(t, two, 42); got != "interrupted orch a=True b=True c=True" {
		t.Errorf("a run that the store did not know is %s", got)
	}
	for n := 40; n < 43; n++ {
		check(t, one.Forget(ctx, jid(n)))
	}
}

// claims has many controllers go on with one orchestration: one does.
func claims(t *testing.T, open func() *shared.Store) {
	t.Helper()
	ctx := t.Context()
	first := opened(t, open)
	old := run(30)
	check(t, first.BeginNote(ctx, old, 0, "definition", value.MapOf("sls", "orch")))
	check(t, first.End(ctx, old.JID))
	const rivals = 6
	var wg sync.WaitGroup
	errs := make([]error, rivals)
	for i := range rivals {
		s := opened(t, open)
		r := run(31 + i)
		r.Resumes = old.JID
		wg.Go(func() { errs[i] = s.Resume(ctx, r, []string{old.JID}, nil) })
	}
	wg.Wait()
	got := 0
	for _, err := range errs {
		if err == nil {
			got++
		} else if _, claimed := errors.AsType[*shared.ClaimedError](err); !claimed {
			t.Error(err)
		}
	}
	if got != 1 {
		t.Errorf("%d rivals go on with one orchestration", got)
	}
}

// turner is a process that runs scheduled jobs, and its end.
func turner(t *testing.T, open func() *shared.Store, name string, lease time.Duration) (c *shared.Controller, end func()) {
	t.Helper()
	c = &shared.Controller{
		Open: func(context.Context) (*shared.Store, error) { return open(), nil },
		Self: shared.Run{Controller: name, Host: "host of " + name, PID: 7, Lease: lease}, Owner: "zoe@" + name, Warn: func(text string) { t.Log(text) },
	}
	end = sync.OnceFunc(c.Close)
	t.Cleanup(end)
	return c, end
}

// turn is "" where a controller may run a job, else what it says.
func turn(t *testing.T, c *shared.Controller, j shared.Turn) string {
	t.Helper()
	err := c.Turn(t.Context(), j)
	if taken, is := errors.AsType[*shared.TurnError](err); is {
		return taken.Text
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

func turns(t *testing.T, open func() *shared.Store) {
	t.Helper()
	one, end := turner(t, open, "one", time.Hour)
	two, _ := turner(t, open, "two", time.Hour)
	wants := func(what string, c *shared.Controller, j shared.Turn, want string) {
		t.Helper()
		if got := turn(t, c, j); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	due := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	at := func(name string, n int) shared.Turn {
		return shared.Turn{Name: name, Due: due.Add(time.Duration(n) * time.Hour), Most: 1}
	}
	const odd = "job ' \" \\ % é \U0001f9c2"
	wants("the first", one, at(odd, 0), "")
	wants("its time again", two, at(odd, 0), "controller one (host of one) has run it for ")
	wants("a time before", two, at(odd, -1), "controller one")
	wants("another job", two, at("other", 0), "")
	wants("the next time, while the first is under way", two, at(odd, 1), "1 of it run already")
	if j := at(odd, 1); true {
		j.Most = 2
		wants("two may be under way", two, j, "")
	}
	end()
	one, end = turner(t, open, "one", time.Hour)
	wants("the time of a job that ended", one, at("ended", 0), "")
	end()
	wants("that time again", two, at("ended", 0), "s ago")
	wants("its next time", two, at("ended", 1), "")

	// A controller that died: its time is another's, and it is not under way.
	dead := open()
	gone, _ := turner(t, func() *shared.Store { return dead }, "gone", 100*time.Millisecond)
	wants("the one that dies", gone, at("dies", 0), "")
	_ = dead.Close() // its heartbeats end
	for end := time.Now().Add(time.Minute); turn(t, two, at("dies", 0)) != ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the time of a dead controller stays its own")
		}
	}
	wants("after that", two, at("dies", 0), "controller two")

	every := shared.Turn{Name: "every", Every: time.Hour, Slack: time.Minute, Most: 9}
	wants("an interval", two, every, "")
	wants("within it", two, every, "controller two")
	every.Slack = time.Hour
	wants("after it", two, every, "")

	const rivals = 6
	var wg sync.WaitGroup
	var got [rivals]error
	for i := range rivals {
		c, _ := turner(t, open, fmt.Sprint("rival", i), time.Hour)
		wg.Go(func() { got[i] = c.Turn(t.Context(), at("rivals", 0)) })
	}
	wg.Wait()
	ran := 0
	for _, err := range got {
		if err == nil {
			ran++
		} else if _, is := errors.AsType[*shared.TurnError](err); !is {
			t.Error(err)
		}
	}
	if ran != 1 {
		t.Errorf("%d of %d rivals run a job", ran, rivals)
	}
}

func forgets(t *testing.T, s *shared.Store) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	check(t, s.Forget(ctx, jid(21)))
	if j, err := s.Job(ctx, jid(21)); j != nil || err != nil {
		t.Errorf("a job that was forgotten = %v, %v", j, err)
	}
	check(t, s.Clean(ctx, time.Hour))
	if r, err := s.Run(ctx, jid(20)); r == nil || err != nil {
		t.Errorf("a clean-up of what is old removed what is new: %v", err)
	}
	check(t, s.Clean(ctx, -time.Hour))
	if r, err := s.Run(ctx, jid(20)); r != nil || err != nil {
		t.Errorf("a clean-up left %+v, %v", r, err)
	}
	if j, err := s.Job(ctx, jid(20)); j != nil || err != nil {
		t.Errorf("a clean-up left %v, %v", j, err)
	}
}
