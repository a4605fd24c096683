package queuetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

// bring brings an event, and returns its jid and what became of it.
func (x *tester) bring(name, tag string, n int64, a queue.Arrival) (string, queue.Decision) {
	x.Helper()
	e := Entry(x.jid(), name)
	e.Work = &queue.Work{Event: &queue.Event{Tag: tag, Data: value.MapOf("n", n, "text", "é ' \" \\ ? $1 \U0001f9c2")}}
	if a.Key == "" {
		a.Key = queue.Key(tag, fmt.Sprint(n))
	}
	if a.MaxWaiting == 0 {
		a.MaxWaiting = 1000
	}
	decision, err := x.s.Bring(x.Context(), e, a)
	x.must(err)
	return e.JID, decision
}

// stream: how far a stream was brought moves with nothing but itself, and never back; what is
// too old when it is read is not taken, unless it is known.
func (x *tester) stream() {
	x.Helper()
	if at, err := x.s.Reached(x.Context(), "stream"); err != nil || !at.IsZero() {
		x.Errorf("Reached of a queue of which nobody said it = %v, %v", at, err)
	}
	come := time.UnixMicro(1_700_000_000_000_001).UTC()
	x.must(x.s.Reach(x.Context(), "stream", come))
	x.must(x.s.Reach(x.Context(), "stream", come.Add(-time.Hour)))
	x.must(x.s.Reach(x.Context(), "others", come.Add(time.Hour)))
	x.bring("stream", "deploy/a", 1, queue.Arrival{Refuse: "no"})
	for _, want := range []queue.Decision{queue.NotTaken, queue.Known} {
		if _, decision := x.bring("stream", "deploy/a", 2, queue.Arrival{Late: true, Refuse: "too deep"}); decision != want {
			x.Errorf("a late event is %d; want %d", decision, want)
		}
	}
	if _, decision := x.bring("stream", "deploy/a", 1, queue.Arrival{Late: true}); decision != queue.Known {
		x.Errorf("a late event that was brought is %d", decision)
	}
	e := &queue.Entry{JID: x.jid(), Queue: "stream", User: "zoe", SLS: "deploy/a"}
	if n, err := x.s.NoteNotTaken(x.Context(), e, []string{queue.Key("deploy/a", "2")}, time.Hour, func(int64) string { return "too old" }); n != 1 || err != nil {
		x.Errorf("NoteNotTaken = %d, %v", n, err)
	}
	x.must(x.s.Clean(x.Context(), time.Microsecond, time.Microsecond))
	if at, err := x.s.Reached(x.Context(), "stream"); err != nil || !at.Equal(come) {
		x.Errorf("Reached = %v, %v; want %v", at, err, come)
	}
}

// events: an event becomes one entry, whoever brings it, which runs at most once.
func (x *tester) events() {
	x.Helper()
	a, decision := x.bring("events", "deploy/a", 1, queue.Arrival{})
	if decision != queue.Added {
		x.Errorf("a new event is %d", decision)
	}
	if _, decision := x.bring("events", "deploy/a", 1, queue.Arrival{}); decision != queue.Known {
		x.Errorf("the same event again is %d", decision)
	}
	if _, decision := x.bring("others", "deploy/a", 1, queue.Arrival{}); decision != queue.Added {
		x.Errorf("the same event in another queue is %d", decision)
	}
	e := x.take("events", "w1", -time.Millisecond)
	if e == nil || e.JID != a || e.Version != queue.EventVersion || e.SLS != "deploy/a" || e.Work.Event == nil || e.Work.Event.Data.At("n") != int64(1) ||
		!strings.HasSuffix(e.Work.Event.Data.Str("text"), "\U0001f9c2") {
		x.Fatalf("the event came back as %+v", e)
	}
	if e := x.take("events", "w2", time.Minute); e != nil {
		x.Errorf("an event whose worker died was claimed: %+v", e)
	}
	if e := x.state(a, queue.Poisoned); !strings.Contains(e.Error, "the worker w1 died with it") {
		x.Errorf("its error is %q", e.Error)
	}
	if state, err := x.s.Retry(x.Context(), a, false); state != queue.Queued || err != nil {
		x.Errorf("Retry = %s, %v", state, err)
	}
	e = x.take("events", "w2", time.Minute)
	if e == nil || e.JID != a {
		x.Fatalf("after Retry: %+v", e)
	}
	x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Done}))
	if _, decision := x.bring("events", "deploy/a", 1, queue.Arrival{}); decision != queue.Known {
		x.Errorf("an event whose entry is done is %d", decision)
	}

	no, decision := x.bring("events", "deploy/a", 2, queue.Arrival{Refuse: "too deep"})
	if e := x.state(no, queue.Refused); decision != queue.Declined || e.Error != "too deep" {
		x.Errorf("a declined event is %d, %+v", decision, e)
	}
	x.must(x.s.Lost(x.Context(), &queue.Entry{JID: x.jid(), Queue: "events", User: "zoe", SLS: "deploy/a"}, "7 events"))
	if l, err := x.s.List(x.Context(), queue.Query{Queue: "events", State: queue.Refused}); err != nil || len(l) != 2 || l[0].Error != "7 events" {
		x.Errorf("List = %v, %v", l, err)
	} else {
		_, err := x.s.Retry(x.Context(), l[0].JID, false)
		x.must(err)
		if e := x.take("events", "w1", time.Minute); e != nil {
			x.Errorf("events that are lost were claimed: %+v", e)
		}
		x.state(l[0].JID, queue.Refused)
	}
	x.trace(a)
	for _, tt := range []struct {
		worker string
		want   bool
	}{{"w1", true}, {"w2", false}, {"w1", true}} {
		if got, err := x.s.Sole(x.Context(), "events", tt.worker); got != tt.want || err != nil {
			x.Errorf("Sole of %s = %v, %v", tt.worker, got, err)
		}
	}
	x.exec("UPDATE brine_queue_events SET created = 1")
	if got, err := x.s.Sole(x.Context(), "events", "w2"); !got || err != nil {
		x.Errorf("Sole of w2 after w1 = %v, %v", got, err)
	}
	x.must(x.s.Clean(x.Context(), time.Hour, time.Hour))
	if _, _, err := x.s.Trace(x.Context(), a); err != nil {
		x.Errorf("the event of an entry that is there was removed: %v", err)
	}
	x.exec("DELETE FROM brine_queue WHERE jid = '" + a + "'")
	x.must(x.s.Clean(x.Context(), time.Hour, time.Hour))
	if _, _, err := x.s.Trace(x.Context(), a); !errors.Is(err, queue.ErrNone) {
		x.Errorf("the event of an entry that was removed: %v", err)
	}
}

// trace: which entries led to an event can be looked up, from both ends.
func (x *tester) trace(first string) {
	x.Helper()
	e := Entry(x.jid(), "trace")
	e.Work = &queue.Work{Event: &queue.Event{Tag: "deploy/b", Data: value.NewMap(0), Cause: []string{first}}}
	if _, err := x.s.Bring(x.Context(), e, queue.Arrival{Key: "b", MaxWaiting: 1}); err != nil {
		x.Fatal(err)
	}
	before, after, err := x.s.Trace(x.Context(), e.JID)
	if err != nil || len(before) != 1 || before[0].JID != first || before[0].Entry == nil || len(after) != 0 {
		x.Errorf("Trace = %v, %v, %v", before, after, err)
	}
	if before, after, err := x.s.Trace(x.Context(), first); err != nil || len(before) != 0 || len(after) != 1 || after[0].JID != e.JID {
		x.Errorf("Trace of the first = %v, %v, %v", before, after, err)
	}
}

// lanes: events of a tag run in their order, one after the other, however many workers
// bring and take them; those of other tags do not wait for them.
func (x *tester) lanes(open func() *queue.Store) {
	x.Helper()
	const workers, tags, each = 4, 3, 8
	var wg sync.WaitGroup
	var mu sync.Mutex
	added := 0
	for range workers { // each hears all, in the same order
		s := open()
		wg.Go(func() {
			for n := range each {
				for tag := range tags {
					e := Entry(x.jid(), "lanes")
					e.Work = &queue.Work{Event: &queue.Event{Tag: fmt.Sprint("tag/", tag), Data: value.MapOf("n", int64(n))}}
					decision, err := s.Bring(x.Context(), e, queue.Arrival{Key: queue.Key(fmt.Sprint(tag, n)), MaxWaiting: 1000})
					if err != nil {
						x.Errorf("Bring: %v", err)
					}
					mu.Lock()
					if decision == queue.Added {
						added++
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if added != tags*each {
		x.Errorf("%d events were added, want %d", added, tags*each)
	}
	got, running := map[string][]int64{}, map[string]bool{}
	for range workers {
		s := open()
		wg.Go(func() {
			for idle := 0; idle < 20; {
				e, err := s.Take(x.Context(), queue.Claim{Queue: "lanes", Worker: x.jid(), Lease: time.Minute, MaxCrashes: 2, NewJID: x.jid}, func(*queue.Entry) {})
				if err != nil {
					x.Errorf("Take: %v", err)
					return
				}
				if e == nil {
					idle++
					time.Sleep(5 * time.Millisecond)
					continue
				}
				n, _ := value.AsInt(e.Work.Event.Data.At("n"))
				mu.Lock()
				if running[e.SLS] {
					x.Errorf("two events of %s run at once", e.SLS)
				}
				running[e.SLS] = true
				got[e.SLS] = append(got[e.SLS], n)
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				running[e.SLS] = false
				mu.Unlock()
				if err := s.End(x.Context(), e, queue.Outcome{State: queue.Done}); err != nil {
					x.Errorf("End: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if want := "map[tag/0:[0 1 2 3 4 5 6 7] tag/1:[0 1 2 3 4 5 6 7] tag/2:[0 1 2 3 4 5 6 7]]"; fmt.Sprint(got) != want {
		x.Errorf("the events ran as %v, want %s", got, want)
	}
	first, _ := x.bring("lanes", "again", 1, queue.Arrival{})
	x.bring("lanes", "again", 2, queue.Arrival{})
	e := x.take("lanes", "w1", time.Minute)
	if e == nil || e.JID != first {
		x.Fatalf("the first one is %+v", e)
	}
	x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Queued, Delay: time.Hour, Uncount: true}))
	if e := x.take("lanes", "w2", time.Minute); e != nil {
		x.Errorf("an event was claimed before the one that waits for its next try: %+v", e)
	}
}

// storm: events that one can stand for are joined while it waits, and no more wait than
// may.
func (x *tester) storm() {
	x.Helper()
	same := queue.Arrival{Same: queue.Key("disk", "web1")}
	first, _ := x.bring("storm", "disk/full", 1, same)
	if _, decision := x.bring("storm", "disk/full", 2, same); decision != queue.Joined {
		x.Errorf("the second event is %d", decision)
	}
	for range 2 {
		if _, decision := x.bring("storm", "disk/full", 2, same); decision != queue.Known {
			x.Errorf("the second event again is %d", decision)
		}
	}
	if e := x.take("storm", "w1", time.Minute); e == nil || e.JID != first {
		x.Fatalf("the entry is %+v", e)
	}
	if _, decision := x.bring("storm", "disk/full", 3, same); decision != queue.Added {
		x.Errorf("an event after the entry began is %d", decision)
	}
	if _, decision := x.bring("storm", "disk/full", 4, queue.Arrival{MaxWaiting: 2}); decision != queue.NotTaken {
		x.Errorf("an event too much is %d", decision)
	}
	if _, decision := x.bring("storm", "disk/full", 4, queue.Arrival{MaxWaiting: 9}); decision != queue.Known {
		x.Errorf("an event that was not taken, again, is %d", decision)
	}
	x.bring("storm", "disk/full", 5, queue.Arrival{Key: "five", MaxWaiting: 2})
	for _, tt := range []struct {
		longer time.Duration
		keys   []string
		want   int64
	}{{time.Hour, nil, 0}, {0, []string{"five", "six"}, 1}, {0, []string{"five"}, 0}, {-time.Second, nil, 1}, {-time.Second, nil, 0}} {
		e := Entry(x.jid(), "storm")
		e.SLS = "disk/full"
		n, err := x.s.NoteNotTaken(x.Context(), e, tt.keys, tt.longer, func(n int64) string { return fmt.Sprint(n, " were not taken") })
		if n != tt.want || err != nil {
			x.Errorf("not taken, of %v for %v: %d, %v, want %d", tt.keys, tt.longer, n, err, tt.want)
		}
		if entry, err := x.s.Entry(x.Context(), e.JID); n > 0 && (err != nil || entry.State != queue.Refused || entry.Error != fmt.Sprint(n, " were not taken")) {
			x.Errorf("what says that %d were not taken is %+v, %v", n, entry, err)
		}
	}
}

// older: the table of a program that knew no events is brought up to date, with what
// waits in it.
func (x *tester) older(open func() *queue.Store) {
	x.Helper()
	jid := x.put("older")
	x.exec("DELETE FROM brine_versions WHERE name = 'queue'")
	x.exec("DROP TABLE brine_queue_events")
	x.exec("DROP INDEX idx_brine_queue_lane")
	x.exec("ALTER TABLE brine_queue DROP COLUMN lane")
	var wg sync.WaitGroup
	for range 3 {
		s := open()
		wg.Go(func() {
			if err := s.Create(x.Context()); err != nil {
				x.Errorf("Create: %v", err)
			}
		})
	}
	wg.Wait()
	if e := x.take("older", "w1", time.Minute); e == nil || e.JID != jid {
		x.Errorf("what waited in an older table is %+v", e)
	}
	if _, decision := x.bring("older", "deploy/a", 1, queue.Arrival{}); decision != queue.Added {
		x.Errorf("an event is %d", decision)
	}
}
