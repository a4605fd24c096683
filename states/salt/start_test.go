package salt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// boxes is a fleet whose machines start as their names say: "back..." was
// rebooted, "here..." was not, "late..." never comes. "local..." are in this
// process.
type boxes struct {
	ids []string

	mu    sync.Mutex
	asked []string // of Watched
	fresh bool
}

func (b *boxes) Match(context.Context, value.Value, string) ([]string, error) { return b.ids, nil }

func (b *boxes) Run(context.Context, fun.Job, func(fun.Return) error) (fun.Summary, error) {
	return fun.Summary{}, nil
}

func (b *boxes) Watched(_ context.Context, w fun.StartWait) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh = w.Fresh
	var out []string
	for _, id := range w.IDs {
		if slices.Contains(b.ids, id) && !strings.HasPrefix(id, "local") {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	b.asked = append(b.asked, out...)
	return out
}

func (b *boxes) Starts(ctx context.Context, w fun.StartWait, each func(fun.Start)) []fun.Late {
	var late []fun.Late
	for _, id := range w.IDs {
		switch {
		case strings.HasPrefix(id, "late"):
			late = append(late, fun.Late{ID: id, Why: "it is in bed"})
		default:
			each(fun.Start{ID: id, Rebooted: strings.HasPrefix(id, "back")})
		}
	}
	if len(late) > 0 {
		<-ctx.Done()
	}
	return late
}

// waiter is a call of salt.wait_for_event.
func waiter(t *testing.T, fleet fun.Fleet, tag, key string, timeout float64, ids ...value.Value) (*fun.Call, *event.Ring, *[]string) {
	t.Helper()
	var warned []string
	bus := event.NewRing(0, time.Now)
	env := &fun.Env{
		Machine: fun.Machine{Host: host.NewLocal()},
		Network: fun.Network{Bus: bus, Fleet: fleet},
		Data:    fun.Data{Opts: value.NewMap(0)},
		UI:      fun.UI{OnWarn: func(w fun.Warning) { warned = append(warned, w.Text) }},
	}
	args := value.MapOf("name", tag, "id_list", value.NewList(ids...), "event_id", key, "timeout", timeout, "node", "master")
	return &fun.Call{Env: env, Name: tag, Args: args, Kw: value.NewMap(0), Low: &fun.Chunk{ID: "wait", Pos: source.Pos{File: "orch.sls", Line: 1, Col: 1}}}, bus, &warned
}

func TestWaitForStarts(t *testing.T) {
	t.Parallel()
	fleet := []string{"back1", "back2", "here1", "here2", "late1", "local1"}
	const start = "salt/minion/*/start"
	for _, tt := range []struct {
		name, tag, key string
		ids            []value.Value
		ok             bool
		seen           int
		comment        string // %s stands for the time
		warned         string
	}{
		{"rebooted", start, "id", []value.Value{"back1", "back2"}, true, 2, "All events seen in %s seconds.", ""},
		{
			"not rebooted", start, "id",
			[]value.Value{"here2", "back1", "here1"},
			true, 3,
			"All events seen in %s seconds. No reboot was pending on here1, here2: a new connection counts as the start.", "",
		},
		{
			"one of the tags", "salt/minion/here*/start", "id",
			[]value.Value{"here1"},
			true, 1,
			"All events seen in %s seconds. No reboot was pending on here1: a new connection counts as the start.", "",
		},
		{"another key", start, "tag", []value.Value{"salt/minion/back1/start"}, true, 1, "All events seen in %s seconds.", ""},
		{"a wider tag", "salt/*", "id", []value.Value{"back1"}, true, 1, "All events seen in %s seconds.", ""},
		{
			"one is late", start, "id",
			[]value.Value{"late1", "back1"},
			false, 1,
			"Timeout value reached. Missing: late1 (it is in bed).", `wait: no event "salt/minion/*/start" came of late1`,
		},
		{"a machine here", start, "id", []value.Value{"local1"}, false, 0, "Timeout value reached.", `wait: no event "salt/minion/*/start" came of local1`},
		{
			"a machine here beside another", start, "id",
			[]value.Value{"local1", "back1"},
			false, 1,
			"Timeout value reached. Missing: local1.", `wait: no event "salt/minion/*/start" came of local1`,
		},
		{
			"a stranger", start, "id",
			[]value.Value{"back1", "bock2"},
			false, 1, "Timeout value reached. Missing: bock2.",
			`wait: "bock2" of id_list is not in the roster, so its start must be told by something else (did you mean "back2"?)|wait: no event "salt/minion/*/start" came of bock2`,
		},
		{"a tag of one's own", "brine/ready/*", "id", []value.Value{"back1"}, false, 0, "Timeout value reached.", `wait: no event "brine/ready/*" came of back1`},
		{"an id that is no text", start, "id", []value.Value{int64(7)}, false, 0, "Timeout value reached.", `wait: no event "salt/minion/*/start" came of 7`},
		{
			"the tag of another machine", "salt/minion/here1/start", "id",
			[]value.Value{"back1"},
			false, 0, "Timeout value reached.",
			`wait: no event "salt/minion/here1/start" came of back1`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			timeout := 60.0
			if !tt.ok {
				timeout = 0.3
			}
			c, _, warned := waiter(t, &boxes{ids: fleet}, tt.tag, tt.key, timeout, tt.ids...)
			ret := fun.StateFunc(waitForEvent).State(t.Context(), c)
			seen := 0
			if m, ok := ret.Changes.(*value.Map); ok {
				seen = m.List("minions_seen").Len()
			}
			var took string
			comment := value.Str(ret.Comment)
			if _, err := fmt.Sscanf(comment, "All events seen in %s", &took); err == nil {
				comment = strings.Replace(comment, took, "%s", 1)
			}
			if (ret.Result == fun.OK) != tt.ok || seen != tt.seen || comment != tt.comment || strings.Join(*warned, "|") != tt.warned {
				t.Errorf("%v, %d seen, %q, warned %q;\nwant %v, %d, %q, %q", ret.Result, seen, comment, *warned, tt.ok, tt.seen, tt.comment, tt.warned)
			}
		})
	}
}

// A tag that other events have, too, is no wish to look at machines that nobody
// asked to reboot.
func TestWaitAsksForFreshConnections(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]bool{"salt/minion/*/start": true, "salt/minion/back1/start": true, "*/start": true, "salt/minion/*": false, "*": false} {
		b := &boxes{ids: []string{"back1"}}
		c, _, _ := waiter(t, b, tag, "id", 60, "back1")
		if ret := fun.StateFunc(waitForEvent).State(t.Context(), c); ret.Result != fun.OK || b.fresh != want {
			t.Errorf("%s: %v, fresh %v, want %v", tag, ret.Comment, b.fresh, want)
		}
	}
}

// Salt: salt/minion.py _fire_master_minion_start, _fire_master, as the event
// comes to the bus of a master.
func TestStartEvent(t *testing.T) {
	t.Parallel()
	c, bus, _ := waiter(t, &boxes{ids: []string{"back1"}}, "salt/minion/*/start", "id", 60, "back1")
	if ret := fun.StateFunc(waitForEvent).State(t.Context(), c); ret.Result != fun.OK {
		t.Fatal(ret.Comment)
	}
	e, _, err := bus.Next(t.Context(), 0, nil)
	if err != nil || e.Tag != "salt/minion/back1/start" {
		t.Fatalf("%q, %v", e.Tag, err)
	}
	text, ok := strings.CutPrefix(e.Data.Str("data"), "Minion back1 started at ")
	if _, err := time.Parse("Mon Jan _2 15:04:05 2006", text); !ok || err != nil {
		t.Errorf("data: %q, %v", e.Data.Str("data"), err)
	}
	e.Data.Delete("data")
	e.Data.Delete("_stamp")
	if got, want := value.Repr(e.Data), "{'id': 'back1', 'cmd': '_minion_event', 'pretag': None, 'tag': 'salt/minion/back1/start'}"; got != want {
		t.Errorf("event %s, want %s", got, want)
	}
}

// An event that something else posts counts as before.
func TestWaitForEventsOfOthers(t *testing.T) {
	t.Parallel()
	c, bus, _ := waiter(t, &boxes{ids: []string{"late1"}}, "salt/minion/*/start", "id", 60, "late1", "other")
	go func() {
		for _, id := range []string{"nobody", "late1", "other"} {
			bus.Fire("salt/minion/"+id+"/start", value.MapOf("data", value.MapOf("id", id)))
			time.Sleep(10 * time.Millisecond)
		}
		for t.Context().Err() == nil { // those before the wait began are not its own
			bus.Fire("salt/minion/late1/start", value.MapOf("id", "late1"))
			bus.Fire("salt/minion/other/start", value.MapOf("id", "other"))
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if ret := fun.StateFunc(waitForEvent).State(t.Context(), c); ret.Result != fun.OK {
		t.Errorf("%v", ret.Comment)
	}
}

// A hastyBus forgets events before they are read.
type hastyBus struct {
	event.Bus
	lost uint64
}

func (b *hastyBus) Next(ctx context.Context, after uint64, match func(event.Event) bool) (event.Event, uint64, error) {
	e, n, err := b.Bus.Next(ctx, after, match)
	return e, n + b.lost, err
}

func TestWaitSaysWhatItMissed(t *testing.T) {
	t.Parallel()
	for lost, want := range map[uint64]string{0: "Timeout value reached.", 3: "Timeout value reached. 3 events were forgotten before this step had looked at them."} {
		c, bus, _ := waiter(t, &boxes{}, "deployed/*", "id", 0.01, "web1")
		c.Env.Bus = &hastyBus{Bus: bus, lost: lost}
		if ret := fun.StateFunc(waitForEvent).State(t.Context(), c); ret.Result != fun.Failed || ret.Comment != want {
			t.Errorf("%d lost: %v %v, want %s", lost, ret.Result, ret.Comment, want)
		}
	}
}

func TestArrived(t *testing.T) {
	t.Parallel()
	list := func(v ...value.Value) value.Value { return value.NewList(v...) }
	for _, tt := range []struct {
		id         value.Value
		left, came string
	}{
		{"b", "['a', 'a']", "['b']"},
		{"a", "['b', 'a']", "['a']"},
		{"x", "['a', 'b', 'a']", "[]"},
		{list("b", "x"), "['a', 'a']", "['b']"},
		{list("a", "b"), "[]", "['a', 'b', 'a']"},
		{list(), "['a', 'b', 'a']", "[]"},
	} {
		left, came := arrived([]value.Value{"a", "b", "a"}, tt.id)
		if l, c := value.Repr(value.NewList(left...)), value.Repr(value.NewList(came...)); l != tt.left || c != tt.came {
			t.Errorf("%s: left %s, came %s; want %s, %s", value.Repr(tt.id), l, c, tt.left, tt.came)
		}
	}
}

func TestWaitEndsWithTheRun(t *testing.T) {
	t.Parallel()
	fleet := &boxes{ids: []string{"late1"}}
	c, _, warned := waiter(t, fleet, "salt/minion/*/start", "id", 600, "late1")
	c.Env.OnStart = func(context.Context, *fun.Chunk) bool { // the run ends while it is waited for
		fleet.mu.Lock()
		defer fleet.mu.Unlock()
		return len(fleet.asked) == 0
	}
	ret := fun.StateFunc(waitForEvent).State(t.Context(), c)
	if ret.Result != fun.Failed || ret.Comment != "Interrupted while waiting for event 'salt/minion/*/start'. Missing: late1 (it is in bed)." || len(*warned) != 0 {
		t.Errorf("%v, %v", ret.Comment, *warned)
	}
	// The end of the time is not the end of the run.
	c, _, _ = waiter(t, nil, "own/tag", "id", 0.15, "x")
	c.Env.OnStart = func(ctx context.Context, _ *fun.Chunk) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(300 * time.Millisecond):
			return ctx.Err() == nil
		}
	}
	if ret := fun.StateFunc(waitForEvent).State(t.Context(), c); ret.Comment != "Timeout value reached." {
		t.Errorf("%v", ret.Comment)
	}
	c, _, _ = waiter(t, nil, "own/tag", "id", 600, "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ret := fun.StateFunc(waitForEvent).State(ctx, c); ret.Comment != "Interrupted while waiting for event 'own/tag'" {
		t.Errorf("%v", ret.Comment)
	}
}
