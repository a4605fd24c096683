package ui

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/testkit/historytest"
)

// execute stores an execution of three steps on two hosts in the history.
func (s *site) execute(jid, name string, change func(row *value.Map)) {
	s.t.Helper()
	rows := historytest.Rows(jid, name, 3, 2, map[string]bool{"web1": strings.HasSuffix(name, "bad")})
	if change != nil {
		for _, r := range rows {
			change(r)
		}
	}
	if err := s.History(s.t.Context(), func(st *history.Store) error { return st.Return(s.t.Context(), rows) }); err != nil {
		s.t.Fatal(err)
	}
}

// record stores a job in the job cache, whose returns have a return code.
func (s *site) record(l jobs.Load, returns map[string]value.Value, code int) {
	s.t.Helper()
	f := jobs.NewFiles(filepath.Join(s.dir, "cache"), 0, time.Now)
	rec, err := f.Begin(l)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, id := range slices.Sorted(maps.Keys(returns)) {
		if err := rec.Return(fun.Return{ID: id, JID: l.JID, Stage: fun.Returned, Retcode: code, Body: fun.ValueBody{V: returns[id]}}); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := rec.End(); err != nil {
		s.t.Fatal(err)
	}
}

// jidAt is a job id of a day of 2026.
func jidAt(day int) string {
	return jobs.JIDAt(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, day))
}

// TestHistory searches, pages and compares executions.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for day := range 60 {
		name := fmt.Sprintf("deploy%d", day%3)
		if day == 7 {
			name = "web_bad"
		}
		s.execute(jidAt(day), name, nil)
	}
	b := s.browser(Viewer)
	link := regexp.MustCompile(`href="/history/(\d{20})"`)
	list := func(query string) []string {
		t.Helper()
		w := b.get("/history" + query)
		status(t, query, w, 200)
		var out []string
		for _, m := range link.FindAllStringSubmatch(w.Body.String(), -1) {
			out = append(out, m[1])
		}
		return out
	}
	first := list("")
	if len(first) != executionsShown || first[0] != jidAt(59) {
		t.Errorf("first page: %v", first)
	}
	if rest := list("?before=" + first[executionsShown-1]); len(rest) != 10 || rest[9] != jidAt(0) {
		t.Errorf("second page: %v", rest)
	}
	for query, want := range map[string]int{
		"?name=deploy1": 19, "?name=web*": 1, "?status=failed": 1, "?status=killed": 0, "?user=zoe&since=2026-02-28": 2, "?user=zoe&since=2026-02-28&until=2026-02-27": 0, "?host=web1&name=web_bad": 1, "?host=web2": 0,
		"?kind=chain&status=failed&host=web0": 1, "?kind=template": 0,
	} {
		if got := list(query); len(got) != want {
			t.Errorf("%s: %d executions, want %d", query, len(got), want)
		}
	}
	for _, query := range []string{"?since=soon", "?until=soon", "?status=good", "?kind=x", "?before=1"} {
		if w := b.get("/history" + query); !strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%s: the page does not say what is wrong", query)
		}
	}
	text := b.get("/history/" + jidAt(7)).Body.String()
	for _, want := range []string{"web_bad", "odd &#39; &#34;", "began after 2.0 s, took 1.0 s", `<rect x="66.67%"`, "does not have the record"} {
		if !strings.Contains(text, want) {
			t.Errorf("execution: no %s in %s", want, text)
		}
	}
	if text := b.get("/history/" + jidAt(8)).Body.String(); !strings.Contains(text, "/history/compare?jid="+jidAt(5)+"&amp;jid="+jidAt(8)) {
		t.Errorf("the execution before is not linked: %s", text)
	}
	text = b.get("/history/compare?jid=" + jidAt(8) + "&jid=" + jidAt(7)).Body.String()
	if then, now := strings.Index(text, "web_bad, "), strings.Index(text, "deploy2, "); then < 0 || now < then || !strings.Contains(text, "failed, 1 change: cmd.run: x: odd") {
		t.Errorf("compared: %s", text)
	}
	for _, query := range []string{"", "?jid=" + jidAt(7), "?jid=" + jidAt(7) + "&jid=" + jidAt(7), "?jid=" + jidAt(1) + "&jid=" + jidAt(2) + "&jid=" + jidAt(3)} {
		status(t, query, b.get("/history/compare"+query), 422)
	}
	status(t, "an execution that is not there", b.get("/history/compare?jid="+jidAt(7)+"&jid=20990101000000000000"), 404)
}

// TestTimeline has times that make no sense.
func TestTimeline(t *testing.T) {
	t.Parallel()
	now := time.Now()
	e := &history.Execution{Started: now, Ended: now.Add(-time.Hour), Status: history.Running}
	steps := []history.ExecutionStep{
		{Started: now.Add(-time.Minute), Duration: -time.Hour, Result: history.OK},
		{Started: now.Add(time.Second), Duration: time.Second, Hosts: []history.HostResult{{Host: "a", Result: history.OK}, {Host: "b", Result: history.Missing, Ended: now.Add(9 * time.Second), Duration: time.Hour}}},
		{Result: history.Pending},
		{Started: now.Add(2 * time.Second), Result: history.Pending, Comment: "One or more requisite failed: x.y"},
	}
	out := timeline(e, steps, now.Add(10*time.Second))
	if got := out[1].Bar; got == nil || *got != (bar{"10.00%", "10.00%"}) {
		t.Errorf("bar %v", got)
	}
	if got := out[0].Bar; got == nil || *got != (bar{"0.00%", "0.40%"}) {
		t.Errorf("bar %v", got)
	}
	if out[2].Bar != nil || out[1].Shown[0].ID != "b" || *out[1].Shown[0].Bar != (bar{"0.00%", "100.00%"}) || out[1].Bad != 1 {
		t.Errorf("timeline %+v", out)
	}
	if out[2].State != "pending" || out[3].State != "not_run" || out[3].Bar != nil || timelineText(&out[3]) != "" || timelineText(&out[2]) != ", has not ended" || stepResultText(&steps[3]) != "not run" {
		t.Errorf("what has not ended: %+v; what did not run: %+v", out[2], out[3])
	}
	many := []history.ExecutionStep{{Hosts: make([]history.HostResult, 1000)}}
	if out := timeline(e, many, now); len(out[0].Shown) != shownReturns || out[0].More != 800 {
		t.Errorf("%d hosts are shown", len(out[0].Shown))
	}
}

// TestFileDiffs shows a diff that many hosts have once.
func TestFileDiffs(t *testing.T) {
	t.Parallel()
	var j jobView
	st := stepResult{stateResult: stateResult{ID: "step"}}
	for i := range 60 {
		st.Hosts = append(st.Hosts, hostResult{ID: fmt.Sprint("web", i), States: []stateResult{{ID: "/etc/a", Diff: "+a"}, {ID: "/etc/b"}, {ID: "/etc/c", Diff: fmt.Sprint("+", i)}}})
	}
	j.Steps = []stepResult{st, st}
	j.Steps[1].ID = "another step"
	all, more := fileDiffs(j)
	if len(all) != diffsShown || more != 22 || len(all[0].Hosts) != hostsOfDiff || all[0].More != 10 {
		t.Errorf("%d diffs, %d more, %d hosts, %d more", len(all), more, len(all[0].Hosts), all[0].More)
	}
}

// TestRetry runs a job again on the hosts that failed in it.
func TestRetry(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.record(jobs.Load{JID: jidAt(1), Fun: "cmd.run", Tgt: "*", Minions: []string{"web1", "web2"}}, map[string]value.Value{"web1": "no"}, 1)
	s.record(jobs.Load{JID: jidAt(2), Fun: "cmd.run", Tgt: "*", Minions: []string{"web1"}}, map[string]value.Value{"web1": "yes"}, 0)
	s.record(jobs.Load{JID: jidAt(3), Fun: "runner.jobs.active", Tgt: "ctl", Runner: true, Minions: []string{"ctl"}}, map[string]value.Value{"ctl": "no"}, 1)
	b := s.browser(Editor)
	if text := b.get("/jobs/" + jidAt(1)).Body.String(); !strings.Contains(text, "Run it again on the 2 hosts that failed") {
		t.Errorf("page: %s", text)
	}
	for _, jid := range []string{jidAt(2), jidAt(3)} {
		status(t, jid, b.post("/jobs/"+jid+"/retry"), 422)
		if text := b.get("/jobs/" + jid).Body.String(); strings.Contains(text, "Run it again") {
			t.Errorf("page: %s", text)
		}
	}
	if to := b.get("/jobs?text=+" + jidAt(2)).Header().Get("Location"); to != "/jobs/"+jidAt(2) {
		t.Errorf("looked up: %s", to)
	}
	status(t, "no job", b.post("/jobs/20200101000000000000/retry"), 404)
	status(t, "an operator", s.browser(Operator).post("/jobs/"+jidAt(1)+"/retry"), 403)
	where := b.post("/jobs/" + jidAt(1) + "/retry").Header().Get("Location")
	if c := <-s.ran; strings.Join(c.Args, " ") != "ssh --retry-failed "+jidAt(1)+" --progress=json --out=quiet --log-level=warning" || c.User != "editor" {
		t.Errorf("ran %v", c)
	}
	if again := b.post("/jobs/" + jidAt(1) + "/retry").Header().Get("Location"); again != where {
		t.Errorf("a second click started %s", again)
	}
	if !s.did(Action{User: "editor", Name: "retry", On: "/jobs/" + jidAt(1) + "/retry", OK: true}) {
		t.Errorf("record: %v", s.actions)
	}
	text := b.get(where).Body.String()
	if strings.Contains(text, where+"/stop") || !strings.Contains(text, where+"/kill") || !strings.Contains(text, "failed hosts of job "+jidAt(1)) {
		t.Errorf("page: %s", text)
	}
	s.fake.end <- 1
	s.Wait()
	status(t, "resume", b.post(where+"/resume"), 409)
}

// TestOneJob follows a run that is one job on hosts, without steps.
func TestOneJob(t *testing.T) {
	t.Parallel()
	r := &run{changed: make(chan struct{}), Spec: runSpec{Spec: kept.Spec{Kind: kept.Hosts, Name: "web1", Hosts: []string{"web1"}}}}
	for _, line := range []string{
		`{"event":"job_start","jid":"20260101000000000000","fun":"test.ping","hosts":2}`,
		`{"event":"host_phase","host":"web1","phase":"connecting"}`,
		`{"event":"host_end","host":"web1","result":"failed","comment":"no"}`,
		`{"event":"job_end","hosts":2,"failed":1,"seconds":2}`,
	} {
		r.change(func() { r.line(line) })
	}
	v, _ := r.view(0, &Scope{})
	if s := v.Steps[0]; v.JID != "20260101000000000000" || len(v.Steps) != 1 || s.ID != "test.ping" || s.State != "failed" || s.HostsBad != 1 || s.Shown[0].State != "failed" || v.Total != 1 {
		t.Errorf("run %+v", v)
	}
}

// TestEndShowsRetry sends the steps that failed again when the run ends: they have
// a button then.
func TestEndShowsRetry(t *testing.T) {
	t.Parallel()
	r := &run{changed: make(chan struct{})}
	r.change(func() { r.line(`{"event":"step_start","id":"all","fun":"salt.state"}`) })
	r.change(func() { r.line(`{"event":"job_start","jid":"20260101000000000001","step":"all","hosts":1}`) })
	r.change(func() { r.line(`{"event":"host_end","step":"all","host":"web1","result":"failed"}`) })
	v, _ := r.view(0, &Scope{})
	r.change(func() { r.ended, r.status = time.Now(), 1 })
	if v, _ = r.view(v.Rev, &Scope{}); len(v.Steps) != 1 {
		t.Fatalf("steps %+v", v.Steps)
	}
	var out strings.Builder
	p := page{Who: &visit{role: Operator}}
	if err := runUpdate(p, v).Render(t.Context(), &out); err != nil || !strings.Contains(out.String(), "/jobs/20260101000000000001/retry") {
		t.Errorf("%v: %s", err, out.String())
	}
	if v, _ := r.view(v.Rev, &Scope{}); len(v.Steps) != 0 {
		t.Error("steps that did not change are sent again")
	}
}

// TestManyStates has a host return more states than a page shows: those that failed
// are shown, and all on the page of the host alone.
func TestManyStates(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	states := value.NewMap(300)
	for i := range 300 {
		states.Set(fmt.Sprintf("file_|-id%d_|-/x%d_|-managed", i, i), value.MapOf("result", i != 299, "__id__", fmt.Sprintf("id%d", i), "comment", "", "changes", value.NewMap(0)))
	}
	s.record(jobs.Load{JID: jidAt(1), Fun: "state.apply", Tgt: "*", Minions: []string{"web1", "web2"}}, map[string]value.Value{"web1": states, "web2": "text"}, 2)
	b := s.browser(Viewer)
	text := b.get("/jobs/" + jidAt(1)).Body.String()
	if n := strings.Count(text, `class="state"`); n != shownStates || !strings.Contains(text, "id299") || !strings.Contains(text, "200 more states") {
		t.Errorf("%d states are shown", n)
	}
	text = b.get("/jobs/" + jidAt(1) + "?host=web1").Body.String()
	if n := strings.Count(text, `class="state"`); n != 300 || strings.Contains(text, "web2") {
		t.Errorf("%d states of the host are shown", n)
	}
	large := strings.Repeat("x", shownText)
	v := jobView{}
	for range 2 * shownTexts / shownText {
		v.Hosts = append(v.Hosts, hostResult{Text: large})
	}
	v.shorten()
	sum := 0
	for _, h := range v.Hosts {
		sum += len(h.Text)
	}
	if sum > shownTexts+len(v.Hosts)*100 || v.Hosts[0].Text != large {
		t.Errorf("%d bytes are shown", sum)
	}
}

// TestCauseOnPage: the page of a job says why a program failed, before its changes.
func TestCauseOnPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	states := value.MapOf("test_|-after_|-x_|-nop", value.MapOf("result", false, "__id__", "after", "comment", "One or more requisite failed: x.bad", "changes", value.NewMap(0)),
		"cmd_|-bad_|-x_|-run", value.MapOf("result", false, "__id__", "bad", "comment", `Command "x" run`,
			"changes", value.MapOf("retcode", int64(3), "stdout", "", "stderr", "\x1b[31mdisk\u202e is on fire\x1b[0m")))
	s.record(jobs.Load{JID: jidAt(1), Fun: "state.apply", Tgt: "*", Minions: []string{"web1"}}, map[string]value.Value{"web1": states}, 2)
	text := s.browser(Viewer).get("/jobs/" + jidAt(1)).Body.String()
	if !strings.Contains(text, "exit status 3\n"+`disk\u202e is on fire`) {
		t.Errorf("the page does not say why: %s", text)
	}
	if !strings.Contains(text, `class="badge is-not_run">not run<`) {
		t.Errorf("what did not run is not shown so: %s", text)
	}
}

// TestHosts shows how hosts did last, and asks them for an answer.
func TestHosts(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.execute(jidAt(0), "deploy_bad", nil)
	s.record(jobs.Load{JID: jidAt(1), Fun: "cmd.run", Tgt: "*", Minions: []string{"web2", "web3", "web4"}}, map[string]value.Value{"web2": "no"}, 1)
	s.record(jobs.Load{JID: jidAt(2), Fun: "test.ping", Tgt: "*", Minions: []string{"web2"}}, map[string]value.Value{"web2": true}, 0)
	b := s.browser(Operator)
	text := b.get("/hosts?expr=many").Body.String()
	row := func(id string) string {
		_, rest, _ := strings.Cut(text, `<a href="/hosts/`+id+`">`)
		out, _, _ := strings.Cut(rest, "</tr>")
		return out
	}
	for id, want := range map[string][]string{
		"web2": {"is-ok", "/jobs/" + jidAt(2), "test.ping"}, "web3": {"is-failed", "/jobs/" + jidAt(1)}, "web1": {"is-failed", "/history/" + jidAt(0)}, "web0": {"is-changed"}, "web9": {"none is known"},
	} {
		for _, x := range want {
			if got := row(id); !strings.Contains(got, x) {
				t.Errorf("%s: no %s: %s", id, x, got)
			}
		}
	}
	if n := strings.Count(text, `<a href="/hosts/`); n != hostsShown || !strings.Contains(text, "100 of 250 hosts") || !strings.Contains(text, "from=100") {
		t.Errorf("%d hosts are shown", n)
	}
	if text := b.get("/hosts?expr=many&from=200").Body.String(); strings.Count(text, `<a href="/hosts/`) != 50 || strings.Contains(text, "Those that follow") {
		t.Errorf("last page: %s", text)
	}
	for _, from := range []string{"-5", "9999", "x", "99999999999999999999"} {
		status(t, from, b.get("/hosts?expr=many&from="+from), 200)
	}
	if text := b.get("/hosts/web2").Body.String(); strings.Index(text, jidAt(2)) > strings.Index(text, jidAt(1)) || !strings.Contains(text, "/hosts/ping") {
		t.Errorf("host: %s", text)
	}
	if text := b.get("/hosts/web1").Body.String(); !strings.Contains(text, "step3") || !strings.Contains(text, "odd") {
		t.Errorf("host: %s", text)
	}
	if text := s.browser(Viewer).get("/hosts/web1").Body.String(); strings.Contains(text, "/hosts/ping") {
		t.Error("a viewer is shown the button")
	}
	ping := func(kv ...string) string {
		t.Helper()
		status(t, fmt.Sprint(kv), b.post("/hosts/ping", kv...), 303)
		c := <-s.ran
		s.fake.end <- 0
		return strings.Join(c.Args[:4], " ")
	}
	if got := ping("host", "web1"); got != "ssh --list web1 test.ping" {
		t.Errorf("ran %s", got)
	}
	if got := ping("expr", "many", "scope", "all", "count", "250"); strings.Count(got, ",") != 249 {
		t.Errorf("ran %s", got)
	}
	if got := ping("expr", "many", "scope", "ticked", "id", "web7"); got != "ssh --list web7 test.ping" {
		t.Errorf("ran %s", got)
	}
	for _, kv := range [][]string{
		{"expr", "none", "scope", "all", "count", "0"},
		{"expr", "bad", "scope", "all", "count", "1"},
		{"expr", "odd", "scope", "all", "count", "1"},
		{"host", "a,b"},
		{"host", "-x"},
		{"expr", "many"},
		{"expr", "many", "scope", "ticked"},
		{"expr", "many", "scope", "ticked", "id", "db1"},
		{"expr", "many", "scope", "all"},
		{"expr", "many", "scope", "all", "count", "249"},
	} {
		status(t, fmt.Sprint(kv), b.post("/hosts/ping", kv...), 422)
	}
	status(t, "no host", b.post("/hosts/ping", "host", "none"), 404)
}

// TestStates leads from an SLS file to a step of a chain.
func TestStates(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	status(t, "a chain", b.post("/chains", "name", "friday"), 303)
	text := b.get("/states?text=WE").Body.String()
	if !strings.Contains(text, `href="/states/web"`) || strings.Contains(text, `href="/states/db"`) || strings.Contains(text, `href="/states/top"`) {
		t.Errorf("states: %s", text)
	}
	if text := b.get("/states/web").Body.String(); !strings.Contains(text, `<option value="friday">`) || strings.Contains(text, `<option value="bad">`) {
		t.Errorf("state: %s", text)
	}
	if text := s.browser(Operator).get("/states/web").Body.String(); strings.Contains(text, "friday") {
		t.Error("an operator is shown what only editors may do")
	}
	if text := b.get("/states/db").Body.String(); !strings.Contains(text, "cannot compile") {
		t.Errorf("state: %s", text)
	}
	where := b.get("/states/web/step?chain=friday").Header().Get("Location")
	if text := b.get(where).Body.String(); !strings.Contains(text, `name="sls" value="web"`) {
		t.Errorf("%s: %s", where, text)
	}
	if text := b.get("/orchestrations/orch.deploy").Body.String(); !strings.Contains(text, `action="/orchestrations/orch.deploy/step"`) || !strings.Contains(text, `<option value="friday">`) {
		t.Errorf("orchestration: %s", text)
	}
	if text := s.browser(Operator).get("/orchestrations/orch.deploy").Body.String(); strings.Contains(text, "friday") {
		t.Error("an operator is shown what only editors may do")
	}
	where = b.get("/orchestrations/orch.deploy/step?chain=friday").Header().Get("Location")
	if text := b.get(where).Body.String(); !strings.Contains(text, `name="sls" value="orch.deploy"`) || !strings.Contains(text, `name="action" value="orchestrate"`) || strings.Contains(text, `id="targets"`) {
		t.Errorf("%s: %s", where, text)
	}
}

// TestSchedule has a chain run later, and cancels that.
func TestSchedule(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Operator)
	for _, name := range []string{"friday", "monday"} {
		status(t, "a chain", s.browser(Editor).post("/chains", "name", name, "description", "x"), 303)
		status(t, "a step", s.browser(Editor).post("/chains/"+name+"/step", "version", versionIn(s.browser(Editor).get("/chains/"+name).Body.String()), "action", "wait", "seconds", "1"), 303)
	}
	page := func() string { return b.get("/chains/friday").Body.String() }
	form := []string{"version", versionIn(page()), "at", "2099-12-01T02:00"}
	status(t, "not confirmed", b.post("/chains/friday/schedule", form...), 422)
	form = append(form, "confirm", "yes")
	status(t, "an old page", b.post("/chains/friday/schedule", "version", "x", "at", "2099-12-01T02:00", "confirm", "yes"), 409)
	status(t, "no date", b.post("/chains/friday/schedule", form[0], form[1], "confirm", "yes", "at", "soon"), 422)
	status(t, "no chain", b.post("/chains/none/schedule", form...), 404)
	if err := os.WriteFile(filepath.Join(s.dir, "broken.yml"), []byte("steps:\n  - {action: 'password=hunter2'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := b.post("/chains/broken/schedule", form...)
	if status(t, "a chain that is broken", w, 422); !strings.Contains(w.Body.String(), "its page says what is wrong") || strings.Contains(w.Body.String(), "hunter2") {
		t.Errorf("an operator sees the text of the chain: %s", w.Body)
	}
	if len(s.planned) != 0 {
		t.Fatalf("planned %v", s.planned)
	}
	status(t, "schedule", b.post("/chains/friday/schedule", form...), 303)
	if text := page(); !strings.Contains(text, "2099-12-01 02:00:00") || !strings.Contains(text, "by operator") {
		t.Errorf("page: %s", text)
	}
	if text := s.browser(Viewer).get("/chains/friday").Body.String(); !strings.Contains(text, "2099-12-01 02:00:00") || strings.Contains(text, "unschedule\"><button") || strings.Contains(text, `name="at"`) {
		t.Errorf("page: %s", text)
	}
	if text := b.get("/chains/monday").Body.String(); strings.Contains(text, "2099") {
		t.Errorf("page: %s", text)
	}
	status(t, "of another chain", b.post("/chains/monday/unschedule", "id", s.planned[0].ID), 422)
	status(t, "cancel", b.post("/chains/friday/unschedule", "id", s.planned[0].ID), 303)
	status(t, "cancel again", b.post("/chains/friday/unschedule", "id", "friday-0"), 422)
	if strings.Contains(page(), "2099-12-01 02") || !s.did(Action{User: "operator", Name: "chain.schedule", On: "/chains/friday/schedule", OK: true}) {
		t.Errorf("page: %s", page())
	}
}

// TestUsersChange has users lose their visits when their lines change.
func TestUsersChange(t *testing.T) {
	t.Parallel()
	hash, err := Hash("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	var users *Users
	var broken error
	file := func(text string) {
		t.Helper()
		if users, err = ParseUsers("users", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	s := newSite(t, func(o *Options) { o.Users = func() (*Users, error) { return users, broken } })
	login := func(want int) *browser {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, origin+"/login", strings.NewReader(url.Values{"name": {"ann"}, "password": {"correct horse"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		w := s.do(r)
		status(t, "log in", w, want)
		if c := w.Result().Cookies(); len(c) > 0 {
			return &browser{s, c[0]}
		}
		return nil
	}
	for name, next := range map[string]string{"removed": "bob:viewer:-\n", "other role": "ann:viewer:" + hash + "\n", "other password": "ann:editor:" + strings.Replace(hash, "$argon2id$v=19$m=65536,t=3", "$argon2id$v=19$m=65536,t=4", 1) + "\n"} {
		file("ann:editor:" + hash + "\n")
		b := login(303)
		status(t, name, b.get("/"), 200)
		file(next)
		status(t, name, b.get("/"), 303)
		v := s.access.visitor(b.request(http.MethodGet, "/", nil))
		if s.valid(v) {
			t.Errorf("%s: a page that is kept up to date goes on", name)
		}
	}
	file("ann:editor:" + hash + "\n")
	b := login(303)
	broken = fmt.Errorf("the file is broken")
	status(t, "broken file", b.get("/"), 303)
	if login(503) != nil {
		t.Error("somebody can log in")
	}
	broken = nil
	status(t, "mended file", b.get("/"), 200)
}

// TestHeadKeepsToken has somebody look at a link without following it.
func TestHeadKeepsToken(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	link := origin + "/login?token=" + s.Token()
	if w := s.do(httptest.NewRequest(http.MethodHead, link, nil)); w.Code != 200 || len(w.Result().Cookies()) > 0 {
		t.Errorf("HEAD: status %d, cookies %v", w.Code, w.Result().Cookies())
	}
	if w := s.do(httptest.NewRequest(http.MethodGet, link, nil)); len(w.Result().Cookies()) != 1 {
		t.Errorf("GET: status %d", w.Code)
	}
}
