package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// machines is a provider whose machines answer with their id; those named
// "bad..." fail, those named "dead..." are not reached.
type machines struct {
	ids []string

	mu        sync.Mutex
	now, most int // under way at once
	prepared  []string
	closed    bool
	hold      chan struct{}
}

func (m *machines) IDs(context.Context) ([]string, error) { return m.ids, nil }

func (*machines) Minion(_ context.Context, id string) target.Minion {
	t := target.Minion{ID: id, Grains: func() value.Mapping { return value.MapOf("role", strings.TrimRight(id, "0123456789")) }}
	t.Pillar = func() value.Mapping { return value.MapOf("key", "key of "+id) }
	if strings.HasPrefix(id, "mute") {
		var why error
		t.Grains = func() value.Mapping { why = errors.New("no answer"); return value.NewMap(0) }
		t.Unknown = func() error { return why }
	}
	return t
}

func (m *machines) Prepare(_ context.Context, ids []string) { m.prepared = append(m.prepared, ids...) }
func (m *machines) Close() error                            { m.closed = true; return nil }

func (m *machines) FindJob(context.Context, string, []string, func(string, int)) {}

func (m *machines) Run(_ context.Context, job fun.Job, id string, begun func()) fun.Return {
	begun()
	m.mu.Lock()
	m.now++
	m.most = max(m.most, m.now)
	m.mu.Unlock()
	if m.hold != nil {
		<-m.hold
	}
	m.mu.Lock()
	m.now--
	m.mu.Unlock()
	ret := fun.Return{ID: id, JID: job.JID, Body: fun.ValueBody{V: id}}
	switch {
	case strings.HasPrefix(id, "bad"):
		ret.Retcode = 1
	case strings.HasPrefix(id, "dead"):
		return fun.Return{ID: id, JID: job.JID, Stage: fun.Unreachable, Err: errors.New("no route")}
	}
	return ret
}

func fleetOf(p *machines) *Fleet {
	return &Fleet{Providers: []Provider{p}, NewJID: func() string { return "20200102030405000000" }}
}

func TestRun(t *testing.T) {
	t.Parallel()
	ids := []string{"web1", "web2", "web3", "db1", "bad1", "dead1"}
	for _, tt := range []struct {
		name          string
		job           fun.Job
		want, missing string
	}{
		{"glob", fun.Job{Tgt: "web*"}, "web1 web2 web3", ""},
		{"list with strangers", fun.Job{Tgt: "web1,ghost", TgtType: "list"}, "ghost web1", "ghost"},
		{"grain", fun.Job{Tgt: "role:db", TgtType: "grain"}, "db1", ""},
		{"not reached", fun.Job{Tgt: "d*"}, "db1 dead1", "dead1"},
		{"only", fun.Job{Tgt: "*", Only: []string{"web2", "nobody"}}, "web2", ""},
		{"only none", fun.Job{Tgt: "*", Only: []string{}}, "", ""},
		{"only of a list", fun.Job{Tgt: "web1,ghost", TgtType: "list", Only: []string{"web1"}}, "web1", ""},
		{"nobody", fun.Job{Tgt: "x*"}, "", ""},
		{"batch of one", fun.Job{Tgt: "web*", Batch: "1"}, "web1 web2 web3", ""},
	} {
		p := &machines{ids: ids}
		var got []string
		sum, err := fleetOf(p).Run(t.Context(), tt.job, func(r fun.Return) error {
			got = append(got, r.ID)
			return nil
		})
		sort.Strings(got)
		if err != nil || strings.Join(got, " ") != tt.want || strings.Join(sum.Targets, " ") != tt.want || strings.Join(sum.Missing, " ") != tt.missing {
			t.Errorf("%s: returns %v, summary %+v, %v; want %s, missing %s", tt.name, got, sum, err, tt.want, tt.missing)
		}
		if tt.job.Batch == "1" && p.most != 1 {
			t.Errorf("%s: %d at once", tt.name, p.most)
		}
	}
}

// Machines that cannot be asked whether they are meant are targets that failed.
func TestRunUnasked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		job   fun.Job
		allow bool
		want  string // returns, "!" in front of those without
		warns int
	}{
		{fun.Job{Tgt: "role:db", TgtType: "grain"}, false, "db1 !mute1", 0},
		{fun.Job{Tgt: "role:db", TgtType: "grain"}, true, "db1", 1},
		{fun.Job{Tgt: "role:nobody", TgtType: "grain"}, false, "!mute1", 0},
		{fun.Job{Tgt: "role:db", TgtType: "grain", Only: []string{"db1"}}, false, "db1", 0},
		{fun.Job{Tgt: "db* and G@role:db", TgtType: "compound"}, false, "db1", 0},
		{fun.Job{Tgt: "not G@role:db", TgtType: "compound"}, false, "mute1", 0}, // which is asked, and answers
	} {
		f := fleetOf(&machines{ids: []string{"db1", "mute1"}})
		warns := 0
		f.AllowUnreachable, f.Warn = tt.allow, func(fun.Warning) { warns++ }
		var got []string
		sum, err := f.Run(t.Context(), tt.job, func(r fun.Return) error {
			if r.Stage != fun.Returned {
				r.ID = "!" + r.ID
			}
			got = append(got, r.ID)
			return nil
		})
		sort.Slice(got, func(i, j int) bool { return strings.Trim(got[i], "!") < strings.Trim(got[j], "!") })
		if err != nil || strings.Join(got, " ") != tt.want || len(sum.Targets) != len(got) || warns != tt.warns {
			t.Errorf("%v: returns %v, summary %+v, %d warnings, %v; want %s", tt.job.Tgt, got, sum, warns, err, tt.want)
		}
	}
}

func TestRunSubset(t *testing.T) {
	t.Parallel()
	p := &machines{ids: []string{"a", "b", "c", "d"}}
	n := 0
	sum, err := fleetOf(p).Run(t.Context(), fun.Job{Tgt: "*", Subset: 2}, func(fun.Return) error { n++; return nil })
	if err != nil || n != 2 || len(sum.Targets) != 2 || !slices.IsSorted(sum.Targets) {
		t.Errorf("%d returns, %+v, %v", n, sum, err)
	}
	slices.Sort(p.prepared)
	if !slices.Equal(p.prepared, sum.Targets) {
		t.Errorf("prepared %v for %v", p.prepared, sum.Targets)
	}
}

func TestRunAtOnce(t *testing.T) {
	t.Parallel()
	p := &machines{hold: make(chan struct{})}
	for i := range 200 {
		p.ids = append(p.ids, fmt.Sprintf("m%03d", i))
	}
	f := fleetOf(p)
	f.Limit = 7
	close(p.hold)
	n := 0
	if _, err := f.Run(t.Context(), fun.Job{Tgt: "*"}, func(fun.Return) error { n++; return nil }); err != nil || n != 200 || p.most > 7 {
		t.Errorf("%d returns, %d at once, %v", n, p.most, err)
	}
	if err := f.Close(); err != nil || !p.closed {
		t.Errorf("the provider is not closed: %v", err)
	}
}

func TestRunFailHard(t *testing.T) {
	t.Parallel()
	p := &machines{ids: []string{"a1", "bad1", "c1", "d1"}}
	stages := map[string]fun.Stage{}
	_, err := fleetOf(p).Run(t.Context(), fun.Job{Tgt: "*", Batch: "1", FailHard: true}, func(r fun.Return) error {
		stages[r.ID] = r.Stage
		return nil
	})
	if err != nil || stages["a1"] != fun.Returned || stages["c1"] != fun.Refused || stages["d1"] != fun.Refused {
		t.Errorf("stages %v, %v", stages, err)
	}
}

func TestBatchSize(t *testing.T) {
	t.Parallel()
	f := &Fleet{Limit: 50}
	for _, tt := range []struct {
		batch string
		n     int
		want  int
	}{{"", 10, 50}, {"3", 10, 3}, {"25%", 40, 10}, {"%25", 40, 10}, {"1%", 10, 1}, {"200", 300, 50}} {
		if got, err := f.limit(tt.batch, tt.n); got != tt.want || err != nil {
			t.Errorf("limit(%q, %d) = %d, %v; want %d", tt.batch, tt.n, got, err, tt.want)
		}
	}
	for _, bad := range []string{"x", "0", "-1", "%"} {
		if _, err := f.limit(bad, 3); err == nil {
			t.Errorf("limit(%q) is no fault", bad)
		}
	}
}

// TestEnded: what a call that ended with its run says.
func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &sleepers{machines: machines{ids: []string{"web1"}}, work: map[string]time.Duration{"web1": -1}, running: map[string]bool{}}
	f := &Fleet{Providers: []Provider{s}, NewJID: func() string { return "20200102030405000000" }}
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := f.Run(ctx, fun.Job{Tgt: "*", Fun: "test.ping"}, func(r fun.Return) error {
		if r.Err == nil || !errors.Is(r.Err, context.Canceled) || strings.Contains(r.Err.Error(), "context") {
			t.Errorf("web1: %s, %v", r.Stage, r.Err)
		}
		return nil
	}); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
