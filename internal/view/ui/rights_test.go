package ui

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"brine/internal/fleet/kept"
)

// rightsTo are all rights to names.
func rightsTo(globs ...string) Scope {
	x := Scope{}
	for _, word := range RightWords() {
		for _, g := range globs {
			if strings.HasSuffix(word, ".functions") && g != "*" {
				g = strings.TrimSuffix(g, "*") + ".*"
			}
			if _, err := x.grantRight(word, []string{g}); err != nil {
				panic(err)
			}
		}
	}
	return x
}

// viewer is a browser of a viewer with rights.
func (s *site) viewer(x Scope) *browser {
	b := s.guest(x)
	for _, v := range s.access.visits {
		if v.name == "guest" {
			v.role = Viewer
		}
	}
	return b
}

// ofLine are the routes that need the role of the line, whatever somebody has rights to: they
// concern everything, or what nobody has a name for.
func ofLine() []string {
	return []string{
		"GET /orchestrations/{sls}/step", "GET /states/{sls}/step", // forms for a chain that is not known yet
		"POST /jobs/{jid}/retry", "POST " + apiBase + "/jobs/{jid}/retry", "POST /hosts/chain", "POST " + apiBase + "/events",
	}
}

// TestRightsOfRoutesHostile: each route that needs more than the role viewer has a rule for
// rights, or is among those that need the role of the line.
func TestRightsOfRoutesHostile(t *testing.T) {
	t.Parallel()
	all := slices.Concat(routes(), apiRoutes())
	for _, x := range lows() {
		all = append(all, x.route)
	}
	var known []string
	for _, x := range all {
		known = append(known, x.pattern)
		find, most := x.about()
		switch line := slices.Contains(ofLine(), x.pattern); {
		case x.least <= Viewer:
		case strings.HasPrefix(x.pattern, "GET /orchestrations/{sls}/step"): // most is too low for it
			if most >= x.least {
				t.Errorf("%s: a right gives the role %s", x.pattern, most)
			}
		case line == (find != nil):
			t.Errorf("%s: has a rule for rights: %v, and is one that needs the role of the line: %v", x.pattern, find != nil, line)
		case find != nil && most < x.least:
			t.Errorf("%s: rights give the role %s, and it needs %s", x.pattern, most, x.least)
		}
	}
	for _, pattern := range ofLine() {
		if !slices.Contains(known, pattern) {
			t.Errorf("%s is no route", pattern)
		}
	}
}

// TestRightsHostile sends requests of all routes that need more than the role viewer, of the
// pages and of the API, as a viewer with all rights to names that are not there: nothing is
// done.
func TestRightsHostile(t *testing.T) {
	t.Parallel()
	limits := rightsTo("other*", "another")
	try := func(x route, path string, send func(s *site) int, before func(*site, *spy)) {
		t.Run(x.pattern+" "+path, func(t *testing.T) {
			t.Parallel()
			s, sp := apiSite(t)
			before(s, sp)
			was, running := chainsOf(t, s), s.active()
			if code := send(s); code != http.StatusForbidden {
				t.Errorf("%d", code)
			}
			if now := chainsOf(t, s); now != was || s.active() != running {
				t.Errorf("something was done: %d runs, chains %s", s.active(), now)
			}
		})
	}
	for _, x := range routes() {
		for _, m := range samples("x")[x.pattern] {
			if x.least <= Viewer {
				continue
			}
			path, form := m.path, m.form
			try(x, path, func(s *site) int {
				b := s.viewer(limits)
				var sent url.Values
				if form != nil {
					sent = formOf(form)
					sent.Set("csrf", b.csrf())
				}
				method, _, _ := strings.Cut(x.pattern, " ")
				return b.do(b.request(method, path, sent)).Code
			}, func(s *site, sp *spy) {
				if m.before != nil {
					path, form = m.with(m.before(s, sp))
				}
			})
		}
	}
	for _, x := range apiRoutes() {
		for _, m := range apiSamples()[x.pattern] {
			if x.least <= Viewer || x.pattern == "POST "+apiBase+"/events" {
				continue
			}
			path, body := m.path, m.body
			try(x, path, func(s *site) int {
				method, _, _ := strings.Cut(x.pattern, " ")
				return s.ask(method, path, s.withToken(Viewer, limits), body).Code
			}, func(s *site, sp *spy) {
				if m.before != nil {
					path, body = m.with(m.before(s, sp))
				}
			})
		}
	}
}

// TestRightsGiven sends the same requests as a viewer with all rights to all names: what has
// a rule for rights is allowed.
func TestRightsGiven(t *testing.T) {
	t.Parallel()
	limits := rightsTo("*")
	for _, x := range slices.Concat(routes(), apiRoutes()) {
		find, most := x.about()
		if x.least <= Viewer || find == nil || most < x.least || x.api != nil && x.api.signed {
			continue
		}
		t.Run(x.pattern, func(t *testing.T) {
			t.Parallel()
			s, sp := apiSite(t)
			method, _, _ := strings.Cut(x.pattern, " ")
			st, _ := s.Chains(t.Context())
			_, text, err := st.Read("friday")
			if err != nil {
				t.Fatal(err)
			}
			var code int
			if x.api != nil {
				m := apiSamples()[x.pattern][0]
				path, body := m.path, m.body
				if m.before != nil {
					path, body = m.with(m.before(s, sp))
				}
				code = s.ask(method, path, s.withToken(Viewer, limits), body).Code
			} else {
				m := samples(versionOf(text))[x.pattern][0]
				path, form := m.path, m.form
				if m.before != nil {
					path, form = m.with(m.before(s, sp))
				}
				b := s.viewer(limits)
				var sent url.Values
				if form != nil {
					sent = formOf(form)
					sent.Set("csrf", b.csrf())
				}
				code = b.do(b.request(method, path, sent)).Code
			}
			if code >= 400 {
				t.Errorf("%d", code)
			}
		})
	}
}

// TestRights: a viewer with rights to some chains runs and changes these, and no others.
func TestRights(t *testing.T) {
	t.Parallel()
	s, _ := sampleSite(t)
	x := Scope{Rights: map[string][]string{"operator.chains": {"friday*"}, "editor.chains": {"friday-own*"}}}
	b := s.viewer(x)
	st, _ := s.Chains(t.Context())
	_, text, err := st.Read("friday")
	if err != nil {
		t.Fatal(err)
	}
	version := versionOf(text)
	for _, tt := range []struct {
		path string
		form []string
		code int
	}{
		{"/chains/friday/run", []string{"version", version, "confirm", "yes"}, http.StatusSeeOther},
		{"/chains/friday/about", []string{"name", "friday", "version", version}, http.StatusForbidden},
		{"/chains/friday/clone", []string{"name", "friday-own1", "version", version}, http.StatusForbidden},
		{"/chains/friday/text", nil, http.StatusForbidden},
		{"/chains", []string{"name", "monday2"}, http.StatusForbidden},
		{"/chains", []string{"name", "friday-own1"}, http.StatusSeeOther},
		{"/chains/friday-own1/text", nil, http.StatusOK},
		{"/chains/friday-own1/about", []string{"name", "monday2", "version", "x"}, http.StatusForbidden},
		{"/chains/friday-own1/clone", []string{"name", "friday-own2", "version", "x"}, http.StatusSeeOther},
		{"/orchestrations/orch.deploy/run", []string{"confirm", "yes"}, http.StatusForbidden},
		{"/templates/site", []string{"op", "run"}, http.StatusForbidden},
		{"/hosts/run", []string{}, http.StatusForbidden},
	} {
		method, form := http.MethodGet, url.Values(nil)
		if tt.form != nil {
			method, form = http.MethodPost, formOf(tt.form)
			form.Set("csrf", b.csrf())
		}
		status(t, tt.path+" "+strings.Join(tt.form, " "), b.do(b.request(method, tt.path, form)), tt.code)
	}
	if t.Failed() {
		return
	}
	<-s.ran
	stop := func(b *browser, id string) int {
		return b.do(b.request(http.MethodPost, "/runs/"+id+"/stop", url.Values{"csrf": {b.csrf()}})).Code
	}
	other, _, err := s.runs.start(t.Context(), runSpec{Spec: kept.Spec{Kind: kept.Orchestrations, Name: "orch.deploy"}}, "editor")
	if err != nil {
		t.Fatal(err)
	}
	<-s.ran
	if code := stop(b, other.ID); code != http.StatusForbidden {
		t.Errorf("the run of an orchestration was stopped: %d", code)
	}
	// a right to what is not seen is none
	unseen := s.viewer(Scope{Chains: []string{"own"}, Rights: x.Rights})
	form := formOf([]string{"version", version, "confirm", "yes", "csrf", unseen.csrf()})
	status(t, "a chain that is not seen", unseen.do(unseen.request(http.MethodPost, "/chains/friday/run", form)), http.StatusForbidden)
}

// TestRightsOfFiles: what files of users and of tokens say of rights is understood or refused.
func TestRightsOfFiles(t *testing.T) {
	t.Parallel()
	u, err := ParseUsers("users", []byte("@ops operator.templates=x\n@sso role=viewer editor.chains=ann-*\nann:viewer:-:operator.chains=deploy-* editor.chains=ann-* groups=ops\n"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "operator.chains=deploy-* operator.templates=x editor.chains=ann-*"
	if x, _ := u.find("ann"); x.scope.String() != want || x.scope.Limited() {
		t.Errorf("%q", x.scope)
	}
	if x, ok := u.admit("bob", []string{"sso"}); !ok || x.scope.roleFor(x.role, kept.Chains, "ann-1") != Editor || x.scope.roleFor(x.role, kept.Chains, "bob") != Viewer {
		t.Errorf("%+v", x)
	}
	for _, line := range []string{"ann:operator:-:operator.chains=x", "ann:viewer:-:viewer.chains=x", "ann:viewer:-:editor.templates=x", "ann:viewer:-:operator.chains=", "@a role=editor editor.chains=x", "@a role=operator operator.chains=[x"} {
		if _, err := ParseUsers("users", []byte(line)); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
	token := "ci role=viewer created=2026-11-29T12:00:00Z operator.chains=a,b-* sha256=" + strings.Repeat("0", 64)
	all, err := ParseTokens("tokens", []byte(token))
	if err != nil || all.all[0].String() != token {
		t.Errorf("%v %v", err, all)
	}
	if _, err := ParseTokens("tokens", []byte(strings.Replace(token, "viewer", "editor", 1))); err == nil {
		t.Error("a right that gives nothing is taken")
	}
	if got := (&Scope{}).AddRights([]string{"operator.chain=x"}); got == nil || !strings.Contains(got.Error(), "operator.chains") {
		t.Error(got)
	}
}

// TestRightsRecurring: who has a right to what a schedule starts may add, pause, resume and
// remove it, on the pages and by the API, and nothing else, however it is named.
func TestRightsRecurring(t *testing.T) {
	t.Parallel()
	s, _ := apiSite(t)
	if err := s.AddRecurring(t.Context(), NewRecurrence{Name: "weekly", Kind: "chain", What: "monday"}); err != nil {
		t.Fatal(err)
	}
	x := Scope{Rights: map[string][]string{"operator.chains": {"fri*"}, "operator.templates": {"site"}}}
	b := s.viewer(x)
	post := func(path string, form ...string) int {
		f := formOf(form)
		f.Set("csrf", b.csrf())
		return b.do(b.request(http.MethodPost, path, f)).Code
	}
	add := func(name string, kv ...string) int {
		return post("/recurring", append(kv, "name", name, "when", "6h", "queue", "ops", "confirm", "yes")...)
	}
	page := b.get("/recurring").Body.String()
	if !strings.Contains(page, `value="chain friday"`) || strings.Contains(page, `value="chain monday"`) || strings.Contains(page, "orchestration orch.deploy") || strings.Contains(page, "/recurring/weekly/") {
		t.Errorf("the page is %s", page)
	}
	for what, code := range map[string]int{
		"other schedule paused":  post("/recurring/weekly/pause"),
		"other schedule removed": post("/recurring/weekly/remove"),
		"none":                   post("/recurring/none/pause"),
		"chain":                  add("a", "what", "chain monday"),
		"spaces":                 add("b", "what", " chain  monday"),
		"orchestration":          add("c", "what", "orchestration friday"),
		"two chains":             add("d", "what", "chain friday,monday"),
		"template":               add("e", "what", "chain friday", "template", "other@site"),
		"nothing":                add("f"),
	} {
		if code != http.StatusForbidden {
			t.Errorf("%s: %d", what, code)
		}
	}
	if code := add("own", "what", "chain friday"); code != http.StatusSeeOther {
		t.Errorf("own: %d", code)
	}
	if code := add("site", "template", "site@week"); code != http.StatusSeeOther {
		t.Errorf("template: %d", code)
	}
	secret := s.withToken(Viewer, x)
	for _, tt := range []struct {
		method, path, body string
		code               int
	}{
		{"POST", "/recurring", `{"name": "api", "queue": "ops", "kind": "chain", "what": "friday", "every": "6h"}`, 201},
		{"POST", "/recurring", `{"name": "api2", "queue": "ops", "kind": "chain", "what": "monday", "every": "6h"}`, 403},
		{"POST", "/recurring", `{"name": "api3", "queue": "ops", "kind": "template", "what": "other@site", "every": "6h"}`, 403},
		{"POST", "/recurring/own/pause", "", 200},
		{"POST", "/recurring/weekly/pause", "", 403},
		{"DELETE", "/recurring/weekly", "", 403},
		{"DELETE", "/recurring/own", "", 204},
	} {
		if w := s.ask(tt.method, apiBase+tt.path, secret, tt.body); w.Code != tt.code {
			t.Errorf("%s %s %s: %d: %s", tt.method, tt.path, tt.body, w.Code, w.Body)
		}
	}
	// Limits are held against the whole name, too.
	if (&Scope{Orchestrations: []string{"a"}}).seesRecurring("orchestration a@b") || (&Scope{Orchestrations: []string{"a*"}}).seesRecurring("orchestration a,secret") || !(&Scope{Templates: []string{"a"}}).seesRecurring("template a@b") {
		t.Error("limits are held against a part of a name")
	}
}

// TestRightsFunctionsHostile: a viewer with a right to some functions runs these on hosts, by
// the pages, the API and salt-api, and no others, however the request names them.
func TestRightsFunctionsHostile(t *testing.T) {
	t.Parallel()
	s, sp := saltSite(t)
	x := Scope{Rights: map[string][]string{"editor.functions": {"test.*", "state.apply"}}}
	b := s.viewer(x)
	page := b.get("/hosts").Body.String()
	for text, want := range map[string]bool{"/hosts/run": true, "/hosts/ping": true, "/hosts/facts": false, "/hosts/chain": false, "test.*, state.apply": true} {
		if strings.Contains(page, text) != want {
			t.Errorf("the page of hosts has %s: %v", text, !want)
		}
	}
	run := func(kv ...string) int {
		f := formOf(append(kv, "host", "web1", "confirm", "yes", "csrf", b.csrf()))
		return b.do(b.request(http.MethodPost, "/hosts/run", f)).Code
	}
	refused := map[string]int{
		"/hosts/run cmd.run": run("function", "cmd.run", "arguments", "id"),
		"a wrapper":          run("function", "state.single", "arguments", "cmd.run\nname=id"),
		"two":                run("function", "test.ping,cmd.run"),
		"twice":              b.do(b.request(http.MethodPost, "/hosts/run", url.Values{"function": {"cmd.run", "test.ping"}, "host": {"web1"}, "confirm": {"yes"}, "csrf": {b.csrf()}})).Code,
		"a path":             run("function", "test./../cmd.run"),
		"/hosts/facts":       b.do(b.request(http.MethodPost, "/hosts/facts", url.Values{"host": {"web1"}, "csrf": {b.csrf()}})).Code,
		"/hosts/chain":       b.do(b.request(http.MethodPost, "/hosts/chain", url.Values{"host": {"web1"}, "action": {"cmd"}, "name": {"test.x"}, "csrf": {b.csrf()}})).Code,
		"a retry":            b.do(b.request(http.MethodPost, "/jobs/"+adHocJID+"/retry", url.Values{"csrf": {b.csrf()}})).Code,
	}
	secret := s.withToken(Viewer, x)
	token := s.saltLogin(secret)
	for _, body := range []string{
		`{"function": "cmd.run", "target": "web1", "arguments": ["id"]}`,
		`{"function": "test.ping,cmd.run", "target": "web1"}`,
		`{"function": "salt.function", "target": "web1", "arguments": ["cmd.run"]}`,
	} {
		refused[body] = s.ask(http.MethodPost, apiBase+"/functions", secret, body).Code
	}
	for _, body := range []string{
		`{"client": "local", "tgt": "web1", "fun": "cmd.run", "arg": ["id"]}`,
		`[{"client": "local", "tgt": "web1", "fun": "cmd.run", "arg": ["id"]}, {"client": "local_async", "tgt": "web1", "fun": "test.ping"}]`,
		`{"client": "ssh", "tgt": "web1", "fun": "grains.items"}`,
	} {
		refused["salt-api "+body] = s.salt(http.MethodPost, "/", token, body).Code
	}
	for _, fun := range []string{`["test.ping", "cmd.run"]`, `"test.ping,cmd.run"`} {
		if w := s.salt(http.MethodPost, "/run", token, `{"client": "local", "tgt": "web1", "fun": `+fun+`, "arg": [[], ["id"]]}`); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", fun, w.Code)
		}
	}
	refused["salt-api /minions"] = s.salt(http.MethodGet, "/minions", token, "").Code
	for what, code := range refused {
		if code != http.StatusForbidden {
			t.Errorf("%s: %d", what, code)
		}
	}
	if len(s.ran) > 0 || s.active() > 0 {
		t.Fatal("something ran")
	}
	// What the right is to runs, and can be stopped; the pillar is not searched by it.
	sp.took()
	if code := run("function", "test.echo", "arguments", "x"); code != http.StatusSeeOther {
		t.Fatalf("test.echo: %d", code)
	}
	<-s.ran
	status(t, "the API", s.ask(http.MethodPost, apiBase+"/functions", secret, `{"function": "state.apply", "target": "web1", "arguments": ["web"]}`), http.StatusCreated)
	<-s.ran
	status(t, "salt-api", s.salt(http.MethodPost, "/", token, `[{"client": "local_async", "tgt": "web1", "fun": "test.ping"}]`), http.StatusOK)
	<-s.ran
	if used := sp.took(); used&searchPillar != 0 {
		t.Error("a right to functions searches the pillar")
	}
	other, _, err := s.runs.start(t.Context(), runSpec{Spec: kept.Spec{Kind: kept.Functions, Name: "test.ping,cmd.run on web1", Hosts: []string{"web1"}}}, "root")
	if err != nil {
		t.Fatal(err)
	}
	<-s.ran
	stop := func(id string) int {
		return b.do(b.request(http.MethodPost, "/runs/"+id+"/stop", url.Values{"csrf": {b.csrf()}})).Code
	}
	if code := stop(other.ID); code != http.StatusForbidden {
		t.Errorf("the run of several functions at once was stopped: %d", code)
	}
	_ = s.runs.each(t.Context(), func(v runView) bool {
		if strings.HasPrefix(v.Spec.Name, "test.echo ") {
			if code := stop(v.ID); code != http.StatusSeeOther {
				t.Errorf("the own run is not stopped: %d", code)
			}
		}
		return true
	})
}

// TestFunctionLimitsHostile: an editor who is limited to functions runs these alone, and sees
// their runs and jobs alone.
func TestFunctionLimitsHostile(t *testing.T) {
	t.Parallel()
	s, _ := saltSite(t)
	x := Scope{Functions: []string{"test.*"}}
	secret := s.withToken(Editor, x)
	token := s.saltLogin(secret)
	for _, tt := range []struct {
		method, path, body string
		code               int
	}{
		{"POST", "/functions", `{"function": "cmd.run", "target": "web1", "arguments": ["id"]}`, 403},
		{"POST", "/functions", `{"function": "test.ping,cmd.run", "target": "web1"}`, 403},
		{"POST", "/chains/friday/runs", "", 403},
		{"PUT", "/chains/test.x", `{"text": "steps: []\n"}`, 403},
		{"POST", "/orchestrations/orch.deploy/runs", "", 403},
		{"GET", "/jobs/" + adHocJID, "", 403},
		{"GET", "/jobs/" + stepJID, "", 403},
		{"GET", "/jobs/" + chainJID, "", 403},
		{"POST", "/jobs/" + pingJID + "/retry", "", 403},
		{"GET", "/hosts", "", 403},
		{"GET", "/jobs/" + pingJID, "", 200},
		{"POST", "/functions", `{"function": "test.echo", "target": "web1", "arguments": ["x"]}`, 201},
	} {
		if w := s.ask(tt.method, apiBase+tt.path, secret, tt.body); w.Code != tt.code {
			t.Errorf("%s %s %s: %d: %s", tt.method, tt.path, tt.body, w.Code, w.Body)
		}
	}
	<-s.ran
	if len(s.ran) > 0 {
		t.Fatal("something else ran")
	}
	list := s.ask(http.MethodGet, apiBase+"/jobs?all=true", secret, "").Body.String()
	if !strings.Contains(list, pingJID) || strings.Contains(list, adHocJID) || strings.Contains(list, stepJID) || strings.Contains(list, orchJID) {
		t.Errorf("the jobs are %s", list)
	}
	if runs := s.ask(http.MethodGet, apiBase+"/runs", secret, "").Body.String(); !strings.Contains(runs, "test.echo on web1") {
		t.Errorf("the runs are %s", runs)
	}
	if w := s.salt(http.MethodPost, "/", token, `[{"client": "local", "tgt": "web1", "fun": "cmd.run", "arg": ["id"]}]`); w.Code != http.StatusForbidden {
		t.Errorf("salt-api: %d: %s", w.Code, w.Body)
	}
	// A wider right than the limit is none.
	both := s.viewer(Scope{Functions: []string{"test.*"}, Rights: map[string][]string{"editor.functions": {"*"}}})
	w := both.do(both.request(http.MethodPost, "/hosts/run", url.Values{"host": {"web1"}, "function": {"cmd.run"}, "arguments": {"id"}, "confirm": {"yes"}, "csrf": {both.csrf()}}))
	status(t, "a right beyond the limit", w, http.StatusForbidden)
	for line, text := range map[string]string{
		"ann:operator:-:functions=test.*":        "give editor.functions=",
		"ann:viewer:-:editor.functions=cmd":      "not a glob for functions",
		"ann:editor:-:functions=cmd":             "not a glob for functions",
		"ann:editor:-:editor.functions=cmd.run":  "gives nothing",
		"ann:viewer:-:operator.functions=test.*": "unknown word",
	} {
		if _, err := ParseUsers("users", []byte(line)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", line, err)
		}
	}
}
