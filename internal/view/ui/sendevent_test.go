package ui

import (
	"net/http"
	"testing"
)

// TestSendEvent: a token sends events below its prefixes alone, and under its own name.
func TestSendEvent(t *testing.T) {
	t.Parallel()
	s, _ := apiSite(t)
	limited := s.withToken(Operator, Scope{Events: []string{"deploy/web1/", "ci"}})
	for body, want := range map[string]string{
		`{"tag": "deploy/web1/done", "data": {"id": "web2"}}`: "",
		`{"tag": "ci"}`:                  "",
		`{"tag": "deploy/web1"}`:         "",
		`{"tag": "deploy/web10"}`:        outOfScope,
		`{"tag": "deploy"}`:              outOfScope,
		`{"tag": "cim/x"}`:               outOfScope,
		`{"tag": "salt/job/1/ret/web1"}`: outOfScope,
		`{"tag": ""}`:                    badBody,
		`{"tag": "ci/a\nb"}`:             badBody,
		`{"tag": "ci/x", "id": "web2"}`:  badBody,
		`{"tag": "ci/x", "data": ["a"]}`: badBody,
	} {
		w := s.ask(http.MethodPost, apiBase+"/events", limited, body)
		if want == "" {
			status(t, body, w, http.StatusOK)
			continue
		}
		if kind := problemIn(t, body, w); kind != want {
			t.Errorf("%s: %s, want %s", body, kind, want)
		}
	}
	if kind := problemIn(t, "without a prefix", s.ask(http.MethodPost, apiBase+"/events", s.withToken(Editor, Scope{}), `{"tag": "ci"}`)); kind != outOfScope {
		t.Errorf("a token without a prefix: %s", kind)
	}
	heard := s.withToken(Operator, Scope{Events: []string{"deploy"}})
	if kind := problemIn(t, "unheard", s.ask(http.MethodPost, apiBase+"/events", heard, `{"tag": "deploy/unheard"}`)); kind != unavailable {
		t.Errorf("an event that nothing hears: %s", kind)
	}
}
