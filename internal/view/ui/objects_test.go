package ui

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"brine/internal/fleet/kept"
)

// guest is a browser of an editor with limits.
func (s *site) guest(x Scope) *browser {
	w := httptest.NewRecorder()
	s.access.enter(w, user{name: "guest", role: Editor, scope: x})
	return &browser{s, w.Result().Cookies()[0]}
}

// TestObjectsHostile sends requests of all routes of the pages as an editor who is limited to
// one chain that is not there, and looks that nothing of other objects is answered, done
// or run. Each route has a rule; see TestAPIScope and TestSaltAPIHostile for the others.
func TestObjectsHostile(t *testing.T) {
	t.Parallel()
	var known []string
	for _, x := range routes() {
		known = append(known, x.pattern)
		if x.least > Nobody && x.rule() == nil {
			t.Errorf("%s has no rule for those who are limited to objects", x.pattern)
		}
	}
	for pattern := range pageRules() {
		if !slices.Contains(known, pattern) {
			t.Errorf("a rule of %s, which is no route", pattern)
		}
	}
	shared, spShared := sampleSite(t)
	st, _ := shared.Chains(t.Context())
	_, text, _ := st.Read("friday")
	open := []string{"GET /runs", "GET /search", "GET /{$}", "GET /approvals", "/", "POST /logout", "GET /history", "GET /jobs", "GET /audit", "GET /recurring"}
	for _, x := range routes() {
		if x.least == Nobody {
			continue
		}
		for _, m := range samples(versionOf(text))[x.pattern] {
			s, sp := shared, spShared
			if m.before != nil {
				s, sp = sampleSite(t)
			}
			path := m.path
			if m.before != nil {
				path, m.form = m.with(m.before(s, sp))
			}
			b := s.guest(Scope{Chains: []string{"other"}})
			var form url.Values
			if m.form != nil {
				form = formOf(m.form)
				form.Set("csrf", b.csrf())
			}
			before, running := chainsOf(t, s), s.active()
			method, _, found := strings.Cut(x.pattern, " ")
			if !found {
				method = http.MethodGet
			}
			w := b.do(b.request(method, path, form))
			hides := strings.HasPrefix(x.pattern, "POST /approvals/") && w.Code == http.StatusNotFound
			if refused := hides || w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), "You are limited to chains=other."); refused == slices.Contains(open, x.pattern) {
				t.Errorf("%s %s: %d: %.300s", method, path, w.Code, w.Body)
			}
			for _, name := range []string{"friday", "orch.deploy", "web1", hidden} {
				if strings.Contains(w.Body.String(), name) && !strings.Contains(path, name) {
					t.Errorf("%s %s tells of %s", method, path, name)
				}
			}
			if chainsOf(t, s) != before || s.active() != running || len(s.ran) != 0 {
				t.Errorf("%s %s does something", method, path)
			}
		}
	}
}

// TestObjects: who is limited to the chain friday sees, runs and changes that one, and
// makes none beyond the limits.
func TestObjects(t *testing.T) {
	t.Parallel()
	s, _ := sampleSite(t)
	b := s.guest(Scope{Chains: []string{"fri*"}})
	page := b.get("/").Body.String()
	if !strings.Contains(page, "/chains/friday") || strings.Contains(page, "orch.deploy") {
		t.Errorf("the first page is %s", page)
	}
	status(t, "the chain", b.get("/chains/friday"), http.StatusOK)
	st, err := s.Chains(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
		{"/chains/friday/clone", []string{"name", "monday"}, http.StatusForbidden},
		{"/chains/friday/clone", []string{"name", "friday2"}, http.StatusSeeOther},
		{"/chains", []string{"name", "monday"}, http.StatusForbidden},
		{"/chains", []string{}, http.StatusForbidden},
		{"/chains", []string{"name", "friday3"}, http.StatusSeeOther},
		{"/chains/friday3/about", []string{"name", "monday", "version", "x"}, http.StatusForbidden},
	} {
		form := formOf(tt.form)
		form.Set("csrf", b.csrf())
		if strings.HasSuffix(tt.path, "/clone") {
			form.Set("version", version)
		}
		status(t, tt.path+" "+strings.Join(tt.form, " "), b.do(b.request(http.MethodPost, tt.path, form)), tt.code)
	}
	if t.Failed() {
		return
	}
	<-s.ran
	x, _, err := s.runs.start(t.Context(), runSpec{Spec: kept.Spec{Kind: kept.Orchestrations, Name: "orch.deploy"}}, "editor")
	if err != nil {
		t.Fatal(err)
	}
	<-s.ran
	status(t, "the run of another", b.get("/runs/"+x.ID), http.StatusForbidden)
	if strings.Contains(b.get("/").Body.String(), x.ID) {
		t.Error("the first page has the run of another")
	}
}

// TestLimitsHostile: what a file of users says of limits is understood or refused, and a new
// password does not lift them.
func TestLimitsHostile(t *testing.T) {
	t.Parallel()
	file := "@shops templates=shop-* chains=shop-*\nann:operator:-:chains=web-*,db-* groups=shops\nbob:viewer:-\n"
	u, err := ParseUsers("users", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	ann, _ := u.find("ann")
	bob, _ := u.find("bob")
	if got, want := ann.scope.String(), "chains=web-*,db-*,shop-* templates=shop-*"; got != want || bob.scope.Limited() {
		t.Errorf("ann has %q, want %q; bob has %q", got, want, bob.scope)
	}
	hash, err := Hash("a password of ann")
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseUsers("users", SetUser([]byte(file), "ann", "editor", hash))
	if err != nil {
		t.Fatal(err)
	}
	if x, _ := again.find("ann"); x.scope.String() != ann.scope.String() || x.role != Editor || x.hash != hash {
		t.Errorf("with a new password, ann is %+v", x)
	}
	for _, bad := range []string{
		"ann:viewer:-:", "ann:viewer:-:x", "ann:viewer:-:chain=x", "ann:viewer:-:hosts=G@os:x", "ann:viewer:-:chains=", "ann:viewer:-:chains=[", "ann:viewer:-:groups=none",
		"ann:viewer:-:groups=shops\n@shops chains=x", "@shops", "@shops groups=x", "@ chains=x", "@shops chains=x\n@shops chains=y", "@a:viewer:-",
	} {
		if _, err := ParseUsers("users", []byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
