package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/cmd/app"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
)

// A chainTest is what two machines have of the runs of an entry: the cache of this one,
// and the database that they share.
type chainTest struct {
	*testing.T
	dir   string
	files *jobs.Files
	store *shared.Store
	s     *Session
}

func chainJID(name string) string { return fmt.Sprintf("20261121090807%06d", name[0]) }

func chainNotes(steps int, failed bool) []*value.Map {
	out := []*value.Map{value.MapOf("sls", "orch")}
	for n := range steps {
		out = append(out, value.MapOf("tag", fmt.Sprint("s", n), "return", value.MapOf("result", true)))
	}
	if failed {
		out = append(out, value.MapOf("tag", fmt.Sprint("s", steps), "return", value.MapOf("result", false)))
	}
	return out
}

func kindOf(n int) string {
	if n == 0 {
		return "definition"
	}
	return "step"
}

func (x *chainTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

// local has this machine record a run with steps that succeeded, and perhaps one that
// failed. Where it lives, its process is not gone.
func (x *chainTest) local(name string, steps int, failed, lives bool) {
	x.Helper()
	r, err := x.files.Begin(jobs.Load{JID: chainJID(name), Fun: "runner.state.orchestrate", Minions: []string{"ctl"}})
	x.must(err)
	for n, data := range chainNotes(steps, failed) {
		x.must(r.Note(kindOf(n), data))
	}
	if !lives {
		x.must(r.End())
	}
}

func chainRun(name string, lives bool) shared.Run {
	r := shared.Run{JID: chainJID(name), Load: value.MapOf("fun", "runner.state.orchestrate"), Controller: "ctl2", Host: "other", PID: 7}
	if lives {
		r.Lease = time.Hour
	}
	return r
}

// known has the database know a run.
func (x *chainTest) known(name string, steps int, failed, lives bool) {
	x.Helper()
	r := chainRun(name, lives)
	for n, data := range chainNotes(steps, failed) {
		x.must(x.store.BeginNote(x.Context(), r, n, kindOf(n), data))
	}
	if !lives {
		x.must(x.store.End(x.Context(), r.JID))
	}
}

// resumed has a run go on with another one, whose steps it begins with.
func (x *chainTest) resumed(name, by string, steps int) {
	x.Helper()
	from := &jobs.Job{JID: chainJID(name)}
	for n, data := range chainNotes(steps, false) {
		if n == 0 {
			from.Definition = data
		} else {
			from.Steps = append(from.Steps, data)
		}
	}
	x.must(x.store.Resume(x.Context(), chainRun(by, false), []string{chainJID(name)}, from))
	x.must(x.store.End(x.Context(), chainJID(by)))
}

// A run of a queue goes on with the last of the runs before it, wherever that was and
// whoever began it, after the steps of the one that came furthest.
func TestFurthest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		runs   string
		given  func(x *chainTest)
		resume string // the run and its steps; "": none
		claims string
		notYet string
	}{
		{name: "nothing is recorded", runs: "a", given: func(*chainTest) {}},
		{name: "no step succeeded", runs: "a", given: func(x *chainTest) { x.local("a", 0, true, false); x.known("a", 0, true, false) }, claims: "a"},
		{name: "of this machine alone", runs: "a", given: func(x *chainTest) { x.local("a", 2, false, false) }, resume: "a2"},
		{name: "of another machine", runs: "a", given: func(x *chainTest) { x.known("a", 2, true, false) }, resume: "a2", claims: "a"},
		{name: "longer here", runs: "a", given: func(x *chainTest) { x.local("a", 3, false, false); x.known("a", 1, false, false) }, resume: "a3", claims: "a"},
		{name: "longer there", runs: "a", given: func(x *chainTest) { x.local("a", 1, false, false); x.known("a", 3, false, false) }, resume: "a3", claims: "a"},
		{name: "longer here, and gone on with there", runs: "ab", given: func(x *chainTest) {
			x.local("a", 3, false, false)
			x.known("a", 1, false, false)
			x.resumed("a", "b", 1)
		}, resume: "b1", claims: "b"},
		{name: "gone on with twice", runs: "abc", given: func(x *chainTest) {
			x.local("a", 3, false, false)
			x.known("a", 1, false, false)
			x.resumed("a", "b", 1)
			x.resumed("b", "c", 2)
		}, resume: "c2", claims: "c"},
		{name: "gone on with by a run that the entry does not know", runs: "a", given: func(x *chainTest) {
			x.known("a", 1, false, false)
			x.resumed("a", "p", 1)
			x.resumed("p", "q", 2)
		}, resume: "q2", claims: "q"},
		{name: "gone on with by a run that was cleaned up", runs: "a", given: func(x *chainTest) {
			x.known("a", 2, false, false)
			x.resumed("a", "p", 2)
			x.must(x.store.Forget(x.Context(), chainJID("p")))
		}, resume: "a2", claims: "a"},
		{name: "two that nobody went on with", runs: "ab", given: func(x *chainTest) {
			x.known("a", 2, false, false)
			x.known("b", 0, false, false)
		}, resume: "a2", claims: "ab"},
		{name: "as far, and later", runs: "ab", given: func(x *chainTest) {
			x.known("a", 2, false, false)
			x.known("b", 2, false, false)
		}, resume: "b2", claims: "ab"},
		{name: "alive there", runs: "a", given: func(x *chainTest) { x.known("a", 2, false, true) }, notYet: "has not ended yet"},
		{name: "alive here", runs: "a", given: func(x *chainTest) { x.local("a", 2, false, true) }, notYet: "has not ended yet"},
		{name: "of a process of this machine that is gone", runs: "a", given: func(x *chainTest) {
			x.local("a", 2, false, false)
			x.known("a", 1, false, true)
		}, resume: "a2", claims: "a"},
		{name: "the database is away", runs: "a", given: func(x *chainTest) {
			x.local("a", 2, false, false)
			x.s.Shared.Open = func(context.Context) (*shared.Store, error) { return nil, shared.ErrDown }
		}, notYet: "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := &chainTest{T: t, dir: t.TempDir()}
			x.files = jobs.NewFiles(x.dir, 0, time.Now)
			open := func(ctx context.Context) (*shared.Store, error) { return shared.Open(ctx, shared.Path(x.dir)) }
			var err error
			x.store, err = open(t.Context())
			x.must(err)
			defer x.store.Close()
			x.s = &Session{Files: x.files, Queued: true, Shared: &shared.Controller{Open: open, Records: true, Warn: func(text string) { t.Log(text) }, Self: shared.Run{Lease: time.Minute}}}
			defer x.s.Shared.Close()
			tt.given(x)
			var runs []string
			for name := range strings.SplitSeq(tt.runs, "") {
				runs = append(runs, chainJID(name))
			}
			err = x.s.Furthest(t.Context(), runs)
			if tt.notYet != "" {
				if err == nil || !strings.Contains(err.Error(), tt.notYet) || x.s.PutBack.Load() != app.ExitNotYet {
					t.Errorf("furthest = %v, %d", err, x.s.PutBack.Load())
				}
				return
			}
			x.must(err)
			resume := ""
			if j := x.s.resume; j != nil {
				i := slices.IndexFunc([]string{"a", "b", "c", "p", "q"}, func(name string) bool { return chainJID(name) == j.JID })
				resume = fmt.Sprint(strings.Split("abcpq", "")[i], j.Prefix())
			}
			var claims []string
			for name := range strings.SplitSeq(tt.claims, "") {
				claims = append(claims, chainJID(name))
			}
			if resume != tt.resume || !slices.Equal(x.s.claims, claims) {
				t.Errorf("the next run goes on with %q and claims %v, want %q and %v", resume, x.s.claims, tt.resume, claims)
			}
		})
	}
}
