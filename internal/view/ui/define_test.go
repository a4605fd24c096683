package ui

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/internal/testkit/historytest"
)

// TestChainDefinition selects targets of a step, and gives a chain another name and
// description. What else is in its file stays.
func TestChainDefinition(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	st, _ := s.Chains(t.Context())
	text := "# mine\ndescription: Old\nsteps:\n  - action: cmd\n    command: uptime # always\n    targets: web1 # for now\n  - {action: wait, seconds: 1}\n"
	if err := st.Write("friday", nil, []byte(text)); err != nil {
		t.Fatal(err)
	}
	version := func(name string) string { return versionIn(b.get("/chains/" + name).Body.String()) }
	first := version("friday")
	for _, tt := range []struct{ kind, text, want string }{
		{"G", "os:Debian", "G@os:Debian"}, {"N", "N@web", "N@web"}, {"L", "web1,web2", "L@web1,web2"}, {"", "C@web* and G@os:Debian", "C@web* and G@os:Debian"}, {"", "web*", "web*"},
	} {
		status(t, tt.want, b.post("/chains/friday/targets", "version", version("friday"), "step", "1", "targets", tt.text, "kind:targets", tt.kind), 303)
		c, _, err := st.Read("friday")
		if err != nil || c.Steps[0].On != tt.want {
			t.Errorf("targets %q: %v", c.Steps[0].On, err)
		}
	}
	if _, got, _ := st.Read("friday"); string(got) != strings.Replace(text, "web1", "web*", 1) {
		t.Errorf("file:\n%s", got)
	}
	for what, kv := range map[string][]string{"no targets": {"step", "1", "targets", " "}, "no step": {"step", "9", "targets", "x"}} {
		status(t, what, b.post("/chains/friday/targets", append(kv, "version", version("friday"))...), 422)
	}
	status(t, "an old page", b.post("/chains/friday/targets", "version", first, "step", "1", "targets", "x"), 409)
	status(t, "an old page", b.post("/chains/friday/about", "version", first, "name", "friday"), 409)
	status(t, "an old page", b.post("/chains/friday/about", "version", first, "name", "monday"), 409)

	status(t, "description", b.post("/chains/friday/about", "version", version("friday"), "name", "friday", "description", "New: one"), 303)
	if page := b.get("/chains/friday").Body.String(); !strings.Contains(page, "<p>New: one</p>") {
		t.Errorf("page: %s", page)
	}
	if err := st.Write("taken", nil, []byte("steps: []\n")); err != nil {
		t.Fatal(err)
	}
	for what, name := range map[string]string{"a name that is taken": "taken", "no name": "", "another directory": "../monday"} {
		if w := b.post("/chains/friday/about", "version", version("friday"), "name", name); w.Code != 422 {
			t.Errorf("%s: %d: %s", what, w.Code, w.Body)
		}
	}
	if err := s.Schedule(t.Context(), "friday", "2099-12-01T02:00", "zoe", nil); err != nil {
		t.Fatal(err)
	}
	w := b.post("/chains/friday/about", "version", version("friday"), "name", "monday")
	if status(t, "a scheduled chain", w, 422); !strings.Contains(w.Body.String(), "cancel it first") {
		t.Errorf("page: %s", w.Body)
	}
	w = b.post("/chains/friday/delete", "version", version("friday"), "confirm", "yes")
	if status(t, "delete a scheduled chain", w, 422); !strings.Contains(w.Body.String(), "cancel it first") {
		t.Errorf("page: %s", w.Body)
	}
	_ = s.Unschedule(t.Context(), "friday-0")
	status(t, "another name", b.post("/chains/friday/about", "version", version("friday"), "name", "monday", "description", "Later"), 303)
	status(t, "the old name", b.get("/chains/friday"), 404)
	if c, got, err := st.Read("monday"); err != nil || c.Description != "Later" || !strings.HasPrefix(string(got), "# mine\n") {
		t.Errorf("%v: %s", err, got)
	}
	if _, err := os.Stat(st.Path("friday")); err == nil {
		t.Error("the old file is still there")
	}
}

// TestKindsFor offers the kinds of targets that a template takes.
func TestKindsFor(t *testing.T) {
	t.Parallel()
	for types, want := range map[string]string{
		"": " L G N E I S C", "nodegroup": "N", "list": "L", "glob list": " L", "grain compound": "G C", "grain_pcre nodegroup": " N",
	} {
		var got []string
		for _, k := range kindsFor(strings.Fields(types)) {
			got = append(got, k[0])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", types, got, want)
		}
	}
}

// TestTargetKinds reads expressions for the form and back.
func TestTargetKinds(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string][2]string{
		"web*": {"", "web*"}, "G@os:Debian": {"G", "os:Debian"}, "L@a,b": {"L", "a,b"}, "J@a:b": {"", "J@a:b"}, "@x": {"", "@x"}, "G@": {"", "G@"}, "C@web* and G@os:x": {"C", "web* and G@os:x"},
	} {
		kind, text := splitTarget(expr)
		if got := targetOf(map[string][]string{"t": {text}, kindInput("t"): {kind}}, "t"); [2]string{kind, text} != want || got != expr {
			t.Errorf("%s: %q %q, back %q", expr, kind, text, got)
		}
	}
	s := newSite(t, nil)
	b := s.browser(Viewer)
	if text := b.get("/targets?kind=L&expr=none").Body.String(); !strings.Contains(text, "Nothing matches this.") {
		t.Errorf("preview: %s", text)
	}
}

// TestAuditDetails looks at what the record says of changes and runs.
func TestAuditDetails(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	version := func() string { return versionIn(b.get("/chains/friday").Body.String()) }
	post := func(action string, kv ...string) {
		t.Helper()
		b.post("/chains/friday/"+action, append(kv, "version", version())...)
	}
	is := func(name, want string) {
		t.Helper()
		if got := s.said(name); got != want {
			t.Errorf("%s: details %q, want %q", name, got, want)
		}
	}
	b.post("/chains", "name", "friday")
	is("chain.new", "name friday")
	post("step", "action", "cmd", "targets", "os:Debian", "kind:targets", "G", "command", "uptime")
	is("chain.step", "new step 1: run uptime on G@os:Debian")
	post("step", "action", "state", "targets", "web*", "sls", "web", "pillar", "a: secret")
	is("chain.step", "new step 2: apply web on web*")
	post("step", "step", "2", "action", "state", "targets", "web*", "sls", "web", "pillar", "a: other")
	is("chain.step", "step 2: apply web on web*, with another pillar")
	post("targets", "step", "1", "targets", "db1")
	is("chain.targets", "step 1: run uptime on G@os:Debian -> run uptime on db1")
	post("about", "name", "friday", "description", "New")
	is("chain.about", `description: "New"`)
	post("move", "step", "2", "to", "1")
	is("chain.move", "step 2: apply web on web*, to place 1")
	post("text", "text", "description: New\r\nsteps:\r\n  - {action: cmd, id: 1, command: reboot, targets: db1}\r\n")
	is("chain.edit", "removed step 1: apply web on web*\nstep 2: run uptime on db1 -> run reboot on db1")
	run := version()
	b.post("/chains/friday/run", "version", run, "confirm", "yes", "test", "yes")
	is("run", "preview\nversion "+run+"\nstep 1: run reboot on db1")
	<-s.ran
	id := s.only().ID
	b.post("/runs/" + id + "/kill")
	is("kill", "friday 20260101000000000000")
	post("remove", "step", "1")
	is("chain.rm", "removes step 1: run reboot on db1")
	b.post("/hosts/ping", "expr", "none")
	is("ping", "targets none")
	b.post("/templates/site", "t:web", "web", "kind:t:web", "N", "op", "run", "v:token", "secret")
	is("run", "web: N@web")
	b.post("/chains/friday/clone", "name", strings.Repeat("é", shownDetails))
	if got := s.said("chain.clone"); len(got) > shownDetails+4 || !strings.HasSuffix(got, "é…") {
		t.Errorf("long details: %d bytes", len(got))
	}
	for _, a := range s.actions {
		if strings.Contains(a.Details, "secret") {
			t.Errorf("%s: a secret is in the record: %s", a.Name, a.Details)
		}
	}
}

// TestAuditPage lists actions and leaves other jobs out.
func TestAuditPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	act := func(day int, name string, code int, args ...string) {
		s.record(jobs.Load{JID: jidAt(day), Fun: name, Arg: value.Strings(args...), Tgt: "ctl", User: "zoe", Minions: []string{"ctl"}, Runner: true}, map[string]value.Value{"ctl": "x"}, code)
	}
	act(1, "runner.ui.chain.targets", 0, "/chains/friday/targets", "step 1: "+hostile)
	act(2, "runner.ui.run", 1, "/chains/friday/run")
	act(3, "runner.state.orchestrate", 0, "orch.deploy")
	b := s.browser(Viewer)
	b.get("/audit") // which writes the index of the jobs
	text := b.get("/audit").Body.String()
	for _, want := range []string{"chain.targets", "/chains/friday/targets", "step 1: &#34;&gt;&lt;img", "allowed", "refused"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Contains(text, "orch.deploy") || strings.Contains(text, "runner.ui.") {
		t.Errorf("page: %s", text)
	}
	if text := b.get("/audit?text=step+1").Body.String(); !strings.Contains(text, "chain.targets") || strings.Contains(text, "/chains/friday/run") {
		t.Errorf("search: %s", text)
	}
}

// TestExecutionEvents follows an execution that somebody else started.
func TestExecutionEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	rows := historytest.Rows(jidAt(1), "deploy", 2, 2, nil)
	store := func(rows []*value.Map) {
		t.Helper()
		if err := s.History(t.Context(), func(st *history.Store) error { return st.Return(t.Context(), rows) }); err != nil {
			t.Fatal(err)
		}
	}
	half := len(rows) / 2
	store(rows[:half])
	b := s.browser(Viewer)
	if text := b.get("/history/" + jidAt(1)).Body.String(); !strings.Contains(text, `data-events="/history/`+jidAt(1)+`/events"`) || !strings.Contains(text, "The execution is under way: 1 of 2 steps done.") {
		t.Errorf("page: %s", text)
	}
	status(t, "no such execution", b.get("/history/20990101000000000000/events"), 404)
	srv := httptest.NewServer(s.h)
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := b.request(http.MethodGet, "/history/"+jidAt(1)+"/events", nil).WithContext(ctx)
	r.RequestURI, r.URL.Host, r.URL.Scheme = "", strings.TrimPrefix(srv.URL, "http://"), "http"
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in := bufio.NewScanner(res.Body)
	next := func() (event, text string) {
		t.Helper()
		for in.Scan() {
			line := in.Text()
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				event = name
			}
			if line == "" && event != "" {
				return event, text
			}
			text += line
		}
		t.Fatalf("the events ended: %v", in.Err())
		return "", ""
	}
	if event, text := next(); event != "update" || !strings.Contains(text, "under way") || !strings.Contains(text, `id="time-2"`) || strings.Contains(text, "execution-diffs") {
		t.Errorf("%s: %s", event, text)
	}
	store(rows[half:])
	for {
		event, text := next()
		if event == "update" {
			continue // it looked before the end was there
		}
		if event != "end" || !strings.Contains(text, "The execution has ended: succeeded.") || !strings.Contains(text, "execution-diffs") {
			t.Errorf("%s: %s", event, text)
		}
		return
	}
}
