package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/drift"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

// told are texts that only who may see web1 may read: what it returned and its facts.
var told = []string{saidByWeb1, "osfinger"}

// TestHostsHostile sends requests of all routes of the pages and of the API as an editor who is
// limited to hosts that are not there: nothing of what web1 said is answered, and no run is
// started but one that is limited to them. Routes that are about one host, or all hosts of a
// run, are refused.
func TestHostsHostile(t *testing.T) {
	t.Parallel()
	limits := Scope{Hosts: []string{"other*", "another"}}
	refused := []string{
		"GET /hosts/{id}", "POST /hosts/ping", "POST /hosts/facts", "POST /hosts/run", "POST /hosts/chain", "GET /jobs/{jid}", "POST /jobs/{jid}/retry",
		"POST /runs/{id}/stop", "POST /runs/{id}/kill", "GET /history/compare", "POST /recurring", "POST /recurring/{name}/pause", "POST /recurring/{name}/resume", "POST /recurring/{name}/remove",
		"POST /api/v1/functions", "GET /api/v1/jobs/{jid}", "POST /api/v1/jobs/{jid}/retry", "POST /api/v1/runs/{id}/stop", "POST /api/v1/runs/{id}/kill",
		"POST /api/v1/recurring", "POST /api/v1/recurring/{name}/pause", "POST /api/v1/recurring/{name}/resume", "DELETE /api/v1/recurring/{name}",
		"GET /api/v1/hosts/{id}", "GET /api/v1/history/export", "GET /api/v1/plans/{id}", "GET /api/v1/plans/{id}/text", "POST /api/v1/plans/{id}/runs", "GET /runs/{id}/plan", "POST /runs/{id}/apply", "POST /api/v1/events", "GET /metrics",
	}
	var known []string
	try := func(x route, m sample, send func(s *site, sp *spy, path string) *httptest.ResponseRecorder) {
		known = append(known, x.pattern)
		t.Run(x.pattern+" "+m.path, func(t *testing.T) {
			t.Parallel()
			s, sp := apiSite(t)
			path := m.path
			if m.before != nil {
				path, m.form = m.with(m.before(s, sp))
			}
			sp.mu.Lock()
			sp.specs = nil
			sp.mu.Unlock()
			w := send(s, sp, path)
			forbidden := w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), "hosts=other*,another")
			ofChain := x.pattern == "GET /api/v1/jobs/{jid}" && strings.HasSuffix(path, chainJID) // whose hosts are left out
			if slices.Contains(refused, x.pattern) && !forbidden && !ofChain {
				t.Errorf("%d: %.400s", w.Code, w.Body)
			}
			for _, text := range told {
				if strings.Contains(w.Body.String(), text) {
					t.Errorf("the answer has %q: %s", text, w.Body)
				}
			}
			sp.mu.Lock()
			defer sp.mu.Unlock()
			for _, spec := range sp.specs {
				if !slices.Equal(spec.Within, limits.Hosts) {
					t.Errorf("a run is limited to %q: %+v", spec.Within, spec)
				}
			}
			for len(s.ran) > 0 {
				<-s.ran
			}
		})
	}
	sampleOf := func(s *site, x route, path string) sample {
		st, _ := s.Chains(t.Context())
		_, text, _ := st.Read("friday")
		all := samples(versionOf(text))[x.pattern]
		return all[slices.IndexFunc(all, func(m sample) bool { return m.path == path })]
	}
	for _, x := range routes() {
		if x.least == Nobody {
			continue
		}
		for _, m := range samples("")[x.pattern] {
			try(x, m, func(s *site, _ *spy, path string) *httptest.ResponseRecorder {
				b := s.guest(limits)
				var form url.Values
				if m.form != nil {
					form = formOf(sampleOf(s, x, m.path).form)
					form.Set("csrf", b.csrf())
				}
				method, _, found := strings.Cut(x.pattern, " ")
				if !found {
					method = http.MethodGet
				}
				return b.do(b.request(method, path, form))
			})
		}
	}
	for _, x := range apiRoutes() {
		if x.least == Nobody {
			continue
		}
		for _, m := range apiSamples()[x.pattern] {
			try(x, sample{path: m.path, before: m.before}, func(s *site, _ *spy, path string) *httptest.ResponseRecorder {
				method, _, _ := strings.Cut(x.pattern, " ")
				return s.ask(method, path, s.withToken(Editor, limits), m.body)
			})
		}
	}
	for _, pattern := range refused {
		if !slices.Contains(known, pattern) {
			t.Errorf("no request of %s was sent", pattern)
		}
	}
}

// limitedSite has a run, a job, an execution and drift of two hosts.
func limitedSite(t *testing.T) (s *site, runID, jobID string) {
	t.Helper()
	s, _ = apiSite(t)
	jobID = "20260101000000000900"
	s.record(jobs.Load{JID: jobID, Fun: "cmd.run", Arg: value.Strings("id"), Tgt: "*", Minions: []string{"db1", "web1"}}, map[string]value.Value{"db1": "db1 says this", "web1": saidByWeb1}, 0)
	k, err := s.started(kept.Spec{Kind: kept.Orchestrations, Name: "orch.deploy", User: "x", Args: []string{"x"}}, func(_ <-chan struct{}, line func(string)) int {
		line(`{"event":"run_start","jid":"20260101000000000000","total":1}`)
		line(`{"event":"step_start","id":"one","fun":"salt.state"}`)
		line(`{"event":"job_start","step":"one","fun":"state.apply","hosts":2,"jid":"` + jobID + `"}`)
		line(`{"event":"host_end","step":"one","host":"db1","result":"failed","comment":"db1 says this"}`)
		line(`{"event":"host_end","step":"one","host":"web1","result":"failed","comment":"` + saidByWeb1 + `"}`)
		line(`{"event":"step_end","id":"one","fun":"salt.state","result":"failed","comment":"failed on db1 and web1, as web1 says no"}`)
		line("a warning about web1 says no")
		return 2
	})
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.runs.find(t.Context(), k.Spec.JID)
	if err != nil {
		t.Fatal(err)
	}
	<-x.done()
	return s, x.ID, jobID
}

// TestHostsLimited: who is limited to db1 sees what db1 did, and that there is more, which counts.
func TestHostsLimited(t *testing.T) {
	t.Parallel()
	s, runID, jobID := limitedSite(t)
	b := s.guest(Scope{Hosts: []string{"db*"}})
	secret := s.withToken(Editor, Scope{Hosts: []string{"db*"}})
	for _, tt := range []struct{ path, has, also string }{
		{"/runs/" + runID, "db1 says this", "1 host not shown. Only hosts=db* are shown to you."},
		{"/runs/" + runID + "/hosts?step=1", "db1", "only hosts=db*"},
		{"/jobs/" + jobID, "db1 says this", "1 host not shown."},
		{"/history/" + jidAt(1), "2 hosts not shown.", ""},
		{"/hosts", "only hosts=db*", ""},
		{"/jobs", jobID, ""},
		{"/drift", "only hosts=db*", ""},
	} {
		w := b.get(tt.path)
		status(t, tt.path, w, http.StatusOK)
		if text := w.Body.String(); !strings.Contains(text, tt.has) || !strings.Contains(text, tt.also) || strings.Contains(text, saidByWeb1) {
			t.Errorf("%s: %s", tt.path, text)
		}
	}
	var run RunDetail
	w := s.ask(http.MethodGet, apiBase+"/runs/"+runID, secret, "")
	if err := json.Unmarshal(w.Body.Bytes(), &run); err != nil || len(run.Steps) != 1 {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if x := run.Steps[0]; x.HostsTotal != 2 || x.HostsFailed != 2 || x.HostsHidden != 1 || len(x.Hosts) != 1 || x.Hosts[0].ID != "db1" || strings.Contains(w.Body.String(), "web1") {
		t.Errorf("the step is %+v: %s", x, w.Body)
	}
	// A function on all of them is refused with the names, and one on db1 is run.
	w = s.ask(http.MethodPost, apiBase+"/functions", secret, `{"function": "test.ping", "target": "*"}`)
	if kind := problemIn(t, "a function on all", w); kind != outOfScope || !strings.Contains(w.Body.String(), "the target means web1, ") {
		t.Errorf("%s: %s", kind, w.Body)
	}
	w = s.ask(http.MethodPost, apiBase+"/functions", secret, `{"function": "test.ping", "target": "L@db1"}`)
	status(t, "a function on db1", w, http.StatusCreated)
	<-s.ran
	var own RunDetail
	if err := json.Unmarshal(w.Body.Bytes(), &own); err != nil {
		t.Fatal(err)
	}
	// What runs within the limits is shown whole, and may be ended.
	status(t, "the end of its own run", s.ask(http.MethodPost, apiBase+"/runs/"+own.ID+"/kill", secret, ""), http.StatusOK)
}

// TestHostRules has what limits of hosts mean.
func TestHostRules(t *testing.T) {
	t.Parallel()
	x := Scope{Hosts: []string{"web*", "db1"}}
	for id, want := range map[string]bool{"web1": true, "db1": true, "db10": false, "aweb1": false, "": false, "web/1": false} {
		if x.onHost(id) != want {
			t.Errorf("onHost(%q) = %v", id, !want)
		}
	}
	if !x.whole(kept.Spec{Within: []string{"db1"}}) || x.whole(kept.Spec{Within: []string{"db1", "*"}}) || x.whole(kept.Spec{}) || !(&Scope{}).whole(kept.Spec{}) {
		t.Error("whole is wrong")
	}
	if x.sees(kept.Spec{Kind: kept.Functions, Hosts: []string{"lb1"}}) || !x.sees(kept.Spec{Kind: kept.Functions, Hosts: []string{"lb1", "db1"}}) || x.sees(kept.Spec{Kind: kept.Jobs}) {
		t.Error("sees is wrong")
	}
	for tag, want := range map[string]bool{
		"salt/job/1/ret/web1": true, "salt/job/1/ret/lb1": false, "salt/run/1/ret": false, "deploy/done": false, "salt/job/1/new": true, "salt/beacon/web1/x": false, "1": false,
	} {
		id := tag[strings.LastIndexByte(tag, '/')+1:]
		got := x.eventSeen(tag, value.MapOf("id", id, "minions", value.Strings("lb1", "web1")))
		if (got != nil) != want || strings.HasSuffix(tag, "/new") && value.Repr(got.At("minions")) != "['web1']" {
			t.Errorf("%s: %v", tag, got)
		}
	}
	// The id of an event is that of its tag.
	if x.eventSeen("salt/job/1/ret/web1", value.MapOf("id", "lb1", "return", "x")) != nil {
		t.Error("an event of lb1 is seen")
	}
	all := []*drift.Subject{{Name: "a", Records: []drift.Record{{Host: "web1"}, {Host: "lb1"}}}}
	if got := x.driftSeen(all); len(got[0].Records) != 1 || len(all[0].Records) != 2 {
		t.Errorf("drift is %+v", got[0])
	}
}

// TestSaltEvents: events are sent in Salt's form, to who has a valid token, in one of the places
// of Salt's; of the hosts within its limits.
func TestSaltEvents(t *testing.T) {
	t.Parallel()
	s, _ := saltSite(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "127.0.0.1:8080"
		s.h.ServeHTTP(w, r)
	}))
	defer srv.Close()
	for _, tt := range []struct {
		name  string
		scope Scope
		set   func(r *http.Request, token string)
		want  string
		code  int
	}{
		{"header", Scope{}, func(r *http.Request, token string) { r.Header.Set("X-Auth-Token", token) }, "tag: salt/job/1/ret/web1\ndata: {\"tag\":\"salt/job/1/ret/web1\",\"data\":{\"id\":\"web1\"}}\n\n", 200},
		{"query", Scope{}, func(r *http.Request, token string) { r.URL.RawQuery = "token=" + token }, "salt/job/1/ret/web1", 200},
		{"salt_token", Scope{}, func(r *http.Request, token string) { r.URL.RawQuery = "salt_token=" + token }, "salt/job/1/ret/web1", 200},
		{"cookie", Scope{}, func(r *http.Request, token string) { r.AddCookie(&http.Cookie{Name: saltCookie, Value: token}) }, "salt/job/1/ret/web1", 200},
		{"hosts", Scope{Hosts: []string{"db*"}}, func(r *http.Request, token string) { r.Header.Set("X-Auth-Token", token) }, "salt/job/1/ret/db1", 200},
		{"names", Scope{Chains: []string{"x"}}, func(r *http.Request, token string) { r.Header.Set("X-Auth-Token", token) }, "", 403},
		{"none", Scope{}, func(*http.Request, string) {}, "", 401},
		{"wrong", Scope{}, func(r *http.Request, _ string) { r.Header.Set("X-Auth-Token", "x") }, "", 401},
	} {
		token := s.saltLogin(s.withToken(Viewer, tt.scope))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+saltBase+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		tt.set(r, token)
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if w.StatusCode != tt.code {
			t.Errorf("%s: status %d", tt.name, w.StatusCode)
		}
		if tt.code == 200 {
			for _, id := range []string{"web1", "db1"} {
				s.events <- value.MapOf("tag", "salt/job/1/ret/"+id, "data", value.MapOf("id", id))
			}
			var text strings.Builder
			stuck := time.AfterFunc(time.Minute, func() { _ = w.Body.Close() })
			for part := make([]byte, 4096); !strings.Contains(text.String(), tt.want); {
				n, err := w.Body.Read(part)
				text.Write(part[:n])
				if err != nil {
					t.Fatalf("%s: %v: %s", tt.name, err, text.String())
				}
			}
			stuck.Stop()
			if !strings.HasPrefix(text.String(), "retry: 400\n") || tt.scope.Hosts != nil && strings.Contains(text.String(), "web1") {
				t.Errorf("%s: %s", tt.name, text.String())
			}
		}
		_ = w.Body.Close()
		for len(s.saltStreams) > 0 { // the stream that has just been closed takes events until it sees that
			time.Sleep(time.Millisecond)
		}
		for len(s.events) > 0 {
			<-s.events
		}
	}
}

// TestGroupsHostile: groups of a provider or a proxy let in who is in one that has a role, with
// the role and the limits of that group alone.
func TestGroupsHostile(t *testing.T) {
	t.Parallel()
	u, err := ParseUsers("users", []byte("@shops role=operator from=/ops/shops,Shop%20Admins chains=shop-* hosts=shop*\n@web role=editor\n@plain chains=x\nann:viewer:-\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		in   []string
		want string
	}{
		{"zoe", []string{"Shop Admins"}, "operator chains=shop-* hosts=shop*"},
		{"zoe", []string{"web", "/ops/shops"}, "operator chains=shop-* hosts=shop*"}, // the first of the file
		{"zoe", []string{"web"}, "editor "},
		{"zoe", []string{"shops"}, "refused"}, // it has other names there
		{"zoe", []string{"plain"}, "refused"}, // no role
		{"zoe", nil, "refused"},
		{"ann", []string{"web"}, "viewer "}, // what the file says
		{"token:ci", []string{"web"}, "refused"},
		{"", []string{"web"}, "refused"},
		{"@web", []string{"web"}, "refused"},
	} {
		got := "refused"
		if x, ok := u.admit(tt.name, tt.in); ok {
			got = x.role.String() + " " + x.scope.String()
		}
		if got != tt.want {
			t.Errorf("%q in %q: %s, want %s", tt.name, tt.in, got, tt.want)
		}
	}
	for _, bad := range []string{"@a role=boss", "@a from=x", "@a role=viewer from=", "@a role=viewer hosts=G@os:x", "@a role=viewer from=%zz", "ann:viewer:-:role=editor"} {
		if _, err := ParseUsers("users", []byte(bad+"\n")); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestGroupsHeaderHostile: groups come from the header that was named, and once.
func TestGroupsHeaderHostile(t *testing.T) {
	t.Parallel()
	u, err := ParseUsers("users", []byte("@web role=viewer\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		header string
		given  [][2]string
		code   int
	}{
		{"X-Groups", [][2]string{{"X-Groups", "ops, web"}}, http.StatusOK},
		{"X-Groups", [][2]string{{"X-Groups", "ops"}}, http.StatusForbidden},
		{"X-Groups", [][2]string{{"X-Groups", "web"}, {"X-Groups", "ops"}}, http.StatusForbidden},
		{"", [][2]string{{"X-Groups", "web"}, {"", "web"}}, http.StatusForbidden},
	} {
		s := newSite(t, func(o *Options) {
			o.Users = always(u)
			o.Proxy = &Proxy{From: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Header: "X-Remote-User", Groups: tt.header}
		})
		r := httptest.NewRequest(http.MethodGet, origin+"/", nil)
		r.Header.Set("X-Remote-User", "zoe")
		for _, x := range tt.given {
			if x[0] != "" {
				r.Header.Add(x[0], x[1])
			}
		}
		status(t, fmt.Sprint(tt), s.do(r), tt.code)
	}
}

// TestLimitsEndVisits: a change of the limits ends what was watched with the old ones.
func TestLimitsEndVisits(t *testing.T) {
	t.Parallel()
	text := "@web role=viewer hosts=web*\n"
	s := newSite(t, func(o *Options) {
		o.Users = func() (*Users, error) { return ParseUsers("users", []byte(text)) }
		o.Proxy = &Proxy{From: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Header: "X-Remote-User", Groups: "X-Groups"}
	})
	u, err := s.opts.Users()
	if err != nil {
		t.Fatal(err)
	}
	one, _ := u.admit("zoe", []string{"web"})
	v := s.access.proxied(one)
	if !s.valid(v) {
		t.Fatal("the visit is not valid")
	}
	text = "@web role=viewer hosts=db*\n"
	if s.valid(v) {
		t.Error("the visit is valid with other limits")
	}
}
