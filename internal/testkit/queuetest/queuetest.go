// Package queuetest has what every store of a queue must do.
package queuetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

// Entry is an entry of a queue that runs the SLS orch.
func Entry(jid, name string) *queue.Entry {
	return &queue.Entry{
		JID: jid, Queue: name, User: "zoe", Controller: "ctl",
		Work: &queue.Work{Args: []value.Value{"orch"}, Kwargs: value.MapOf("pillar", value.MapOf("text", "é ' \" \\ ? $1 \U0001f9c2"))},
	}
}

// A tester tries one store.
type tester struct {
	*testing.T
	s    *queue.Store
	exec func(string)
	ids  jobs.JIDs
}

// Store tries what a queue must do, in any database. The table must be there and
// empty; open opens it once more, and exec runs SQL.
func Store(t *testing.T, open func() *queue.Store, exec func(string)) {
	t.Helper()
	x := &tester{T: t, s: open(), exec: exec}
	x.order()
	x.lease()
	x.retry()
	x.cancel()
	x.hostile()
	x.crowd(open)
	x.clean()
	x.events()
	x.stream()
	x.lanes(open)
	x.storm()
	x.schedules(open)
	x.sinks(open)
	x.approvals(open)
	x.older(open)
}

func (x *tester) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *tester) jid() string { return x.ids.Next(time.Now()) }

func (x *tester) put(name string) string {
	x.Helper()
	jid := x.jid()
	x.must(x.s.Put(x.Context(), Entry(jid, name)))
	return jid
}

// take claims an entry; nil where there is none.
func (x *tester) take(name, worker string, lease time.Duration) *queue.Entry {
	x.Helper()
	e, err := x.s.Take(x.Context(), queue.Claim{Queue: name, Worker: worker, Lease: lease, MaxCrashes: 2, NewJID: x.jid}, func(*queue.Entry) {})
	x.must(err)
	return e
}

// state checks the state of an entry.
func (x *tester) state(jid, want string) *queue.Entry {
	x.Helper()
	e, err := x.s.Entry(x.Context(), jid)
	x.must(err)
	if e.State != want {
		x.Errorf("%s is %s (%s), want %s", jid, e.State, e.Error, want)
	}
	return e
}

// order: entries are claimed in the order in which they came, by queue.
func (x *tester) order() {
	x.Helper()
	if x.take("q", "w1", time.Minute) != nil {
		x.Error("an empty queue has an entry")
	}
	a, b, other := x.put("q"), x.put("q"), x.put("other")
	if err := x.s.Put(x.Context(), Entry(a, "q")); err != nil {
		x.Errorf("the same entry again: %v", err)
	}
	again := Entry(a, "q")
	again.Controller = "another"
	if err := x.s.Put(x.Context(), again); !errors.Is(err, queue.ErrExists) {
		x.Errorf("another entry with a jid that is taken: %v", err)
	}
	e := x.take("q", "w1", time.Minute)
	if e == nil || e.JID != a || e.State != queue.Running || e.User != "zoe" || e.Tries != 1 || fmt.Sprint(e.Runs) != "["+a+"]" ||
		!value.Equal(e.Work.Kwargs, Entry(a, "q").Work.Kwargs) || e.Work.Args[0] != "orch" {
		x.Fatalf("the first entry is %+v, want %s", e, a)
	}
	if d := time.Since(e.Created).Abs(); d > time.Hour {
		x.Errorf("it was created %s ago", d)
	}
	if n, foreign, err := x.s.Waiting(x.Context(), "q"); n != 1 || foreign != 0 || err != nil {
		x.Errorf("Waiting = %d, %d, %v", n, foreign, err)
	}
	if e2 := x.take("q", "w2", time.Minute); e2 == nil || e2.JID != b {
		x.Errorf("the second entry is %+v", e2)
	}
	if x.take("q", "w3", time.Minute) != nil {
		x.Error("an entry was claimed twice")
	}
	if busy, err := x.s.Workers(x.Context(), "q"); err != nil || len(busy) != 2 || busy["w1"] != 1 {
		x.Errorf("Workers = %v, %v", busy, err)
	}
	x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Done}))
	if e := x.state(a, queue.Done); e.Work != nil || e.Ended.IsZero() {
		x.Errorf("what is done keeps its arguments: %+v", e)
	}
	if err := x.s.End(x.Context(), e, queue.Outcome{State: queue.Done}); !errors.Is(err, queue.ErrLost) {
		x.Errorf("End twice = %v", err)
	}
	counts, err := x.s.Stats(x.Context(), "")
	x.must(err)
	if want := fmt.Sprint([]queue.Count{{Queue: "other", State: queue.Queued, N: 1, Oldest: other}, {Queue: "q", State: queue.Done, N: 1, Oldest: a}, {Queue: "q", State: queue.Running, N: 1, Oldest: b}}); fmt.Sprint(counts) != want {
		x.Errorf("Stats = %v, want %s", counts, want)
	}
	if l, err := x.s.List(x.Context(), queue.Query{Queue: "q", Limit: 1}); err != nil || len(l) != 1 || l[0].JID != b {
		x.Errorf("List = %v, %v", l, err)
	}
}

// lease: an entry whose lease has ended goes to another worker, as another run, and
// is set aside when its workers died too often.
func (x *tester) lease() {
	x.Helper()
	jid := x.put("lease")
	first := x.take("lease", "w1", -time.Millisecond)
	second := x.take("lease", "w2", time.Minute)
	if second == nil || second.JID != jid || second.Tries != 2 || second.Crashes() != 2 || len(second.Runs) != 2 || second.Runs[0] != jid || second.Runs[1] == jid {
		x.Fatalf("after the lease: %+v", second)
	}
	if _, err := x.s.Renew(x.Context(), first, time.Minute); !errors.Is(err, queue.ErrLost) {
		x.Errorf("Renew of a lost claim = %v", err)
	}
	if err := x.s.End(x.Context(), first, queue.Outcome{State: queue.Done}); !errors.Is(err, queue.ErrLost) {
		x.Errorf("End of a lost claim = %v", err)
	}
	if wish, err := x.s.Renew(x.Context(), second, -time.Millisecond); err != nil || wish != "" {
		x.Errorf("Renew = %q, %v", wish, err)
	}
	if e := x.take("lease", "w3", time.Minute); e != nil {
		x.Errorf("an entry whose workers died was claimed: %+v", e)
	}
	if e := x.state(jid, queue.Poisoned); !strings.Contains(e.Error, "2 workers died with it, the last one was w2") {
		x.Errorf("its error is %q", e.Error)
	}
}

// retry: an entry that is to run again waits for its time, and a person can queue
// one again that was set aside.
func (x *tester) retry() {
	x.Helper()
	jid := x.put("retry")
	e := x.take("retry", "w1", time.Minute)
	x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Queued, Delay: time.Hour, Failed: true, Error: "no"}))
	if x.take("retry", "w1", time.Minute) != nil {
		x.Error("an entry was claimed before its time")
	}
	x.state(jid, queue.Queued)
	if n, _, err := x.s.Waiting(x.Context(), "retry"); n != 1 || err != nil {
		x.Errorf("Waiting = %d, %v", n, err)
	}
	x.exec("UPDATE brine_queue SET due = 1 WHERE jid = '" + jid + "'")
	e = x.take("retry", "w1", time.Minute)
	if e == nil || e.Failures != 1 || e.Tries != 2 || e.Crashes() != 1 {
		x.Fatalf("the second try is %+v", e)
	}
	x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Queued, Uncount: true}))
	e = x.take("retry", "w1", time.Minute)
	if e == nil || e.Tries != 2 || len(e.Runs) != 3 {
		x.Fatalf("a try that does not count: %+v", e)
	}
	x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Queued, Uncount: true, Unrun: true}))
	e = x.take("retry", "w1", time.Minute)
	if e == nil || e.Tries != 2 || len(e.Runs) != 3 {
		x.Fatalf("a run that did not begin: %+v", e)
	}
	x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Failed, Failed: true, Retcode: 1, Error: "\x00é" + strings.Repeat("x", 5000)}))
	if e := x.state(jid, queue.Failed); e.Retcode != 1 || len(e.Error) > 2000 || e.Work == nil {
		x.Errorf("failed: %+v", e)
	}
	for _, fresh := range []bool{false, true} {
		if state, err := x.s.Retry(x.Context(), jid, fresh); state != queue.Queued || err != nil {
			x.Errorf("Retry = %s, %v", state, err)
		}
		e := x.take("retry", "w1", time.Minute)
		if e == nil || e.Tries != 1 || (len(e.Runs) == 1) != fresh {
			x.Fatalf("after Retry, fresh %v: %+v", fresh, e)
		}
		if e.Runs[len(e.Runs)-1] == jid {
			x.Errorf("after Retry, fresh %v, the job of the first run is that of another one", fresh)
		}
		x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Failed, Failed: true}))
	}
	if _, err := x.s.Retry(x.Context(), "20200101000000000000", false); !errors.Is(err, queue.ErrNone) {
		x.Errorf("Retry of none = %v", err)
	}
}

// cancel: what waits is taken out, and of what runs the worker is told.
func (x *tester) cancel() {
	x.Helper()
	waits, runs, dies := x.put("cancel"), "", ""
	if state, err := x.s.Cancel(x.Context(), waits); state != queue.Cancelled || err != nil {
		x.Errorf("Cancel = %s, %v", state, err)
	}
	runs = x.put("cancel")
	e := x.take("cancel", "w1", time.Minute)
	if e == nil || e.JID != runs {
		x.Fatalf("a cancelled entry was claimed: %+v", e)
	}
	for range 2 {
		if state, err := x.s.Cancel(x.Context(), runs); state != queue.Running || err != nil {
			x.Errorf("Cancel = %s, %v", state, err)
		}
	}
	if wish, err := x.s.Renew(x.Context(), e, time.Minute); wish != queue.RequestCancel || err != nil {
		x.Errorf("Renew = %q, %v", wish, err)
	}
	x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Cancelled}))
	x.state(runs, queue.Cancelled)
	dies = x.put("cancel")
	x.take("cancel", "w1", -time.Millisecond)
	if state, err := x.s.Cancel(x.Context(), dies); state != queue.Running || err != nil {
		x.Errorf("Cancel = %s, %v", state, err)
	}
	if e := x.take("cancel", "w2", time.Minute); e != nil {
		x.Errorf("a cancelled entry whose worker died was claimed: %+v", e)
	}
	if e := x.state(dies, queue.Cancelled); e.Work != nil {
		x.Errorf("what was cancelled keeps its arguments: %+v", e.Work)
	}
}

// hostile: entries that somebody else wrote are set aside, one by one, and hold
// nobody up.
func (x *tester) hostile() {
	x.Helper()
	bad := map[string]string{}
	bad["payload = '{'"] = "cannot be read"
	bad["payload = '[]'"] = "not a mapping"
	bad["sls = 'harmless'"] = "it is listed as harmless, but its arguments run orch"
	bad["payload = '{\"args\": [\"other\"]}'"] = "it is listed as orch, but its arguments run other"
	bad["payload = '{\"args\": [], \"kwargs\": {}}'"] = "names no SLS"
	bad["payload = '{\"args\": [\"a,,b\"]}'"] = "is empty"
	bad["payload = '{\"args\": [\""+strings.Repeat("a", 300)+"\"]}'"] = "names no SLS"
	bad["payload = '{\"args\": [\"a\"], \"argv\": [\"x\"]}'"] = "unknown key \"argv\""
	bad["payload = '{\"args\": [\"a\"], \"at\": [1]}'"] = "invalid at"
	bad["user_name = ''"] = "not a name"
	bad["runs = '../../etc/passwd'"] = "not jids"
	told := 0
	for set, want := range bad {
		jid := x.put("bad")
		x.exec("UPDATE brine_queue SET " + set + " WHERE jid = '" + jid + "'")
		good := x.put("bad")
		e, err := x.s.Take(x.Context(), queue.Claim{Queue: "bad", Worker: "w", Lease: time.Minute, MaxCrashes: 2, NewJID: x.jid}, func(e *queue.Entry) {
			told++
			if e.State != queue.Refused || !strings.Contains(e.Error, want) {
				x.Errorf("%s: %s %q", set, e.State, e.Error)
			}
		})
		x.must(err)
		if e == nil || e.JID != good {
			x.Fatalf("%s: %+v was claimed, want %s", set, e, good)
		}
		x.must(x.s.End(x.Context(), e, queue.Outcome{State: queue.Done}))
		x.state(jid, queue.Refused)
	}
	if told != len(bad) {
		x.Errorf("%d entries were told of, want %d", told, len(bad))
	}
	large, newer := x.put("bad"), x.put("bad")
	x.exec("UPDATE brine_queue SET payload = '" + strings.Repeat("x", queue.MaxPayload+1) + "' WHERE jid = '" + large + "'")
	x.exec("UPDATE brine_queue SET version = 99 WHERE jid = '" + newer + "'")
	if e := x.take("bad", "w", time.Minute); e != nil {
		x.Errorf("claimed %+v", e)
	}
	if e := x.state(large, queue.Refused); !strings.Contains(e.Error, "bytes") {
		x.Errorf("the large one: %q", e.Error)
	}
	x.state(newer, queue.Queued)
	if n, foreign, err := x.s.Waiting(x.Context(), "bad"); n != 0 || foreign != 1 || err != nil {
		x.Errorf("Waiting = %d, %d, %v", n, foreign, err)
	}
}

// crowd: workers that claim at once get every entry once.
func (x *tester) crowd(open func() *queue.Store) {
	x.Helper()
	const workers, entries = 4, 24
	want := map[string]bool{}
	for range entries {
		want[x.put("crowd")] = true
	}
	var mu sync.Mutex
	got := map[string]int{}
	var wg sync.WaitGroup
	for i := range workers {
		s := open()
		wg.Go(func() {
			for {
				e, err := s.Take(x.Context(), queue.Claim{Queue: "crowd", Worker: fmt.Sprint("w", i), Lease: time.Minute, MaxCrashes: 2, NewJID: x.jid}, func(*queue.Entry) {})
				if err != nil {
					x.Errorf("Take: %v", err)
					return
				}
				if e == nil {
					// Others may hold the rest at this moment; those that are left are theirs.
					return
				}
				mu.Lock()
				got[e.JID]++
				mu.Unlock()
				if err := s.End(x.Context(), e, queue.Outcome{State: queue.Done}); err != nil {
					x.Errorf("End: %v", err)
				}
			}
		})
	}
	wg.Wait()
	for e := x.take("crowd", "last", time.Minute); e != nil; e = x.take("crowd", "last", time.Minute) {
		got[e.JID]++
	}
	for jid := range want {
		if got[jid] != 1 {
			x.Errorf("%s was claimed %d times", jid, got[jid])
		}
	}
}

// clean: old entries go, and those that wait stay.
func (x *tester) clean() {
	x.Helper()
	old, stays := x.put("clean"), x.put("clean")
	x.must(x.s.End(x.Context(), x.take("clean", "w", time.Minute), queue.Outcome{State: queue.Done}))
	x.exec("UPDATE brine_queue SET ended = 1, created = 1 WHERE queue = 'clean'")
	x.must(x.s.Clean(x.Context(), time.Hour, time.Hour))
	if _, err := x.s.Entry(x.Context(), old); !errors.Is(err, queue.ErrNone) {
		x.Errorf("an old entry: %v", err)
	}
	x.state(stays, queue.Queued)
}
