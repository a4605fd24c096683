package ui

import (
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
)

// element is the start tag with an id in a page.
func element(text, id string) string {
	return regexp.MustCompile(`<[a-z]+ [^>]*id="` + regexp.QuoteMeta(id) + `"[^>]*>`).FindString(text)
}

// TestRejected sends forms that are not right: the page of the form says beside the field
// what is wrong, connects the two, and has what was typed.
func TestRejected(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	status(t, "a chain", b.post("/chains", "name", "friday"), 303)
	version := func() string { return versionIn(b.get("/chains/friday").Body.String()) }
	status(t, "a step", b.post("/chains/friday/step", "version", version(), "action", "cmd", "targets", "web1", "command", "id"), 303)
	status(t, "another chain", b.post("/chains", "name", "monday"), 303)
	for _, tt := range []struct {
		path  string
		form  []string
		field string
		why   string
		typed []string // what the page has of the form
	}{
		{"/chains", []string{"name", "a/b", "description", "kept words"}, "chain-name", "cannot be the name of a chain", []string{`value="a/b"`, `value="kept words"`}},
		{"/chains", []string{"name", "friday"}, "chain-name", "There is a chain friday already.", []string{`value="friday"`}},
		{"/chains/friday/run", nil, "confirm-run", "Nothing was run: confirm that it is to run.", nil},
		{"/orchestrations/orch.deploy/run", nil, "confirm-run", "Nothing was run: confirm that it is to run.", nil},
		{"/chains/friday/schedule", []string{"at", "2099-01-01T04:00"}, "confirm-later", "Nothing was scheduled", []string{`value="2099-01-01T04:00"`}},
		{"/chains/friday/schedule", []string{"at", "soon", "confirm", "yes"}, "at", "is not a date", []string{`value="soon"`}},
		{"/chains/friday/delete", nil, "confirm-delete", "Nothing was deleted", nil},
		{"/chains/friday/clone", []string{"name", "monday"}, "clone", "There is a chain monday already.", []string{`value="monday"`}},
		{"/chains/friday/about", []string{"name", "monday", "description", "kept words"}, "name", "There is a chain monday already.", []string{`value="monday"`, `value="kept words"`}},
		{"/chains/friday/about", []string{"name", "a b", "description", ""}, "name", "cannot be the name of a chain", []string{`value="a b"`}},
		{"/chains/friday/approve", []string{"who", "by", "by", " ", "step", "1"}, "approve-by", "Name the roles or users who approve.", []string{`<option value="by" selected>`, `<option value="1" selected>`}},
		{"/chains/friday/targets", []string{"step", "1", "targets", ""}, "targets-1", "Give a target expression.", nil},
		{"/chains/friday/step", []string{"action", "pkg", "targets", "web1", "packages", ""}, "packages", "This needs a value.", []string{`value="web1"`}},
		{"/chains/friday/step", []string{"action", "wait", "seconds", "soon"}, "seconds", "is not a number of seconds", []string{`value="soon"`}},
		{"/chains/friday/step", []string{"action", "wait"}, "seconds", "Give a number of seconds, or an event and targets.", nil},
		{"/chains/friday/step", []string{"action", "state", "targets", "web1", "sls", "web", "pillar", "[1"}, "pillar", "Write values as YAML", []string{"\n[1</textarea>"}},
		{"/chains/friday/step", []string{"action", "config", "targets", "web1", "source", "x", "dest", "y"}, "dest", "This must be an absolute path.", []string{`value="y"`}},
		{"/recurring", []string{"name", "weekly", "when", "monday", "form", "cron", "queue", "ops"}, "confirm-add", "Nothing was added", []string{`value="weekly"`, `value="monday"`, `<option value="cron" selected>`, `value="ops"`}},
		{"/hosts/ping", []string{"expr", "many", "scope", "ticked"}, "scope", "No host is ticked", []string{`value="many"`}},
		{"/hosts/run", []string{"expr", "x", "scope", "all", "count", "2", "function", "a b", "arguments", "kept words"}, "function", "is not the name of a function", []string{"kept words</textarea>", `value="a b"`}},
		{"/hosts/run", []string{"expr", "x", "scope", "ticked", "id", "web1", "function", "test.ping"}, "confirm-act", "Nothing was run", []string{`value="web1" checked`, `value="test.ping"`}},
		{"/hosts/chain", []string{"expr", "x", "scope", "all", "count", "2", "action", "cmd"}, "act-name", "Choose a chain, or name a new one.", nil},
		{"/templates/site", []string{"op", "run", "t:web", "web1", "v:port", "80", "v:token", "0123", "n:users", "0"}, "confirm-run", "Nothing was run", []string{`value="80"`}},
	} {
		w := b.post(tt.path, append(tt.form, "version", version())...)
		what := tt.path + " " + strings.Join(tt.form, " ")
		status(t, what, w, 422)
		text := html.UnescapeString(w.Body.String())
		problem := regexp.MustCompile(`id="` + tt.field + `-problem"[^>]*>([^<]*)`).FindStringSubmatch(text)
		if tt.field == "scope" { // of buttons that are one field
			problem = regexp.MustCompile(`id="scope-problem"[^>]*>([^<]*)`).FindStringSubmatch(text)
		}
		if problem == nil || !strings.Contains(problem[1], tt.why) {
			t.Errorf("%s: beside %s stands %q, want %q", what, tt.field, problem, tt.why)
			continue
		}
		if e := element(text, tt.field); tt.field != "scope" && (!strings.Contains(e, `aria-invalid="true"`) || !strings.Contains(e, tt.field+"-problem")) {
			t.Errorf("%s: the field is not connected with its problem: %s", what, e)
		}
		for _, want := range tt.typed {
			if !strings.Contains(text, want) {
				t.Errorf("%s: what was typed is gone: no %s", what, want)
			}
		}
		if strings.Contains(text, s.dir) {
			t.Errorf("%s: the page has a path of the server", what)
		}
	}
	if len(s.ran) > 0 || len(s.planned) > 0 || len(s.fake.recurring) > 0 {
		t.Error("a form that was not taken did something")
	}
	// Where the page has no such field, the whole page says it.
	if w := b.post("/chains/monday/schedule", "at", "x", "version", versionIn(b.get("/chains/monday").Body.String())); w.Code != 422 || !strings.Contains(w.Body.String(), "Nothing was scheduled") {
		t.Errorf("of a chain without steps: %d: %s", w.Code, w.Body)
	}
	status(t, "a chain that is wrong", b.post("/chains/friday/text", "version", version(), "text", "steps: [{action: none}]"), 422)
	if err := os.WriteFile(s.dir+"/friday.yml", []byte("steps: [{action: none}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/chains/friday", "/chains/friday/check"} {
		if text := b.get(path).Body.String(); strings.Contains(text, s.dir) || !strings.Contains(text, "friday.yml:1") {
			t.Errorf("%s: %s", path, text)
		}
	}
}

// TestRejectedRoles has who may not see a page not see it by a form that is not right.
func TestRejectedRoles(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	status(t, "a chain", s.browser(Editor).post("/chains", "name", "friday"), 303)
	for path, form := range map[string][]string{
		"/chains/friday/run": {"version", versionOf(nil)}, "/hosts/ping": {"expr", "*", "scope", "ticked"}, "/recurring": {"name", "x"}, "/orchestrations/orch.deploy/run": nil,
	} {
		w := s.guest(Scope{Chains: []string{"none"}}).post(path, form...)
		status(t, path, w, 403)
		if text := w.Body.String(); strings.Contains(text, "web1") || strings.Contains(text, "confirm-run") {
			t.Errorf("%s: %s", path, text)
		}
	}
	w := s.guest(Scope{Chains: []string{"friday"}}).post("/chains", "name", "friday")
	status(t, "a chain that is there", w, 422)
	if text := w.Body.String(); !strings.Contains(text, "/chains/friday") || strings.Contains(text, "/chains/bad") || strings.Contains(text, "orch.deploy") {
		t.Errorf("who is limited sees others: %s", text)
	}
	// A viewer gets nothing of what only operators see, whatever the form.
	for _, x := range routes() {
		if method, path, _ := strings.Cut(x.pattern, " "); method == "POST" && x.least > Viewer && !strings.Contains(path, "{") {
			status(t, path, s.browser(Viewer).post(path), 403)
		}
	}
}
