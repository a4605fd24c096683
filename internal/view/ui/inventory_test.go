package ui

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

// TestHostsToChain: an editor adds a step on hosts to a chain; others see no form, and whether
// hosts agree with their states and what they said of themselves is in the list.
func TestHostsToChain(t *testing.T) {
	t.Parallel()
	s, _ := sampleSite(t)
	for _, role := range []Role{Viewer, Operator, Editor} {
		body := s.browser(role).get("/hosts?expr=G@os:x").Body.String()
		for form, least := range map[string]Role{`formaction="/hosts/chain"`: Editor, `formaction="/hosts/run"`: Editor, `formaction="/hosts/facts"`: Operator} {
			if has := strings.Contains(body, form); has != (role >= least) {
				t.Errorf("%s: %s is there: %v", role, form, has)
			}
		}
		for _, text := range []string{"not looked at", "never read", " days ago</span>"} {
			if !strings.Contains(body, text) || strings.Contains(body, hostile) {
				t.Errorf("%s: no %q: %s", role, text, body)
			}
		}
		if body := s.browser(role).get("/hosts/web1").Body.String(); !strings.Contains(body, "All facts, as they were ") || strings.Contains(body, hostile) {
			t.Errorf("%s: %s", role, body)
		}
	}
	b := s.browser(Editor)
	w := b.post("/hosts/chain", "expr", "G@os:x", "scope", "all", "count", "2", "chain", "friday", "action", "cmd")
	status(t, "a step", w, 303)
	if at := w.Header().Get("Location"); at != "/chains/friday/step?action=cmd&targets=G%40os%3Ax" {
		t.Errorf("the form of the step is at %s", at)
	} else if body := b.get(at).Body.String(); !strings.Contains(body, "os:x") {
		t.Errorf("the form of the step: %s", body)
	}
	status(t, "a new chain", b.post("/hosts/chain", "expr", "*", "scope", "ticked", "id", "web1", "name", "fresh", "action", "state"), 303)
	status(t, "its page", b.get("/chains/fresh/step?action=state&targets=L@web1"), 200)
	for _, kv := range [][]string{{"action", "cmd"}, {"action", "no", "chain", "friday"}, {"action", "cmd", "name", "../x"}, {"action", "cmd", "name", "friday"}} {
		status(t, strings.Join(kv, " "), b.post("/hosts/chain", append(kv, "host", "web1")...), 422)
	}
}

// TestRunOnHosts: what is typed becomes arguments of the function and of nothing else, and
// nothing runs that was not confirmed.
func TestRunOnHosts(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	run := func(kv ...string) (command, string) {
		t.Helper()
		status(t, strings.Join(kv, " "), b.post("/hosts/run", append(kv, "host", "web1")...), 303)
		c := <-s.ran
		s.fake.end <- 0
		return c, value.Repr(c.Answers)
	}
	c, answers := run("function", "cmd.run", "arguments", "--help\r\n\r\n echo hunter2 \n", "confirm", "yes")
	if got := strings.Join(c.Args[:4], " "); got != "ssh --list web1 cmd.run" || strings.Contains(strings.Join(c.Args, " "), "hunter2") || answers != `{'arg': ['--help', 'echo hunter2'], 'kwarg': {}}` {
		t.Errorf("ran %v with %s", c.Args, answers)
	}
	if c, answers := run("function", "state.apply", "arguments", "web", "test", "yes"); answers != `{'arg': ['web'], 'kwarg': {'test': True}}` || slices.Contains(c.Args, "--test") { // the command refuses the flag
		t.Errorf("ran %v with %s", c.Args, answers)
	}
	// A run on less than what is meant says so in its name.
	s.fake.note = "web9 was not asked."
	all := "test.ping on 2 hosts that match G@os:x, "
	for _, tt := range []struct {
		b               *browser
		by, count, want string
	}{
		{b, "", "2", all + "without those that could not be asked"},
		{b, byFacts, "2", all + "by what is kept of them"},
		{s.guest(Scope{Hosts: []string{"web*"}}), "", "1", "test.ping on web1, of those that the limits allow"},
	} {
		w := tt.b.post("/hosts/run", "expr", "G@os:x", "scope", "all", "count", tt.count, "by", tt.by, "function", "test.ping", "confirm", "yes")
		if status(t, tt.want, w, 303); t.Failed() {
			return // no run is coming
		}
		<-s.ran
		s.fake.end <- 0
		if body := b.get(w.Header().Get("Location")).Body.String(); !strings.Contains(body, tt.want) {
			t.Errorf("no %q in %s", tt.want, body)
		}
	}
	s.fake.note = ""
	for _, kv := range [][]string{
		{"confirm", "yes"},
		{"function", "cmd.run"},
		{"function", "--help", "confirm", "yes"},
		{"function", "cmd", "confirm", "yes"},
		{"function", "cmd.run x", "confirm", "yes"},
		{"function", "cmd.run", "confirm", "yes", "arguments", strings.Repeat("x", 64<<10)},
	} {
		status(t, kv[0], b.post("/hosts/run", append(kv, "host", "web1")...), 422)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.actions {
		if strings.Contains(a.Details, "hunter2") {
			t.Errorf("the record has an argument: %s", a.Details)
		}
	}
	if !slices.ContainsFunc(s.actions, func(a Action) bool { return a.Name == "hosts.run" && a.Details == "host web1\nfunction cmd.run" }) {
		t.Errorf("record: %+v", s.actions)
	}
}

// TestHarmless: text that hides or reorders other text is written out where people read it, and
// stays as it is where a browser sends it back.
func TestHarmless(t *testing.T) {
	t.Parallel()
	const id = "web\u202e1"
	var b bytes.Buffer
	p := page{Title: id, Who: &visit{role: Editor}}
	if err := hostsPage(p, hostsView{Expr: id, listed: listed{All: 1, Shown: 1}, Rows: []hostRow{{ID: id}}}).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{`<title>web\u202e1 - brine`, `>web\u202e1</a>`, `aria-label="Select web\u202e1"`, `name="id" value="` + id + `"`, `name="expr" value="` + id + `"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s: %s", want, text)
		}
	}
	b.Reset()
	if err := chainTextPage(p, chainView{Text: id}, "").Render(t.Context(), &b); err != nil || !strings.Contains(b.String(), id+"</textarea>") {
		t.Errorf("the text of a chain: %v: %s", err, b.String())
	}
}

// TestRunSum: failures that are alike are one, with their hosts, those of the most hosts first.
func TestRunSum(t *testing.T) {
	t.Parallel()
	r := &run{changed: make(chan struct{}), Spec: runSpec{}}
	for _, line := range []string{
		`{"event":"run_start","jid":"20260101000000000000","total":3}`,
		`{"event":"step_start","id":"one","fun":"salt.state"}`, `{"event":"job_start","jid":"20260101000000000001","step":"one","hosts":4}`,
		`{"event":"host_end","step":"one","host":"web3","result":"failed","comment":"disk is full"}`, `{"event":"host_end","step":"one","host":"web1","result":"failed","comment":"no route"}`,
		`{"event":"host_end","step":"one","host":"web2","result":"failed","comment":"disk is full"}`, `{"event":"host_end","step":"one","host":"web4","result":"ok"}`,
		`{"event":"step_end","id":"one","fun":"salt.state","result":"failed","comment":"Run failed"}`,
		`{"event":"step_end","id":"two","fun":"salt.wait_for_event","result":"failed","comment":"timed out"}`,
	} {
		r.line(line)
	}
	v, _ := r.view(0, &Scope{})
	if v.Hosts != (hostSums{All: 4, Good: 1, Bad: 3}) || len(v.Failures) != 3 {
		t.Fatalf("%+v %+v", v.Hosts, v.Failures)
	}
	if f := v.Failures[0]; f.Text != "disk is full" || strings.Join(f.Hosts, " ") != "web2 web3" || f.Step != 1 {
		t.Errorf("first: %+v", f)
	}
	if f := v.Failures[2]; f.Text != "timed out" || f.Hosts != nil || f.Step != 2 {
		t.Errorf("last: %+v", f)
	}
}

// TestNothingGood: hosts on which something would change, and those of which nothing is known,
// are not counted as good, nor is a job that ends with them.
func TestNothingGood(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		results    []string
		want, tile string
	}{
		{[]string{"would_change", "ok"}, "would_change", "Hosts that would change"},
		{[]string{"not_run", "ok"}, "unfinished", "Hosts with no result"},
		{[]string{"ok"}, "unfinished", "Hosts good"}, // of two hosts
		{[]string{"ok", "failed"}, "failed", "Hosts failed"},
		{[]string{"ok", "changed"}, "changed", "Hosts good"},
		{[]string{"ok", "ok"}, "ok", "Hosts good"},
	} {
		r := &run{changed: make(chan struct{}), Spec: runSpec{Spec: kept.Spec{Kind: kept.Functions}}}
		r.line(`{"event":"job_start","jid":"20260101000000000001","fun":"state.apply","hosts":2}`)
		good := 0
		for i, result := range tt.results {
			r.line(fmt.Sprintf(`{"event":"host_end","host":"web%d","result":%q}`, i, result))
			if result == "ok" || result == "changed" {
				good++
			}
		}
		r.line(`{"event":"job_end","jid":"20260101000000000001","seconds":1}`)
		v, _ := r.view(-1, &Scope{})
		if v.Hosts.Good != good || v.Steps[0].State != tt.want || v.Hosts.done() != len(tt.results) {
			t.Errorf("%v: %+v, the job is %s, want %s", tt.results, v.Hosts, v.Steps[0].State, tt.want)
		}
		if !slices.ContainsFunc(v.tiles(), func(x tile) bool { return x.Name == tt.tile }) {
			t.Errorf("%v: no tile %q: %+v", tt.results, tt.tile, v.tiles())
		}
	}
}
