package ui

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/approval"
	"brine/internal/fleet/kept"
)

// waitsAs has a run of the chain friday wait for an approval.
func waitsAs(s *site, user string, by ...string) *approval.Wait {
	s.t.Helper()
	x, _, err := s.runs.start(s.t.Context(), runSpec{Spec: kept.Spec{Kind: kept.Chains, Name: "friday"}}, user)
	if err != nil {
		s.t.Fatal(err)
	}
	<-s.ran
	w, err := approval.New(filepath.Join(s.dir, "cache"), time.Now).Ask(approval.Question{
		JID: x.ID, Kind: "chain", Name: "friday", Point: "step2", Step: "step 2: " + hostile, User: user, What: []string{hostile}, By: by, Definition: "d1",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestApprovalsHostile: somebody else approves a run, once, and neither who started it nor who is
// not named.
func TestApprovalsHostile(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	w := waitsAs(s, "operator", "editor")
	id := s.only().ID
	path := "/approvals/" + id + "-step2"
	op, ed, viewer := s.browser(Operator), s.browser(Editor), s.browser(Viewer)
	for _, page := range []string{"/approvals", "/runs/" + id} {
		for _, b := range []*browser{op, ed, viewer} {
			body := b.get(page).Body.String()
			if strings.Contains(body, hostile) || !strings.Contains(body, "for one of editor, other than operator") {
				t.Errorf("%s: %s", page, body)
			}
			if has := strings.Contains(body, path+"/approve"); has != (b == ed) {
				t.Errorf("%s: the form is there: %v", page, has)
			}
		}
	}
	if body := ed.get("/runs/" + id).Body.String(); !strings.Contains(body, "waits for an approval") || strings.Contains(body, "is under way") {
		t.Errorf("the page of the run: %s", body)
	}
	for what, got := range map[string]int{
		"who started it":     op.post(path + "/approve").Code,
		"a viewer":           viewer.post(path + "/approve").Code,
		"the API, not named": s.ask(http.MethodPost, apiBase+path+"/approve", s.withToken(Editor, Scope{}), "").Code,
	} {
		if got != http.StatusForbidden {
			t.Errorf("%s: status %d", what, got)
		}
	}
	if got := ed.post(path+"/approve", "definition", "d0").Code; got != http.StatusUnprocessableEntity {
		t.Errorf("of another definition: status %d", got)
	}
	if a, err := w.Answer(); a != nil || err != nil {
		t.Fatalf("answer = %v, %v", a, err)
	}
	if got := ed.post(path+"/approve", "definition", "d1", "comment", hostile, "run", id); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/runs/"+id {
		t.Errorf("status %d", got.Code)
	}
	if a, err := w.Answer(); err != nil || a == nil || !a.Approved || a.User != "editor" || a.Comment != hostile {
		t.Errorf("answer = %+v, %v", a, err)
	}
	if said := s.said("approval.approve"); !strings.Contains(said, "chain friday") || !strings.Contains(said, "started by operator") {
		t.Errorf("record: %s", said)
	}
	if got := ed.post(path + "/refuse").Code; got != http.StatusUnprocessableEntity {
		t.Errorf("a second answer: status %d", got)
	}
	if a, _ := w.Answer(); !a.Approved {
		t.Error("the second answer counts")
	}
	if body := ed.get("/approvals").Body.String(); strings.Contains(body, hostile) || !strings.Contains(body, "approved by editor") {
		t.Errorf("afterwards: %s", body)
	}
}

// TestApprovalsAPI: a run that waits counts neither as running nor as failed, and a token
// answers that the definition names.
func TestApprovalsAPI(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	w := waitsAs(s, "operator", "token:ci")
	id := s.only().ID
	token := s.withToken(Operator, Scope{})
	var run Run
	got := s.ask(http.MethodGet, apiBase+"/runs/"+id, token, "")
	if err := json.Unmarshal(got.Body.Bytes(), &run); err != nil || run.State != "waiting" {
		t.Errorf("state %q, %v: %s", run.State, err, got.Body)
	}
	if body := s.ask(http.MethodGet, "/metrics", token, "").Body.String(); !strings.Contains(body, `brine_ui_runs{state="waiting"} 1`) || !strings.Contains(body, `brine_ui_runs{state="running"} 0`) {
		t.Errorf("metrics: %s", body)
	}
	if body := s.ask(http.MethodGet, apiBase+"/runs?state=waiting", token, "").Body.String(); !strings.Contains(body, id) {
		t.Errorf("runs that wait: %s", body)
	}
	if got := s.ask(http.MethodPost, apiBase+"/approvals/"+id+"-step2/refuse", token, `{"comment": "no", "definition": "d1"}`); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"state":"refused"`) {
		t.Errorf("status %d: %s", got.Code, got.Body)
	}
	if a, err := w.Answer(); err != nil || a == nil || a.Approved || a.User != "token:ci" {
		t.Errorf("answer = %+v, %v", a, err)
	}
	if got := s.ask(http.MethodPost, apiBase+"/approvals/"+id+"-step2/approve", token, ""); got.Code != http.StatusConflict {
		t.Errorf("a second answer: status %d", got.Code)
	}
	s.fake.end <- exitRefused
	x := s.only()
	<-x.done()
	if v, _ := x.view(0, &Scope{}); v.state() != "refused" {
		t.Errorf("state %q", v.state())
	}
}
