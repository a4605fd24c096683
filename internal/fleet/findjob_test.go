package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// sleepers are machines that work on a job for a while. Negative time is
// forever.
type sleepers struct {
	machines
	work map[string]time.Duration
	// dead ones answer no question, lazy ones answer that they run nothing, slow
	// ones are still being dialled, and deaf ones cannot be asked.
	dead, lazy, slow, deaf map[string]bool

	mu      sync.Mutex
	running map[string]bool
}

func (s *sleepers) Minion(_ context.Context, id string) target.Minion { return target.Minion{ID: id} }

func (s *sleepers) Run(ctx context.Context, job fun.Job, id string, begun func()) fun.Return {
	set := func(on bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running[id] = on
	}
	if !s.slow[id] {
		begun()
	}
	set(true)
	defer set(false)
	var after <-chan time.Time
	if d := s.work[id]; d >= 0 {
		after = time.After(d)
	}
	select {
	case <-after:
		return fun.Return{ID: id, JID: job.JID, Body: fun.ValueBody{V: true}}
	case <-ctx.Done():
		return fun.Return{ID: id, JID: job.JID, Stage: fun.Lost, Err: ctx.Err(), Partial: value.MapOf("a", int64(1)), Total: 3}
	}
}

func (s *sleepers) FindJob(ctx context.Context, _ string, ids []string, tell func(string, int)) {
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			if s.deaf[id] {
				return
			}
			if s.dead[id] {
				<-ctx.Done()
				return
			}
			s.mu.Lock()
			on := s.running[id] && !s.lazy[id]
			s.mu.Unlock()
			if on {
				tell(id, 42)
			} else {
				tell(id, 0)
			}
		})
	}
	wg.Wait()
}

// bus keeps what is fired.
type bus struct {
	event.Bus
	mu     sync.Mutex
	events []string
	data   map[string]*value.Map
}

func (b *bus) Fire(tag string, data *value.Map) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, tag)
	b.data[tag] = data
}

// TestSilentTargets is the texts' session: past the time-out those that are
// silent are asked, those that work are waited for.
func TestSilentTargets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sleepers{
			machines: machines{ids: []string{"dead", "gone", "long", "quick", "slow"}},
			work:     map[string]time.Duration{"quick": time.Second, "long": 12 * time.Second, "slow": 20 * time.Second, "dead": -1, "gone": -1},
			dead:     map[string]bool{"dead": true}, lazy: map[string]bool{"gone": true}, slow: map[string]bool{"slow": true},
			running: map[string]bool{},
		}
		b := &bus{data: map[string]*value.Map{}}
		n := 0
		f := &Fleet{
			Providers: []Provider{s}, Bus: b, Timeout: 5 * time.Second, Gather: 10 * time.Second, User: "root",
			NewJID: func() string { return "20200102030405000000" },
			AskJID: func() string { n++; return fmt.Sprintf("2020010203040500000%d", n) },
		}
		start := time.Now()
		got := map[string]string{}
		sum, err := f.Run(t.Context(), fun.Job{Tgt: "*", Fun: "cmd.run", Args: fun.Args{Pos: []value.Value{"sleep"}, Kw: value.NewMap(0)}}, func(r fun.Return) error {
			text := r.Stage.String()
			if r.Err != nil {
				first, _, _ := strings.Cut(r.Err.Error(), "\n")
				text += ": " + first
				if r.Partial.Len() != 1 || r.Total != 3 {
					t.Errorf("%s: what was done is not kept: %v of %d", r.ID, r.Partial, r.Total)
				}
			}
			got[r.ID] = fmt.Sprintf("%s %s", time.Since(start).Round(100*time.Millisecond), text)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"quick": "1s returned", "long": "12s returned", "slow": "20s returned",
			"dead": "15s timed out: Minion did not return. [No response]",
			"gone": "15s timed out: Minion did not return. [No response]",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"dead", "gone"}, sum.Missing); d != "" {
			t.Error(d)
		}
		q := b.data["salt/job/20200102030405000001/new"]
		if d := cmp.Diff(
			`{"jid":"20200102030405000001","tgt_type":"list","tgt":["dead","gone","long"],"user":"root","fun":"saltutil.find_job","arg":["20200102030405000000"],"minions":["dead","gone","long"],"missing":[]}`,
			string(value.EncodeJSON(q))); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(
			`{"jid":"20200102030405000000","fun":"cmd.run","arg":["sleep"],"tgt":"*","tgt_type":"glob","ret":"","user":"root","pid":42}`,
			string(value.EncodeJSON(b.data["salt/job/20200102030405000001/ret/long"].At("return")))); d != "" {
			t.Error(d)
		}
		if m := b.data["salt/job/20200102030405000001/ret/gone"].Map("return"); m == nil || m.Len() != 0 {
			t.Errorf("gone answered %v", m)
		}
		if b.data["salt/job/20200102030405000002/ret/long"] == nil || b.data["salt/job/20200102030405000001/ret/dead"] != nil {
			t.Errorf("events %q", b.events)
		}
	})
}

// TestQuestionFails: where the question fails at once, in place of being unanswered, a
// silent target is given up as well when the time for answers is over.
func TestQuestionFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sleepers{
			machines: machines{ids: []string{"deaf", "long", "quick"}},
			work:     map[string]time.Duration{"quick": 8 * time.Second, "long": 20 * time.Second, "deaf": -1},
			deaf:     map[string]bool{"deaf": true, "quick": true}, running: map[string]bool{},
		}
		f := &Fleet{Providers: []Provider{s}, Timeout: 5 * time.Second, Gather: 10 * time.Second, NewJID: func() string { return "20200102030405000000" }}
		start := time.Now()
		got := map[string]string{}
		_, err := f.Run(t.Context(), fun.Job{Tgt: "*", Fun: "cmd.run", Args: fun.Args{Kw: value.NewMap(0)}}, func(r fun.Return) error {
			got[r.ID] = fmt.Sprintf("%s %s", time.Since(start).Round(100*time.Millisecond), r.Stage)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"deaf": "15s timed out", "long": "20s returned", "quick": "8s returned"}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

// TestSilentJobTimeout: a job has times of its own, and who listens no more is
// not asked.
func TestSilentJobTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sleepers{machines: machines{ids: []string{"dead"}}, work: map[string]time.Duration{"dead": -1}, dead: map[string]bool{"dead": true}, running: map[string]bool{}}
		f := &Fleet{Providers: []Provider{s}, Timeout: time.Hour, Gather: time.Hour, NewJID: func() string { return "20200102030405000000" }}
		start := time.Now()
		var ret fun.Return
		_, err := f.Run(t.Context(), fun.Job{Tgt: "*", Fun: "x.y", Timeout: 2 * time.Second, Gather: 3 * time.Second}, func(r fun.Return) error { ret = r; return nil })
		var none *NoReturnError
		if err != nil || ret.Stage != fun.TimedOut || !errors.As(ret.Err, &none) || time.Since(start) != 5*time.Second {
			t.Errorf("%v after %s: %v", ret, time.Since(start), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel) // while it is being asked
		if _, err := f.Run(ctx, fun.Job{Tgt: "*", Fun: "x.y", Timeout: 2 * time.Second}, func(r fun.Return) error { ret = r; return nil }); err != nil || ret.Stage != fun.Lost {
			t.Errorf("%v: %v", ret, err)
		}
	})
}

// TestManyBegin: of hosts that begin, the first alone wakes the one that asks, which
// otherwise looks at all of them for each; and what returned in time is forgotten
// without being looked at again.
func TestManyBegin(t *testing.T) {
	t.Parallel()
	w := &asker{asks: true, timeout: time.Hour, pending: map[string]*pending{}, wake: make(chan struct{}, 1)}
	all := make([]*pending, 1000)
	for i := range all {
		all[i] = &pending{id: fmt.Sprint("h", i)}
		w.begun(all[i])
		if woken := len(w.wake) > 0; woken != (i == 0) {
			t.Fatalf("host %d wakes it: %t", i, woken)
		}
		if i == 0 {
			<-w.wake
		}
	}
	if asked, next := w.dueAt(time.Now()); len(asked) > 0 || next < 59*time.Minute {
		t.Errorf("%d are due, the next in %s", len(asked), next)
	}
	for _, p := range all[1:] {
		w.forget(p)
	}
	asked, next := w.dueAt(time.Now().Add(2 * time.Hour))
	if len(asked) != 1 || asked[0] != all[0] || next != time.Hour || len(w.queue) > 0 {
		t.Errorf("%d are due, the next in %s, %d in the queue", len(asked), next, len(w.queue))
	}
	w.forget(all[0])
	w.answered(all[0], true) // it returned while it was asked
	if len(w.queue) > 0 {
		t.Error("a host that returned is asked again")
	}
}
