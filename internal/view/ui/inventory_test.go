package ui

import (
	"strings"
	"testing"
)

// TestHostsToChain: an editor adds a step on the hosts that match to a chain; others see no
// form, and whether hosts agree with their states is in the list.
func TestHostsToChain(t *testing.T) {
	t.Parallel()
	s, _ := sampleSite(t)
	for _, role := range []Role{Viewer, Operator, Editor} {
		body := s.browser(role).get("/hosts?expr=G@os:x").Body.String()
		if has := strings.Contains(body, `action="/chains/friday/step"`) && strings.Contains(body, `name="targets" value="G@os:x"`); has != (role == Editor) {
			t.Errorf("%s: the form is there: %v", role, has)
		}
		if !strings.Contains(body, "not looked at") || strings.Contains(body, hostile) {
			t.Errorf("%s: %s", role, body)
		}
	}
	if body := s.browser(Editor).get("/chains/friday/step?action=cmd&targets=G@os:x").Body.String(); !strings.Contains(body, "os:x") {
		t.Errorf("the form of the step: %s", body)
	}
}
