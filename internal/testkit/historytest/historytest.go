// Package historytest has what tests of histories share: rows of executions, and
// what every store of them must do.
package historytest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// Rows are those of one execution of a definition with a name: steps, each on
// hosts web0, web1 and so on, of which those of bad fail at the last step.
func Rows(jid, name string, steps, hosts int, bad map[string]bool) []*value.Map {
	began, _ := jobs.Time(jid)
	at := func(d time.Duration) string { return began.Add(d).Format("2006-01-02 15:04:05.000000") }
	defs := value.NewList()
	for i := range steps {
		defs.Append(value.MapOf("id", fmt.Sprintf("step%d", i+1), "label", "", "fun", "salt.state", "tgt", "web*", "action_id", fmt.Sprint(i+1), "args", value.MapOf("sls", value.Strings("web"))))
	}
	hash := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", name, steps)))
	row := func(kind string, args ...any) *value.Map {
		m := value.MapOf(args...)
		m.Set("kind", kind)
		m.Set("jid", jid)
		m.Set("id", "ctl")
		return m
	}
	out := []*value.Map{row("begin",
		"definition", value.MapOf("hash", hash, "kind", history.Chain, "name", name, "description", "é 日本 \U0001f9c2", "source", "", "created", at(0), "steps", defs),
		"user", "zoe", "controller", "ctl", "cache", "/var/cache/brine", "pid", int64(1), "started", at(0), "test", false, "resumes", "", "parent", "", "revision", "", "pillar", "")}
	status := history.Succeeded
	failed := int64(0)
	for i := range steps {
		stepJID := jobs.JIDAt(began.Add(time.Duration(i+1) * time.Second))
		result := history.OK
		for h := range hosts {
			host, r, detail := fmt.Sprintf("web%d", h), history.OK, value.MapOf("changed", value.Strings("file.managed: /etc/web.conf"))
			if bad[host] && i == steps-1 {
				r, result, status, failed = history.Bad, history.Bad, history.Failed, 1
				detail = value.MapOf("failed", value.MapOf("cmd.run: x", "odd ' \" \\ %s ? $1 \x00"))
			}
			out = append(out, row("host", "step_jid", stepJID, "host", host, "result", r, "duration", 0.5+float64(h)/10, "changed", int64(1), "ended", at(time.Duration(i+1)*time.Second), "detail", detail))
		}
		out = append(out, row("step", "order", int64(i+1), "step", fmt.Sprintf("step%d", i+1), "fun", "salt.state", "action_id", fmt.Sprint(i+1), "step_jid", stepJID,
			"jids", value.Strings(stepJID), "result", result, "started", at(time.Duration(i)*time.Second), "duration", 1.0, "comment", "", "tgt", "web*", "pillar", "",
			"done", int64(i+1), "failed", failed, "hosts", int64(hosts)))
	}
	return append(out, row("end", "status", status, "ended", at(time.Duration(steps)*time.Second), "done", int64(steps), "failed", failed, "hosts", int64(hosts)))
}

// Store tries what a history must do, in any database. It must be empty.
func Store(t *testing.T, s *history.Store) {
	t.Helper()
	ctx := t.Context()
	put := func(rows []*value.Map) {
		t.Helper()
		if err := s.Return(ctx, rows); err != nil {
			t.Fatal(err)
		}
	}
	const a, b, c = "20261121090807000001", "20261121100807000001", "20261121110807000001"
	put(Rows(a, "web", 3, 2, nil))
	put(Rows(b, "web", 3, 3, map[string]bool{"web1": true}))
	unfinished := Rows(c, "web_db", 2, 1, nil)
	put(unfinished[:2])
	put(Rows(a, "web", 3, 2, nil)) // some come twice
	ids := func(q history.Query) string {
		t.Helper()
		l, err := s.Executions(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range l {
			out = append(out, map[string]string{a: "a", b: "b", c: "c"}[e.JID]+" "+e.Status)
		}
		return strings.Join(out, ", ")
	}
	for _, tt := range []struct {
		q    history.Query
		want string
	}{
		{history.Query{}, "c running, b failed, a succeeded"},
		{history.Query{Limit: 1}, "c running"},
		{history.Query{Before: c, Limit: 1}, "b failed"},
		{history.Query{Name: "web"}, "b failed, a succeeded"},
		{history.Query{Name: "web*", Status: history.Failed}, "b failed"},
		{history.Query{Name: "web?db"}, "c running"},
		{history.Query{Name: "no*"}, ""},
		{history.Query{Text: "EB_d"}, "c running"},
		{history.Query{Text: "e?"}, ""},
		{history.Query{Text: "web", Sort: "status"}, "b failed, c running, a succeeded"},
		{history.Query{Sort: "-name", Skip: 1, Limit: 5}, "b failed, a succeeded"},
		{history.Query{Status: history.Running, Skip: 1}, ""},
		{history.Query{Status: history.Running, Limit: 5}, "c running"},
		{history.Query{Status: history.Killed}, ""},
		{history.Query{User: "z*", Kind: history.Chain, Since: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Until: time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)}, "b failed"},
		{history.Query{Target: "web2"}, "b failed"},
		{history.Query{Target: "web1", Limit: 1}, "b failed"},
		{history.Query{Target: "web*"}, ""},
		{history.Query{User: "o'neil; DROP TABLE orchestration_states"}, ""},
	} {
		if got := ids(tt.q); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.q, got, tt.want)
		}
		all := tt.q
		all.Limit, all.Skip, all.Before = 0, 0, ""
		want := 0
		if list := ids(all); list != "" {
			want = strings.Count(list, ",") + 1
		}
		if n, err := s.Count(ctx, tt.q); n != want || err != nil {
			t.Errorf("%+v: %d are counted, %v, want %d", tt.q, n, err, want)
		}
	}
	if _, err := s.Executions(ctx, history.Query{Sort: "pillar; DROP TABLE x"}); err == nil {
		t.Error("executions are sorted by anything")
	}
	e, err := s.Execution(ctx, b)
	if err != nil || e == nil || e.Steps != 3 || e.Done != 3 || e.FailedSteps != 1 || e.Hosts != 3 || e.Duration() != 3*time.Second {
		t.Fatalf("Execution = %+v, %v", e, err)
	}
	first, err := s.Execution(ctx, a)
	if err != nil || first.Definition != e.Definition {
		t.Fatalf("the definitions are %s and %s, %v", first.Definition, e.Definition, err)
	}
	if d, err := s.Definition(ctx, e.Definition); err != nil || len(d.Steps) != 3 || d.Description != "é 日本 \U0001f9c2" || d.Steps[2].ActionID != "3" || d.Steps[0].Args.List("sls").Len() != 1 {
		t.Errorf("Definition = %+v, %v", d, err)
	}
	steps, err := s.Steps(ctx, e)
	if err != nil || len(steps) != 3 || len(steps[2].Hosts) != 3 || steps[2].Result != history.Bad || steps[2].Hosts[1].Result != history.Bad ||
		steps[2].Hosts[1].Detail.Map("failed").Str("cmd.run: x") != "odd ' \" \\ %s ? $1 \x00" {
		t.Errorf("Steps = %+v, %v", steps, err)
	}
	if none, err := s.Execution(ctx, "20200101000000000000"); none != nil || err != nil {
		t.Errorf("an execution that is not there = %v, %v", none, err)
	}
	if l, err := s.Host(ctx, "web1", history.Query{Limit: 5}); err != nil || len(l) != 6 || l[0].JID != b || l[2].Step != "step3" || l[2].Result != history.Bad || l[0].User != "zoe" {
		t.Errorf("Host = %+v, %v", l, err)
	}
	if l, err := s.Host(ctx, "web1", history.Query{Name: "web", Limit: 1}); err != nil || len(l) != 3 {
		t.Errorf("Host = %+v, %v", l, err)
	}
	if h, err := s.Latest(ctx, "web1"); err != nil || h == nil || h.JID != b || h.Order != 3 || h.Result != history.Bad {
		t.Errorf("Latest = %+v, %v", h, err)
	}
	if h, err := s.Latest(ctx, "none"); h != nil || err != nil {
		t.Errorf("Latest of nobody = %+v, %v", h, err)
	}
	if l, err := s.Action(ctx, "3", history.Query{}); err != nil || len(l) != 2 || l[0].JID != b || len(l[0].Hosts) != 3 {
		t.Errorf("Action = %+v, %v", l, err)
	}
	st, err := s.Stats(ctx, history.Query{Name: "web"})
	if err != nil || st.Executions != 2 || st.Rate != 0.5 || len(st.Steps) != 3 || st.Steps[2].Failed != 1 || len(st.Hosts) != 3 || len(st.Flaky) != 1 || st.Flaky[0].Host != "web1" ||
		st.Durations.P50 != 3*time.Second {
		t.Errorf("Stats = %+v, %v", st, err)
	}
	d, err := s.Diff(ctx, first, e)
	if err != nil || d.Definition != "" || len(d.Steps) != 3 || len(d.Steps[0].Hosts) != 1 || len(d.Steps[2].Hosts) != 2 {
		t.Errorf("Diff = %+v, %v", d, err)
	}
	settles(t, s, c)
	forgets(t, s)
}

// settles tries what is found out of an execution that has no end.
func settles(t *testing.T, s *history.Store, jid string) {
	t.Helper()
	for _, fate := range []history.Outcome{{Status: history.Running}, {Status: history.Unfinished}, {Status: history.Killed, Signal: 9, At: time.Date(2026, 11, 21, 11, 9, 0, 0, time.UTC)}} {
		s.Alive = func(_ context.Context, e *history.Execution) history.Outcome {
			if e.JID != jid {
				t.Errorf("asked of %s", e.JID)
			}
			return fate
		}
		l, err := s.Executions(t.Context(), history.Query{Status: fate.Status})
		if err != nil || len(l) != 1 || l[0].Signal != fate.Signal || !l[0].Ended.Equal(fate.At) {
			t.Errorf("%s: %+v, %v", fate.Status, l, err)
		}
	}
	// One whose process is gone is found under what became of it, although nobody looked before.
	const other = "20261121120807000001"
	s.Alive = func(context.Context, *history.Execution) history.Outcome {
		return history.Outcome{Status: history.Failed, At: time.Date(2026, 11, 21, 12, 9, 0, 0, time.UTC)}
	}
	q := history.Query{Status: history.Failed, Name: "gone"}
	if err := s.Return(t.Context(), Rows(other, "gone", 2, 1, nil)[:2]); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Count(t.Context(), q); n != 1 || err != nil {
		t.Errorf("%d failed, %v", n, err)
	}
	if l, err := s.Executions(t.Context(), q); len(l) != 1 || err != nil {
		t.Errorf("failed: %v, %v", l, err)
	}
	s.Alive = nil
	if e, err := s.Execution(t.Context(), jid); err != nil || e.Status != history.Killed || e.Signal != 9 {
		t.Errorf("Execution = %+v, %v", e, err)
	}
}

// forgets tries that old executions go, and definitions with the last of theirs.
func forgets(t *testing.T, s *history.Store) {
	t.Helper()
	ctx := t.Context()
	fresh := jobs.JIDAt(time.Now())
	if err := s.Return(ctx, Rows(fresh, "new", 2, 2, nil)); err != nil {
		t.Fatal(err)
	}
	old, err := s.Executions(ctx, history.Query{Name: "web"})
	if err != nil || len(old) == 0 {
		t.Fatal(old, err)
	}
	for n := range 60 {
		if err := s.Return(ctx, Rows(fmt.Sprintf("202001010000%08d", n), "old", 1, 1, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Clean(ctx, 24*time.Hour, false); err != nil {
		t.Fatal(err)
	}
	gone, err := s.Executions(ctx, history.Query{Name: "old"})
	if err != nil || len(gone) != 0 {
		t.Errorf("%d old executions are left, %v", len(gone), err)
	}
	if l, err := s.Executions(ctx, history.Query{Name: "new"}); err != nil || len(l) != 1 {
		t.Errorf("new: %+v, %v", l, err)
	} else if d, err := s.Definition(ctx, l[0].Definition); err != nil || d == nil || len(d.Steps) != 2 {
		t.Errorf("its definition: %+v, %v", d, err)
	}
}
