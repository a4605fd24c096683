package ui

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

func TestRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.orchestrated(fakeJID, jobs.Load{Arg: value.Strings("orch.deploy")}, "orch.deploy")
	b := s.browser(Operator)
	where := b.post("/orchestrations/orch.deploy/run", "confirm", "yes").Header().Get("Location")
	<-s.ran
	status(t, "resume", b.post(where+"/resume"), 409)
	status(t, "stop", b.post(where+"/stop"), 303)
	if !slices.Equal(s.drained, []string{"20260101000000000000"}) {
		t.Errorf("drained %v", s.drained)
	}
	if text := b.get(where).Body.String(); !strings.Contains(text, "is being stopped") {
		t.Errorf("page: %s", text)
	}
	status(t, "kill", b.post(where+"/kill"), 303)
	s.Wait()
	text := b.get(where + "/events").Body.String()
	if !strings.HasPrefix(text, "event: end\n") || !strings.Contains(text, "was stopped") {
		t.Errorf("events: %s", text)
	}
	next := b.post(where + "/resume").Header().Get("Location")
	if c := <-s.ran; !strings.HasPrefix(strings.Join(c.Args, " "), "orchestrate --resume 20260101000000000000 ") || next == where {
		t.Errorf("resumed: %v %s", c.Args, next)
	}
}

// TestRunsOutliveServer has another server show what one has started, while it runs and
// afterwards, also if its process was killed.
func TestRunsOutliveServer(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Operator)
	where := b.post("/orchestrations/orch.deploy/run", "confirm", "yes").Header().Get("Location")
	<-s.ran
	s.Close()
	next := func() *browser {
		srv, err := New(Options{Backend: s.fake, Origins: []string{origin}, Owner: "owner", Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(srv.Close)
		return (&site{t: t, Server: srv, fake: s.fake, h: srv.Handler()}).browser(Operator)
	}
	b = next()
	if text := b.get(where).Body.String(); !strings.Contains(text, "is under way: 0 of 1 steps done") || !strings.Contains(text, "started by operator") {
		t.Errorf("page: %s", text)
	}
	if names, err := b.Active(t.Context()); err != nil || len(names) != 1 || !strings.HasPrefix(names[0], "orch.deploy (") {
		t.Errorf("active: %v, %v", names, err)
	}
	s.fake.end <- 1
	b.Wait()
	if text := next().get(where).Body.String(); !strings.Contains(text, "has failed") {
		t.Errorf("page: %s", text)
	}
	where = b.post("/orchestrations/orch.deploy/run", "confirm", "yes").Header().Get("Location")
	<-s.ran
	s.kill()
	if text := next().get(where).Body.String(); !strings.Contains(text, "did not say how it ended") || strings.Contains(text, "has failed") {
		t.Errorf("page: %s", text)
	}
	w := b.get("/runs/20200101000000000000")
	if status(t, "another id", w, 303); w.Header().Get("Location") != "/jobs/20200101000000000000" {
		t.Errorf("another id leads to %s", w.Header().Get("Location"))
	}
	status(t, "events of another id", b.get("/runs/20200101000000000000/events"), 404)
	status(t, "no id", b.get("/runs/..%2f..%2fetc"), 404)
}

// TestSlowAnswer has a page that is kept up to date for longer than a request may
// take to arrive.
func TestSlowAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Operator)
	where := b.post("/orchestrations/orch.deploy/run", "confirm", "yes").Header().Get("Location")
	<-s.ran
	srv := httptest.NewUnstartedServer(s.h)
	srv.Config.ReadTimeout = time.Second
	srv.Start()
	defer srv.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+where+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "127.0.0.1:8080"
	r.AddCookie(b.cookie)
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	time.Sleep(1200 * time.Millisecond)
	s.fake.end <- 0
	if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "event: end\n") {
		t.Errorf("%v: %s", err, text)
	}
}

// A flushes is a recorder that tells of each flush.
type flushes struct {
	*httptest.ResponseRecorder
	flushed chan struct{}
}

func (f *flushes) Flush() { f.flushed <- struct{}{} }

// TestEventsEndWithSession has somebody log out while a page is kept up to date.
func TestEventsEndWithSession(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Operator)
	where := b.post("/orchestrations/orch.deploy/run", "confirm", "yes").Header().Get("Location")
	<-s.ran
	events := b.request(http.MethodGet, where+"/events", nil)
	w := &flushes{httptest.NewRecorder(), make(chan struct{}, 8)}
	done := make(chan struct{})
	go func() {
		s.h.ServeHTTP(w, events)
		close(done)
	}()
	<-w.flushed
	status(t, "log out", b.post("/logout"), 303)
	s.write(s.only(), "news")
	<-done
	if got := w.Body.String(); !strings.Contains(got, "event: update\n") || strings.Contains(got, "news") {
		t.Errorf("events: %s", got)
	}
}

// TestTwoClicks sends a form twice, and has two people resume the same run.
func TestTwoClicks(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.orchestrated(fakeJID, jobs.Load{Arg: value.Strings("orch.deploy")}, "orch.deploy")
	b := s.browser(Operator)
	form := regexp.MustCompile(`name="once" value="([^"]+)"`)
	once := func() string {
		m := form.FindStringSubmatch(b.get("/orchestrations/orch.deploy").Body.String())
		if m == nil {
			t.Fatal("the form has no name of its own")
		}
		return m[1]
	}
	first := once()
	run := func(once, test string) string {
		return b.post("/orchestrations/orch.deploy/run", "confirm", "yes", "once", once, "test", test).Header().Get("Location")
	}
	where := run(first, "")
	<-s.ran
	if again, other, test := run(first, ""), run(once(), ""), run(first, "yes"); again != where || other == where || test == where {
		t.Errorf("runs %s, again %s, of another form %s, with another button %s", where, again, other, test)
	}
	for range 2 {
		<-s.ran
	}
	for range 3 {
		s.fake.end <- 1
	}
	s.Wait()
	next := b.post(where + "/resume").Header().Get("Location")
	<-s.ran
	if again := s.browser(Editor).post(where + "/resume").Header().Get("Location"); again != next || next == where {
		t.Errorf("resumed %s: %s, again %s", where, next, again)
	}
	if len(s.ran) > 0 {
		t.Error("something ran twice")
	}
}

// TestStopFails has a run go on that cannot be told to stop before its next step.
func TestStopFails(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.deaf = errors.New("the configuration cannot be read")
	b := s.browser(Operator)
	where := b.post("/orchestrations/orch.deploy/run", "confirm", "yes").Header().Get("Location")
	<-s.ran
	w := b.post(where + "/stop")
	status(t, "stop", w, 422)
	if !strings.Contains(w.Body.String(), "the configuration cannot be read") {
		t.Errorf("page: %s", w.Body)
	}
	s.fake.end <- 0
	s.Wait()
	if text := b.get(where).Body.String(); !strings.Contains(text, "has succeeded") {
		t.Errorf("page: %s", text)
	}
}

// TestManyHosts has the page of a step on many hosts stay small.
func TestManyHosts(t *testing.T) {
	t.Parallel()
	r := &run{changed: make(chan struct{})}
	r.change(func() { r.line(`{"event":"step_start","id":"all","fun":"salt.state"}`) })
	r.change(func() { r.line(`{"event":"job_start","step":"all","hosts":1000}`) })
	for i := range 1000 {
		r.change(func() { r.line(fmt.Sprintf(`{"event":"host_phase","step":"all","host":"web%d","phase":"running"}`, i)) })
	}
	r.change(func() { r.line(`{"event":"host_end","step":"all","host":"web999","result":"failed","comment":"no"}`) })
	v, _ := r.view(0, &Scope{})
	if s := v.Steps[0]; len(s.Shown) != shownHosts || s.More != 950 || s.Shown[0].ID != "web999" || s.HostsDone != 1 || s.HostsBad != 1 {
		t.Errorf("step %+v", v.Steps[0])
	}
	var out strings.Builder
	if err := runUpdate(page{}, v).Render(t.Context(), &out); err != nil || out.Len() > 32<<10 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	if v, _ := r.view(v.Rev, &Scope{}); len(v.Steps) != 0 {
		t.Error("steps that did not change are sent again")
	}
}

// TestManyMessages keeps the last of what a run wrote.
func TestManyMessages(t *testing.T) {
	t.Parallel()
	r := &run{changed: make(chan struct{})}
	for i := range maxMessages + 5 {
		r.change(func() { r.line(fmt.Sprintf("line %d", i)) })
	}
	if v, _ := r.view(0, &Scope{}); len(v.Messages) != maxMessages || v.Messages[0] != "line 5" || v.Messages[maxMessages-1] != fmt.Sprintf("line %d", maxMessages+4) {
		t.Errorf("messages %q", v.Messages)
	}
}

// TestLargeReturn has a host return more than a page shows.
func TestLargeReturn(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", shownText+1)
	s := viewState("cmd_|-"+large+"_|-a_|-"+large, value.MapOf("result", true, "name", large, "comment", large, "changes", value.MapOf("diff", large, "more", large)))
	for _, text := range []string{s.ID, s.Fun, s.Name, s.Comment, s.Diff, s.Changes} {
		if len(text) > shownText+200 {
			t.Errorf("%d bytes are shown", len(text))
		}
	}
}

// TestRunGraph: the steps are drawn in the colours of their states, and lead to their
// hosts, each with a bar and the way to its output.
func TestRunGraph(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Operator)
	where := b.post("/orchestrations/orch.deploy/run", "confirm", "yes").Header().Get("Location")
	<-s.ran
	r := s.only()
	low := value.NewList(
		value.MapOf("__id__", "<build>", "state", "salt", "fun", "state", "name", "<build>"),
		value.MapOf("__id__", "deploy", "state", "salt", "fun", "state", "name", "deploy", "require", value.NewList(value.MapOf("salt", "<build>"))),
	)
	if got, fresh := r.definition(time.Now(), func() *value.List { return low }); got != low || !fresh {
		t.Fatal("the definition is not taken")
	}
	for _, line := range []string{
		`{"event":"step_start","id":"<build>","fun":"salt.state"}`,
		`{"event":"job_start","jid":"20260101000000000001","step":"<build>","hosts":3}`,
		`{"time":"2026-11-29T10:00:05Z","event":"host_phase","step":"<build>","host":"web1","phase":"running"}`,
		`{"time":"2026-11-29T10:00:03Z","event":"host_phase","step":"<build>","host":"web2","phase":"waiting for the agent"}`,
		`{"event":"host_end","step":"<build>","host":"web3","result":"failed","comment":"no route","seconds":1.5}`,
	} {
		s.write(r, line)
	}
	text := b.get(where).Body.String()
	for _, want := range []string{
		`<g class="is-running"><title>salt.state: &lt;build&gt;</title>`, "\u25b8 &lt;build&gt;", `<g class="is-waiting">`, `<a href="#step-`,
		`Longest: <a href="` + where + `/output?host=web2">web2</a>, waiting for the agent since 10:00:03`,
		`failed, 1.5 s: no route`, `aria-label="How far web1 is"`, where + `/output?host=web3`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in: %s", want, text)
		}
	}
	if strings.Contains(text, "<style") {
		t.Error("the picture has a style sheet of its own")
	}
	view, _ := r.view(0, &Scope{})
	s.addGraph(t.Context(), r, &view, view.Rev)
	if view.Graph != "" {
		t.Error("the picture is sent again though it is the same")
	}
	s.fake.end <- 1
	s.Wait()
}

// TestResumePlanned goes on with a run that has run a plan, which the further run does not.
func TestResumePlanned(t *testing.T) {
	t.Parallel()
	s, _ := apiSite(t)
	b, secret := s.browser(Editor), s.withToken(Operator, Scope{})
	for what, resume := range map[string]func(id string) *httptest.ResponseRecorder{
		"pages": func(id string) *httptest.ResponseRecorder { return b.post("/runs/"+id+"/resume", "confirm", "yes") },
		"API": func(id string) *httptest.ResponseRecorder {
			return s.ask("POST", apiBase+"/runs/"+id+"/resume", secret, "")
		},
	} {
		before := map[string]bool{}
		ended := func(w *httptest.ResponseRecorder, status int) *run {
			t.Helper()
			<-s.ran
			s.fake.end <- status
			x, err := s.runs.find(t.Context(), lastOf(w.Header().Get("Location")))
			if err != nil {
				t.Fatalf("%s: %v: %s", what, err, w.Body)
			}
			if before[x.ID] {
				t.Fatalf("%s: the run is one of before", what)
			}
			before[x.ID] = true
			<-x.done()
			return x
		}
		planned := s.makePlan(kept.ChainPlans, "friday")
		first := ended(s.ask("POST", apiBase+"/plans/"+planned+"/runs", secret, ""), 1)
		if first.Spec.Plan == "" {
			t.Fatalf("%s: the first run runs no plan: %+v", what, first.Spec)
		}
		next := ended(resume(first.ID), 0)
		if next.Spec.Plan != "" || next.Spec.Resume == "" || next.Spec.Kind != kept.Chains || next.Spec.Name != "friday" {
			t.Errorf("%s: goes on with %+v", what, next.Spec)
		}
	}
}

// lastOf is the last part of a path.
func lastOf(p string) string { return p[strings.LastIndex(p, "/")+1:] }
