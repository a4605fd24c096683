package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// miners are machines that answer mine.update by keeping their id.
type miners struct {
	machines
	mine  *Mine
	calls atomic.Int32
}

func (m *miners) Run(ctx context.Context, job fun.Job, id string, begun func()) fun.Return {
	m.calls.Add(1)
	ret := m.machines.Run(ctx, job, id, begun)
	if ret.Stage == fun.Returned && ret.Retcode == 0 {
		if _, err := m.mine.Mine(ctx, fun.MineRequest{Op: fun.MineStore, ID: id, JID: job.JID, Data: value.MapOf("who", id)}); err != nil {
			ret.Stage, ret.Err = fun.Refused, err
		}
	}
	return ret
}

func newMine(ids ...string) (*Mine, *miners, *[]string) {
	p := &miners{machines: machines{ids: ids}}
	n := 0
	f := &Fleet{Providers: []Provider{p}, NewJID: func() string { n++; return fmt.Sprintf("202001020304050000%02d", n) }}
	warned := &[]string{}
	m := &Mine{Host: host.NewFake(), Dir: "/var/cache/brine/mine", Fleet: f, Warn: func(w fun.Warning) { *warned = append(*warned, w.Text) }}
	p.mine, f.Mine = m, m
	return m, p, warned
}

func read(t *testing.T, m *Mine, req fun.MineRequest) string {
	t.Helper()
	req.Op = fun.MineGet
	if req.Tgt == nil {
		req.Tgt = "*"
	}
	if req.Funs == nil {
		req.Funs = []string{"who"}
	}
	v, err := m.Mine(t.Context(), req)
	if err != nil {
		return "error: " + err.Error()
	}
	return value.Repr(v)
}

func keep(t *testing.T, m *Mine, id string, kv ...value.Value) error {
	t.Helper()
	_, err := m.Mine(t.Context(), fun.MineRequest{Op: fun.MineStore, ID: id, Data: value.MapOf(kv...)})
	return err
}

// TestMineGathersOnceForEachJob reads the mine in several jobs of a run.
func TestMineGathersOnceForEachJob(t *testing.T) {
	t.Parallel()
	m, p, warned := newMine("web1", "web2", "db1", "dead1")
	if err := keep(t, m, "dead1", "who", "old"); err != nil {
		t.Fatal(err)
	}
	m.works([]string{"web1", "web2", "dead1"})
	for range 2 {
		if got, want := read(t, m, fun.MineRequest{ID: "web1", JID: "1"}), "{'who': {'dead1': 'old', 'web1': 'web1', 'web2': 'web2'}}"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if n := p.calls.Load(); n != 3 {
		t.Errorf("machines were asked %d times, want 3", n)
	}
	if len(*warned) != 1 || !strings.Contains((*warned)[0], "the mine data of dead1 is that of an earlier run: unreachable: no route") {
		t.Errorf("warnings: %q", *warned)
	}
	read(t, m, fun.MineRequest{ID: "web1", JID: "2", Tgt: "web1"})
	if n := p.calls.Load(); n != 4 {
		t.Errorf("another job asked %d times, want once", n-3)
	}
	read(t, m, fun.MineRequest{ID: "web1"}) // of no job
	m.Off = true
	read(t, m, fun.MineRequest{ID: "web1", JID: "3"})
	if n := p.calls.Load(); n != 4 {
		t.Errorf("machines were asked %d times where none is to be", n-4)
	}
	m.Off, m.All = false, true
	if got := read(t, m, fun.MineRequest{ID: "web1", JID: "4", Tgt: "db*"}); got != "{'who': {'db1': 'db1'}}" {
		t.Errorf("with mine_refresh: all, db1 gives %s", got)
	}
}

// TestMineIsOfNow reads the mine for a job, that of an orchestration, during which
// other jobs run on machines.
func TestMineIsOfNow(t *testing.T) {
	t.Parallel()
	m, p, _ := newMine("web1", "web2", "web3")
	m.works(p.ids)
	asks := func(want int32) {
		t.Helper()
		before := p.calls.Load()
		read(t, m, fun.MineRequest{JID: "1"})
		if n := p.calls.Load() - before; n != want {
			t.Errorf("%d machines were asked, want %d", n, want)
		}
	}
	asks(3)
	asks(0)
	before := p.calls.Load()
	if _, err := m.Fleet.Run(t.Context(), fun.Job{Tgt: "web2", Fun: "grains.setval", Args: fun.Args{Kw: value.NewMap(0)}}, func(fun.Return) error { return nil }); err != nil || p.calls.Load() != before+1 {
		t.Fatalf("%v, %d calls", err, p.calls.Load()-before)
	}
	asks(1)
	asks(0)
}

// TestMineRequestsAtOnce has many readers of one job, as parallel targets are.
func TestMineRequestsAtOnce(t *testing.T) {
	t.Parallel()
	m, p, _ := newMine("web1", "web2", "web3")
	m.works(p.ids)
	done := make(chan string)
	for range 16 {
		go func() { done <- read(t, m, fun.MineRequest{ID: "web1", JID: "1"}) }()
	}
	for range 16 {
		if got := <-done; got != "{'who': {'web1': 'web1', 'web2': 'web2', 'web3': 'web3'}}" {
			t.Errorf("got %s", got)
		}
	}
	if n := p.calls.Load(); n != 3 {
		t.Errorf("machines were asked %d times, want 3", n)
	}
}

// TestMineAccess reads data that not all may read.
func TestMineAccess(t *testing.T) {
	t.Parallel()
	m, _, _ := newMine("web1", "web2", "lb1")
	wrap := func(allow, how string) *value.Map {
		return value.MapOf(fun.MineACLData, "secret", fun.MineACL, int64(1), "allow_tgt", allow, "allow_tgt_type", how)
	}
	if err := keep(t, m, "web1", "glob", wrap("lb*", "glob"), "grain", wrap("role:lb", "grain"), "bad", wrap("(", "pcre"), "free", "x"); err != nil {
		t.Fatal(err)
	}
	funs := []string{"glob", "grain", "bad", "free"}
	for id, want := range map[string]string{
		"lb1":  "{'glob': {'web1': 'secret'}, 'grain': {'web1': 'secret'}, 'free': {'web1': 'x'}}",
		"web2": "{'free': {'web1': 'x'}}",
		"":     "{'glob': {'web1': 'secret'}, 'grain': {'web1': 'secret'}, 'bad': {'web1': 'secret'}, 'free': {'web1': 'x'}}",
	} {
		if got := read(t, m, fun.MineRequest{ID: id, Funs: funs}); got != want {
			t.Errorf("%q reads %s, want %s", id, got, want)
		}
	}
	m.ACL = value.MapOf("lb.*", value.Strings("gl.*"))
	if got := read(t, m, fun.MineRequest{ID: "lb1", Funs: funs}); got != "{'glob': {'web1': 'secret'}}" {
		t.Errorf("mine_get: lb1 reads %s", got)
	}
	if got := read(t, m, fun.MineRequest{ID: "web2", Funs: funs}); got != "{}" {
		t.Errorf("mine_get: web2 reads %s", got)
	}
	m.ACL = "yes"
	if got := read(t, m, fun.MineRequest{ID: "web2"}); !strings.Contains(got, "mine_get must be a mapping") {
		t.Errorf("a mine_get that is text: %s", got)
	}
	m.ACL = nil
	if got := read(t, m, fun.MineRequest{ID: "web2", TgtType: "pillar_pcre", Tgt: "a:b.*"}); !strings.HasPrefix(got, "error") {
		t.Errorf("pillar_pcre: %s", got)
	}
	for _, tt := range []struct{ tgt, tgtType, want string }{
		{"key:key of web1", "pillar", "{'free': {'web1': 'x'}}"},
		{"key:key of w*", "pillar", "{}"},
		{"I@key:key?of?w*", "compound", "{}"},
	} {
		if got := read(t, m, fun.MineRequest{ID: "web2", Tgt: tt.tgt, TgtType: tt.tgtType, Funs: []string{"free"}}); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.tgtType, tt.tgt, got, tt.want)
		}
	}
	if got := read(t, m, fun.MineRequest{ID: "web2", Tgt: "web1 and", TgtType: "compound"}); !strings.HasPrefix(got, "error") {
		t.Errorf("an expression that ends: %s", got)
	}
}

// TestMineBounds keeps what is no data, or too much.
func TestMineBounds(t *testing.T) {
	t.Parallel()
	m, _, _ := newMine("web1")
	m.Refuse = func(v value.Value) error {
		if v == "pgp" {
			return errors.New("no")
		}
		return nil
	}
	many := value.NewMap(maxMineFuns + 1)
	for i := range maxMineFuns + 1 {
		many.Set(fmt.Sprint(i), true)
	}
	for name, req := range map[string]fun.MineRequest{
		"large":       {ID: "web1", Data: value.MapOf("f", strings.Repeat("x", maxMine))},
		"many":        {ID: "web1", Data: many},
		"name":        {ID: "web1", Data: value.MapOf(strings.Repeat("x", 256), true)},
		"number":      {ID: "web1", Data: value.MapOf(int64(1), true)},
		"refused":     {ID: "web1", Data: value.MapOf("f", "pgp")},
		"path":        {ID: "../web1", Data: value.MapOf("f", true)},
		"controller":  {Data: value.MapOf("f", true)},
		"dot":         {ID: "..", Data: value.MapOf("f", true)},
		"no such ask": {Op: "steal", ID: "web1"},
	} {
		if req.Op == "" {
			req.Op = fun.MineStore
		}
		if _, err := m.Mine(t.Context(), req); err == nil {
			t.Errorf("%s: kept", name)
		}
	}
	if got := read(t, m, fun.MineRequest{Funs: []string{"f"}}); got != "{}" {
		t.Errorf("kept all the same: %s", got)
	}
}

// TestMineChanges stores, deletes and flushes, and finds a damaged file.
func TestMineChanges(t *testing.T) {
	t.Parallel()
	m, _, warned := newMine("web1", "web2")
	all := []string{"a", "b", "c"}
	if err := errors.Join(keep(t, m, "web1", "a", int64(1), "b", int64(2)), keep(t, m, "web1", "c", int64(3)), keep(t, m, "web2", "a", int64(4))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		req  fun.MineRequest
		want string
	}{
		{fun.MineRequest{Op: fun.MineDelete, ID: "web1", Funs: []string{"a"}}, "{'b': {'web1': 2}, 'c': {'web1': 3}, 'a': {'web2': 4}}"},
		{fun.MineRequest{Op: fun.MineStore, ID: "web1", Data: value.MapOf("a", int64(5)), Clear: true}, "{'a': {'web1': 5, 'web2': 4}}"},
		{fun.MineRequest{Op: fun.MineFlush, ID: "web2"}, "{'a': {'web1': 5}}"},
	} {
		if _, err := m.Mine(t.Context(), tt.req); err != nil {
			t.Fatal(err)
		}
		if got := read(t, m, fun.MineRequest{Funs: all}); got != tt.want {
			t.Errorf("after %s: %s, want %s", tt.req.Op, got, tt.want)
		}
	}
	if err := m.Host.WriteFile("/var/cache/brine/mine/web1.json", strings.NewReader("[1,"), host.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, m, fun.MineRequest{Funs: all}); got != "{}" || len(*warned) != 1 || !strings.Contains((*warned)[0], "is damaged") {
		t.Errorf("a damaged file gives %s, warnings %q", got, *warned)
	}
}

// TestMineAlone reads the mine without a roster.
func TestMineAlone(t *testing.T) {
	t.Parallel()
	m, _, _ := newMine("here")
	m.Alone = true
	if err := keep(t, m, "there", "who", "there"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, m, fun.MineRequest{ID: "here", JID: "1"}); got != "{'who': {'here': 'here', 'there': 'there'}}" {
		t.Errorf("got %s", got)
	}
	// Nothing is known of others but their ids.
	if got := read(t, m, fun.MineRequest{ID: "here", JID: "1", Tgt: "role:here", TgtType: "grain"}); got != "{'who': {'here': 'here'}}" {
		t.Errorf("by grains: %s", got)
	}
}

// TestMineKept: the controller sees all that is kept, without what says who may read
// it; a machine does not.
func TestMineKept(t *testing.T) {
	t.Parallel()
	m, p, _ := newMine("web1", "web2")
	wrapped := value.MapOf(fun.MineACL, int64(1), fun.MineACLData, "x", "allow_tgt", "lb1")
	for _, err := range []error{keep(t, m, "web1", "who", "web1", "priv", wrapped), keep(t, m, "db1", "who", "db1")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	req := fun.MineRequest{Op: fun.MineKept, Tgt: "*"}
	v, err := m.Mine(t.Context(), req)
	if got := value.Repr(v); err != nil || got != "{'web1': {'who': 'web1', 'priv': 'x'}}" {
		t.Errorf("%s, %v", got, err)
	}
	if n := p.calls.Load(); n != 0 {
		t.Errorf("%d machines were asked", n)
	}
	req.ID = "web2"
	if v, err := m.Mine(t.Context(), req); err == nil || !strings.Contains(err.Error(), `no operation "kept"`) {
		t.Errorf("a machine got %s, %v", value.Repr(v), err)
	}
}
