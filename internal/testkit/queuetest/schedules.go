package queuetest

import (
	"errors"
	"strings"
	"sync"
	"time"

	"brine/internal/fleet/queue"
)

// schedules: a time of a schedule becomes one entry however many workers try, and what does
// not become one is noted.
func (x *tester) schedules(open func() *queue.Store) {
	x.Helper()
	s := x.addSchedule("weekly")
	if err := x.s.AddSchedule(x.Context(), s); !errors.Is(err, queue.ErrExists) {
		x.Errorf("the same name again: %v", err)
	}
	x.fireAtOnce(open, s)
	x.overlaps(x.schedule("weekly"))
	x.pauses(x.schedule("weekly"))
	x.keepsResult()
	x.otherSchedules()
	x.setBack()
	x.must(x.s.RemoveSchedule(x.Context(), "weekly"))
	for _, err := range []error{
		x.s.RemoveSchedule(x.Context(), "weekly"), x.s.PauseSchedule(x.Context(), "weekly"), x.s.ResumeSchedule(x.Context(), "weekly", time.Now(), time.Now()),
	} {
		if !errors.Is(err, queue.ErrNone) {
			x.Errorf("a schedule that was removed: %v", err)
		}
	}
}

// addSchedule adds a schedule of a chain that is due.
func (x *tester) addSchedule(name string) *queue.Schedule {
	x.Helper()
	now, err := x.s.Now(x.Context())
	x.must(err)
	due := now.Add(-time.Second)
	s := &queue.Schedule{
		Name: name, Queue: "sched", Work: &queue.Work{Chain: "deploy"}, Recurrence: "every 1h", Zone: "UTC", Overlap: queue.OverlapSkip, Missed: queue.MissedSkip,
		User: "zoe", Controller: "ctl", Created: now, Planned: due, Due: due,
	}
	x.must(x.s.AddSchedule(x.Context(), s))
	return s
}

// schedule returns a schedule.
func (x *tester) schedule(name string) *queue.Schedule {
	x.Helper()
	all, err := x.s.Schedules(x.Context(), name)
	x.must(err)
	if len(all) != 1 {
		x.Fatalf("%d schedules have the name %s", len(all), name)
	}
	return all[0]
}

// firing is that of a schedule whose next time is due at once.
func (x *tester) firing(s *queue.Schedule) queue.Firing {
	next := s.Planned.Add(time.Microsecond)
	return queue.Firing{Time: s.Planned, Planned: next, Due: next, JID: x.jid()}
}

// fireAtOnce: many workers handle a time, and one entry comes of it.
func (x *tester) fireAtOnce(open func() *queue.Store, want *queue.Schedule) {
	x.Helper()
	due, err := x.s.DueSchedules(x.Context(), "sched")
	x.must(err)
	if len(due) != 1 || due[0].Name != want.Name || due[0].Work == nil || due[0].Work.Chain != "deploy" || !due[0].Created.Equal(want.Created) || !due[0].Due.Equal(want.Due) {
		x.Fatalf("due is %+v", due)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	added := 0
	for range 10 {
		s, f := open(), x.firing(due[0])
		wg.Go(func() {
			out, err := s.Fire(x.Context(), due[0], f)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				x.Errorf("Fire: %v", err) // no worker is to be refused, SQLite waits as well
			case out.Entry != nil:
				added++
			case !out.Known:
				x.Errorf("a worker leaves the time out: %s", out.Skip)
			}
		})
	}
	wg.Wait()
	if n, _, err := x.s.Waiting(x.Context(), "sched"); added != 1 || n != 1 || err != nil {
		x.Errorf("%d workers added an entry, and %d wait; %v", added, n, err)
	}
}

// setBack: a time comes again, because the clock was set back. It does not run again, and
// the schedule goes on.
func (x *tester) setBack() {
	x.Helper()
	s := x.schedule(x.addSchedule("back").Name)
	f := x.firing(s)
	out, err := x.s.Fire(x.Context(), s, f)
	x.must(err)
	if out.Entry == nil {
		x.Fatalf("the first run is %+v", out)
	}
	x.must(x.s.PauseSchedule(x.Context(), s.Name))
	x.must(x.s.ResumeSchedule(x.Context(), s.Name, s.Planned, s.Due))
	f.JID, f.MayHaveBehind = x.jid(), true
	out, err = x.s.Fire(x.Context(), s, f)
	x.must(err)
	if out.Entry != nil || out.Skip != "it was queued before" {
		x.Errorf("the same time again is %+v", out)
	}
	if now := x.schedule(s.Name); !now.Planned.Equal(f.Planned) || now.Skips != 1 {
		x.Errorf("the schedule afterwards is %+v", now)
	}
	x.must(x.s.RemoveSchedule(x.Context(), s.Name))
}

// overlaps: a run that has not ended keeps the next one from beginning.
func (x *tester) overlaps(s *queue.Schedule) {
	x.Helper()
	if s.Result == nil || s.Result.State != queue.Queued || s.Result.SLS != "deploy" || s.Result.Version != queue.ChainVersion || s.Last.IsZero() {
		x.Fatalf("the last run is %+v", s.Result)
	}
	out, err := x.s.Fire(x.Context(), s, x.firing(s))
	x.must(err)
	if out.Entry != nil || !strings.Contains(out.Skip, s.LastJID) {
		x.Errorf("a run beside another one is %+v", out)
	}
	s = x.schedule(s.Name)
	if s.Skips != 1 || !strings.Contains(s.Why, s.LastJID) || s.Skipped.IsZero() {
		x.Errorf("what was left out is noted as %+v", s)
	}
	f := x.firing(s)
	f.MayHaveBehind = true
	out, err = x.s.Fire(x.Context(), s, f)
	x.must(err)
	if out.Entry == nil {
		x.Fatalf("a run behind another one is %+v", out)
	}
	first := x.take("sched", "w1", time.Minute)
	if first == nil || first.Work.Chain != "deploy" || x.take("sched", "w2", time.Minute) != nil {
		x.Fatalf("runs of a schedule do not wait for each other: %+v", first)
	}
	x.must(x.s.End(x.Context(), first, queue.Outcome{State: queue.Done}))
	second := x.take("sched", "w2", time.Minute)
	if second == nil || second.JID != out.Entry.JID {
		x.Fatalf("the second run is %+v", second)
	}
	x.must(x.s.End(x.Context(), second, queue.Outcome{State: queue.Failed, Error: "broken"}))
}

// pauses: what is paused is not due, and what was missed is noted.
func (x *tester) pauses(s *queue.Schedule) {
	x.Helper()
	for range 2 {
		x.must(x.s.PauseSchedule(x.Context(), s.Name))
	}
	if due, err := x.s.DueSchedules(x.Context(), "sched"); err != nil || len(due) != 0 || !x.schedule(s.Name).Paused {
		x.Errorf("a paused schedule: %v, %v", due, err)
	}
	if out, err := x.s.Fire(x.Context(), s, x.firing(s)); err != nil || !out.Known {
		x.Errorf("a schedule that was paused meanwhile: %+v, %v", out, err)
	}
	x.must(x.s.ResumeSchedule(x.Context(), s.Name, s.Planned, s.Due))
	f := x.firing(s)
	f.Skip, f.Missed = "nobody was there", 3
	out, err := x.s.Fire(x.Context(), s, f)
	x.must(err)
	if s = x.schedule(s.Name); out.Skip != f.Skip || s.Skips != 5 || s.Why != f.Skip {
		x.Errorf("missed times are %+v, noted as %+v", out, s)
	}
}

// keepsResult: the last entry of a schedule stays when old ones are removed.
func (x *tester) keepsResult() {
	x.Helper()
	x.exec("UPDATE brine_queue SET ended = 1 WHERE queue = 'sched'")
	x.must(x.s.Clean(x.Context(), time.Hour, time.Hour))
	if s := x.schedule("weekly"); s.Result == nil || s.Result.State != queue.Failed || s.Result.Error != "broken" {
		x.Errorf("the last result is %+v", s.Result)
	}
	if all, err := x.s.List(x.Context(), queue.Query{Queue: "sched"}); err != nil || len(all) != 1 {
		x.Errorf("%d entries stay, %v", len(all), err)
	}
}

// otherSchedules: those that somebody else wrote do no harm.
func (x *tester) otherSchedules() {
	x.Helper()
	x.addSchedule("bad")
	x.exec("UPDATE brine_queue_schedules SET payload = 'x' WHERE name = 'bad'")
	if s := x.schedule("bad"); s.Work != nil {
		x.Errorf("what is not valid runs %+v", s.Work)
	}
	x.exec("UPDATE brine_queue_schedules SET version = 99 WHERE name = 'bad'")
	due, err := x.s.DueSchedules(x.Context(), "sched")
	x.must(err)
	for _, s := range due {
		if s.Name == "bad" {
			x.Error("a schedule of a newer version is due")
		}
	}
	x.must(x.s.RemoveSchedule(x.Context(), "bad"))
}
