package ui

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"brine/internal/fleet/kept"
)

// rightsTo are all rights to names.
func rightsTo(globs ...string) Scope {
	x := Scope{}
	for _, word := range RightWords() {
		_, _ = x.grantRight(word, globs)
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
