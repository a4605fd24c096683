package history_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/internal/testkit/historytest"
)

func open(t testing.TB, path string) *history.Store {
	t.Helper()
	s, err := history.Open(t.Context(), path, func(err error) { t.Errorf("warned: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history", "history.db")
	historytest.Store(t, open(t, path))
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("stat = %v, %v", st, err)
	}
}

// Several controllers write to one file at once.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			s, err := history.Open(t.Context(), path, nil)
			if err != nil {
				errs[i] = err
				return
			}
			defer s.Close()
			for n := range 5 {
				rows := historytest.Rows(fmt.Sprintf("202611210908%02d%06d", i, n), "web", 3, 3, nil)
				for part := range slices.Chunk(rows, 4) {
					errs[i] = errors.Join(errs[i], s.Return(t.Context(), part))
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	l, err := open(t, path).Executions(t.Context(), history.Query{Status: history.Succeeded})
	if err != nil || len(l) != 40 {
		t.Errorf("%d executions, %v", len(l), err)
	}
}

// A damaged file is set aside with a message, and the history begins again.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"no database at all, but long enough to have a header that SQLite looks at: 0123456789012345678901234567890", "SQLite format 3\x00" + strings.Repeat("\xff", 5000)} {
		path := filepath.Join(t.TempDir(), "history.db")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var said []string
		s, err := history.Open(t.Context(), path, func(err error) { said = append(said, err.Error()) })
		if err != nil {
			t.Fatalf("Open = %v", err)
		}
		defer s.Close()
		if len(said) != 1 || !strings.Contains(said[0], "it was set aside as "+path+".damaged-") {
			t.Errorf("said %q", said)
		}
		if kept, _ := filepath.Glob(path + ".damaged-*"); len(kept) != 1 {
			t.Errorf("kept %q", kept)
		} else if b, _ := os.ReadFile(kept[0]); string(b) != text {
			t.Error("the damaged file was changed")
		}
		historytest.Store(t, s)
	}
}

// A file that becomes damaged later is set aside as well.
func TestDamagedLater(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	s := open(t, path)
	if err := s.Return(t.Context(), historytest.Rows("20261121090807000001", "web", 20, 20, nil)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(b); i++ {
		b[i] = 0xff
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	s, err = history.Open(t.Context(), path, func(err error) { said = append(said, err.Error()) })
	if err == nil {
		_, err = s.Executions(t.Context(), history.Query{})
		s.Close()
	}
	if len(said) != 1 || !strings.Contains(said[0], "set aside") {
		t.Fatalf("said %q, %v", said, err)
	}
	historytest.Store(t, open(t, path))
}

// What a run tells its record is what the history has of it.
func TestRecorder(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "history.db"))
	now := time.Date(2026, 11, 21, 9, 8, 7, 0, time.UTC)
	var rows []*value.Map
	r := &history.Recorder{Put: func(row *value.Map) { rows = append(rows, row) }, Now: func() time.Time { now = now.Add(time.Second); return now }, Controller: "ctl", PID: 7}
	const jid, sub = "20261121090807000001", "20261121090808000001"
	top := r.Record(jobs.Load{JID: jid, Fun: "runner.state.orchestrate", User: "zoe", Runner: true}, jobs.Nothing{})
	low := value.NewList()
	for i, id := range []string{"one", "two", "three"} {
		low.Append(value.MapOf("state", "salt", "fun", "state", "name", id, "__id__", id, "order", int64(i), "tgt", value.Strings("web1", "web2"), "tgt_type", "list",
			"metadata", value.MapOf("action_id", int64(40+i)), "sls", value.Strings("web")))
	}
	if err := top.Note("definition", value.MapOf("sls", value.Strings("deploy"), "test", false, "low", low)); err != nil {
		t.Fatal(err)
	}
	step := r.Record(jobs.Load{JID: sub, Fun: "state.apply", OrchJID: jid, Tgt: value.Strings("web1", "web2")}, jobs.Nothing{})
	states := func(ok bool) fun.Body {
		return fun.ValueBody{V: value.MapOf(
			"file_|-a_|-/a_|-managed", value.MapOf("result", true, "changes", value.MapOf("diff", "x"), "comment", "", "duration", 1500.0),
			"cmd_|-b_|-b_|-run", value.MapOf("result", ok, "changes", value.NewMap(0), "comment", "db_password: hunter2 Authorization: Bearer abcdef", "duration", 500.0),
		)}
	}
	_ = step.Return(fun.Return{ID: "web1", Stage: fun.Returned, Body: states(true)})
	_ = step.Return(fun.Return{ID: "web2", Stage: fun.Returned, Retcode: 2, Body: states(false)})
	_ = step.End()
	_ = top.Note("step", value.MapOf("tag", "salt_|-one_|-one_|-state", "tgt", value.Strings("web1", "web2"), "metadata", value.MapOf("action_id", int64(40)),
		"return", value.MapOf("__id__", "one", "__jid__", sub, "result", false, "comment", "Run failed on minions: web2", "duration", 2500.0)))
	// A step whose return does not name its job, as one in batches.
	batch := r.Record(jobs.Load{JID: "20261121090809000001", Fun: "state.apply", OrchJID: jid, Tgt: value.Strings("web1")}, jobs.Nothing{})
	_ = batch.Return(fun.Return{ID: "web1", Stage: fun.Lost, Err: errors.New("connection reset")})
	_ = batch.End()
	_ = top.Note("step", value.MapOf("tag", "salt_|-two_|-two_|-state", "tgt", value.Strings("web1"), "return", value.MapOf("__id__", "two", "result", false, "comment", "", "duration", 1.0)))
	if err := s.Return(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	e, err := s.Execution(t.Context(), jid)
	if err != nil || e == nil || e.Status != history.Running || e.Done != 2 || e.FailedSteps != 2 || e.Steps != 3 || e.Hosts != 2 || e.Name != "deploy" || e.Kind != history.Orchestration || e.User != "zoe" {
		t.Fatalf("Execution = %+v, %v", e, err)
	}
	steps, err := s.Steps(t.Context(), e)
	if err != nil || len(steps) != 3 {
		t.Fatalf("Steps = %+v, %v", steps, err)
	}
	one, two, three := steps[0], steps[1], steps[2]
	if one.Result != history.Bad || one.ActionID != "40" || one.StepJID != sub || one.Target != "web1,web2" || one.Duration != 2500*time.Millisecond || len(one.Hosts) != 2 {
		t.Errorf("step one = %+v", one)
	}
	if h := one.Hosts[0]; h.Host != "web1" || h.Result != history.OK || h.Changed != 1 || h.Duration != 2*time.Second || value.Repr(h.Detail.At("changed")) != "['file.managed: a']" {
		t.Errorf("web1 = %+v", h)
	}
	if h := one.Hosts[1]; h.Result != history.Bad || strings.Contains(value.Repr(h.Detail), "Bearer") || !strings.Contains(value.Repr(h.Detail), "cmd.run: b") {
		t.Errorf("web2 = %+v", h)
	}
	if len(two.Hosts) != 1 || two.Hosts[0].Result != history.Missing || !strings.Contains(two.Hosts[0].Detail.Str("why"), "connection reset") {
		t.Errorf("step two = %+v", two)
	}
	if three.Result != history.Pending || three.ActionID != "42" {
		t.Errorf("step three = %+v", three)
	}
	d, err := s.Definition(t.Context(), e.Definition)
	if err != nil || d == nil || len(d.Steps) != 3 || d.Steps[0].Target != "web1,web2" || value.Repr(d.Steps[0].Args.At("sls")) != "['web']" {
		t.Errorf("Definition = %+v, %v", d, err)
	}
	// How it ends.
	rows = nil
	_ = top.Return(fun.Return{ID: "ctl", Stage: fun.Returned, Retcode: 1, Body: fun.ValueBody{V: value.MapOf("return", value.NewMap(0))}})
	_ = top.End()
	if err := s.Return(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if e, _ := s.Execution(t.Context(), jid); e.Status != history.Failed || e.Duration() <= 0 {
		t.Errorf("Execution = %+v", e)
	}
}

// The earlier tries of a step belong to it, and do not count as its results.
func TestRetriedStep(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "history.db"))
	var rows []*value.Map
	r := &history.Recorder{Put: func(row *value.Map) { rows = append(rows, row) }, Now: time.Now, Controller: "ctl"}
	const jid = "20261121090807000001"
	top := r.Record(jobs.Load{JID: jid, Fun: "runner.state.orchestrate", Runner: true}, jobs.Nothing{})
	low := value.NewList(value.MapOf("state", "salt", "fun", "state", "name", "one", "__id__", "one", "tgt", "web1"))
	_ = top.Note("definition", value.MapOf("sls", "deploy", "low", low))
	try := func(sub, mods string, code int) {
		job := r.Record(jobs.Load{JID: sub, Fun: "state.apply", OrchJID: jid, Tgt: "web1", Arg: value.NewList(mods)}, jobs.Nothing{})
		_ = job.Return(fun.Return{ID: "web1", Stage: fun.Returned, Retcode: code, Body: fun.ValueBody{V: true}})
		_ = job.End()
	}
	try("20261121090808000001", "web", 1)
	try("20261121090808000002", "db", 0) // of another step that runs now
	try("20261121090808000003", "web", 1)
	try("20261121090808000004", "web", 0)
	_ = top.Note("step", value.MapOf("tag", "salt_|-one_|-one_|-state", "tgt", "web1", "return", value.MapOf("__id__", "one", "__jid__", "20261121090808000004", "result", true)))
	_ = top.Return(fun.Return{ID: "ctl", Stage: fun.Returned, Body: fun.ValueBody{V: true}})
	_ = top.End()
	if err := s.Return(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	all, err := s.Host(t.Context(), "web1", history.Query{})
	if err != nil || len(all) != 4 {
		t.Fatalf("Host = %+v, %v", all, err)
	}
	for _, h := range all {
		if want := h.StepJID != "20261121090808000002"; (h.Step == "one" && h.Order == 1) != want {
			t.Errorf("job %s belongs to step %q, %d", h.StepJID, h.Step, h.Order)
		}
	}
	e, err := s.Execution(t.Context(), jid)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := s.Steps(t.Context(), e)
	if err != nil || len(steps) != 1 || len(steps[0].Hosts) != 1 || steps[0].Hosts[0].StepJID != "20261121090808000004" {
		t.Errorf("Steps = %+v, %v", steps, err)
	}
	st, err := s.Stats(t.Context(), history.Query{})
	if err != nil || len(st.Hosts) != 1 || st.Hosts[0].OK != 1 || st.Hosts[0].Failed != 0 || len(st.Flaky) != 0 {
		t.Errorf("Stats = %+v, %v", st, err)
	}
}

// What targets and chains say is bounded, and has no secrets.
func TestRecorderOfHostileTargets(t *testing.T) {
	t.Parallel()
	var rows []*value.Map
	label := func(string) (string, string) { return "run curl -H 'Authorization: Bearer abcdef' x", "web*" }
	r := &history.Recorder{Put: func(row *value.Map) { rows = append(rows, row) }, Now: time.Now, Subject: &history.Subject{Kind: history.Chain, Name: "c", Step: label}}
	const jid = "20261121090807000001"
	top := r.Record(jobs.Load{JID: jid, Fun: "runner.state.orchestrate"}, jobs.Nothing{})
	if err := top.Note("definition", value.MapOf("low", value.NewList(value.MapOf("state", "salt", "fun", "function", "__id__", "one")))); err != nil {
		t.Fatal(err)
	}
	if s := value.Repr(rows[0]); strings.Contains(s, "abcdef") || !strings.Contains(s, "run curl") {
		t.Errorf("begin = %s", s)
	}
	step := r.Record(jobs.Load{JID: "20261121090808000001", Fun: "state.apply", OrchJID: jid}, jobs.Nothing{})
	for _, d := range []value.Value{math.Inf(1), math.NaN(), -5.0, "inf", "x", nil, 1e300} {
		states := value.MapOf("a_|-a_|-a_|-b", value.MapOf("result", true, "duration", d), "a_|-c_|-c_|-b", value.MapOf("result", true, "duration", d))
		_ = step.Return(fun.Return{ID: "web1", Stage: fun.Returned, Body: fun.ValueBody{V: states}})
		if took, ok := rows[len(rows)-1].At("duration").(float64); !ok || math.IsNaN(took) || took < 0 || took > 1e9 {
			t.Errorf("duration %v is %v", d, took)
		}
	}
}

// Steps with one ID are compared in their order.
// TestTestModeOfHosts: a host whose states would change has neither changed nor is it good.
func TestTestModeOfHosts(t *testing.T) {
	t.Parallel()
	var rows []*value.Map
	r := &history.Recorder{Controller: "ctl", Now: time.Now, Put: func(row *value.Map) { rows = append(rows, row) }}
	const jid = "20261121090807000001"
	top := r.Record(jobs.Load{JID: jid, Fun: "runner.state.orchestrate", Runner: true}, jobs.Nothing{})
	if err := top.Note("definition", value.MapOf("sls", value.Strings("deploy"), "test", true, "low", value.NewList())); err != nil {
		t.Fatal(err)
	}
	job := r.Record(jobs.Load{JID: "20261121090807123456", Fun: "state.apply", OrchJID: jid, Tgt: value.Strings("web1")}, jobs.Nothing{})
	state := func(result value.Value) *value.Map {
		return value.MapOf("result", result, "changes", value.MapOf("diff", "x"), "comment", "", "duration", 1.0)
	}
	for id, result := range map[string]value.Value{"web1": nil, "web2": true} {
		_ = job.Return(fun.Return{ID: id, Stage: fun.Returned, Body: fun.ValueBody{V: value.MapOf("file_|-a_|-/a_|-managed", state(result))}})
	}
	got := map[string]string{}
	for _, row := range rows {
		if row.Str("kind") == "host" {
			got[row.Str("host")] = fmt.Sprint(row.Str("result"), row.At("changed"), value.Repr(row.At("detail")))
		}
	}
	want := map[string]string{"web1": "test0{'would_change': ['file.managed: a']}", "web2": "ok1{'changed': ['file.managed: a']}"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDiffSameID(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "history.db"))
	var both []*history.Execution
	for jid, bad := range map[string]map[string]bool{"20261121090807000001": nil, "20261121100807000001": {"web1": true}} {
		rows := historytest.Rows(jid, "web", 3, 2, bad)
		for _, r := range rows {
			if r.Has("step") {
				r.Set("step", "same")
			}
		}
		if err := s.Return(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		e, err := s.Execution(t.Context(), jid)
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, e)
	}
	d, err := s.Diff(t.Context(), both[0], both[1])
	if err != nil || len(d.Steps) != 1 || d.Steps[0].Then.Order != 3 || d.Steps[0].Now.Order != 3 || len(d.Steps[0].Hosts) != 1 {
		t.Errorf("Diff = %+v, %v", d, err)
	}
}

// Results of steps that have not ended belong to no step: they make no target
// flaky.
func TestStatsOfOpenSteps(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "history.db"))
	for jid, bad := range map[string]map[string]bool{"20261121090807000001": nil, "20261121100807000001": {"web0": true}} {
		if err := s.Return(t.Context(), historytest.Rows(jid, "web", 1, 1, bad)[:2]); err != nil {
			t.Fatal(err)
		}
	}
	st, err := s.Stats(t.Context(), history.Query{})
	if err != nil || st.Executions != 2 || len(st.Hosts) != 0 || len(st.Flaky) != 0 {
		t.Errorf("Stats = %+v, %v", st, err)
	}
}

// A clock that is set back makes no duration negative.
func TestDurationOfClockSetBack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	if d := (&history.Execution{Started: now, Ended: now.Add(-time.Hour)}).Duration(); d != 0 {
		t.Errorf("Duration = %s", d)
	}
}

// Five thousand executions of 20 steps on 20 targets: see docs/history.md.
func BenchmarkSearch(b *testing.B) {
	path := os.Getenv("BRINE_BENCH_HISTORY")
	if path == "" {
		path = filepath.Join(b.TempDir(), "history.db")
	}
	s := open(b, path)
	ctx := b.Context()
	if l, err := s.Executions(ctx, history.Query{}); err != nil || len(l) == 0 {
		began := time.Now()
		for n := range 5000 {
			jid := jobs.JIDAt(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour))
			var bad map[string]bool
			if n%10 == 0 {
				bad = map[string]bool{fmt.Sprintf("web%d", n/10%20): true}
			}
			if err := s.Return(ctx, historytest.Rows(jid, fmt.Sprintf("deploy%d", n%50), 20, 20, bad)); err != nil {
				b.Fatal(err)
			}
		}
		b.Logf("filled in %s", time.Since(began))
	}
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, q := range []struct {
		name string
		do   func() (int, error)
	}{
		{"list", func() (int, error) { l, err := s.Executions(ctx, history.Query{Limit: 50}); return len(l), err }},
		{"list-all", func() (int, error) { l, err := s.Executions(ctx, history.Query{}); return len(l), err }},
		{"list-failed", func() (int, error) {
			l, err := s.Executions(ctx, history.Query{Status: history.Failed, Limit: 50})
			return len(l), err
		}},
		{"list-name-since", func() (int, error) {
			l, err := s.Executions(ctx, history.Query{Name: "deploy1*", Since: at})
			return len(l), err
		}},
		{"show", func() (int, error) {
			l, err := s.Executions(ctx, history.Query{Limit: 1, Until: at})
			if err != nil {
				return 0, err
			}
			st, err := s.Steps(ctx, &l[0])
			return len(st), err
		}},
		{"host", func() (int, error) { l, err := s.Host(ctx, "web7", history.Query{Limit: 50}); return len(l), err }},
		{"host-name", func() (int, error) {
			l, err := s.Host(ctx, "web7", history.Query{Name: "deploy7", Limit: 50})
			return len(l), err
		}},
		{"host-failed", func() (int, error) {
			l, err := s.Host(ctx, "web7", history.Query{Status: history.Failed, Limit: 50})
			return len(l), err
		}},
		{"action", func() (int, error) { l, err := s.Action(ctx, "7", history.Query{Limit: 50}); return len(l), err }},
		{"stats-name", func() (int, error) {
			st, err := s.Stats(ctx, history.Query{Name: "deploy7"})
			return st.Executions, err
		}},
		{"stats-100", func() (int, error) {
			st, err := s.Stats(ctx, history.Query{Limit: 100})
			return st.Executions, err
		}},
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				if n, err := q.do(); err != nil || n == 0 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
