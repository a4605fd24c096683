package ui

import (
	"net/http"
	"strings"
	"testing"

	"brine/internal/py/value"
)

// TestFormulaStep makes and changes a step of a formula by the fields of its form.
func TestFormulaStep(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	status(t, "new", b.post("/chains", "name", "friday"), 303)
	version := func() string { return versionIn(b.get("/chains/friday").Body.String()) }
	send := func(want int, kv ...string) string {
		t.Helper()
		w := b.post("/chains/friday/step", append([]string{"version", version(), "action", "formula", "targets", "web*"}, kv...)...)
		if w.Code != want {
			t.Fatalf("%v: %d, want %d: %s", kv, w.Code, want, w.Body)
		}
		return w.Body.String()
	}
	shows := func(what, text string, all ...string) {
		t.Helper()
		for _, x := range all {
			text, no := text, strings.HasPrefix(x, "!")
			if strings.Contains(text, strings.TrimPrefix(x, "!")) == no {
				t.Errorf("%s: %q in %s", what, x, text)
			}
		}
	}
	steps := func() int {
		st, err := s.Chains(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := st.Read("friday")
		if err != nil {
			t.Fatal(err)
		}
		return len(c.Steps)
	}
	pillar := func() string {
		st, _ := s.Chains(t.Context())
		c, _, err := st.Read("friday")
		if err != nil || len(c.Steps) == 0 {
			t.Fatalf("%v: %v", err, c)
		}
		return value.Repr(c.Steps[0].Pillar)
	}
	// The first page asks for the SLS, the next one for what that takes.
	shows("first", b.get("/chains/friday/step?action=formula").Body.String(), `name="sls"`, `value="form">Continue`, `!name="pillar"`, "!>Save</button>\n\t</form>")
	shows("from a link", b.get("/chains/friday/step?action=formula&sls=app").Body.String(), `name="v:app:port"`, `value="80"`, "Where it listens", `name="form" value="app"`, "data-wizard", `!name="pillar"`)
	shows("form", send(200, "sls", "app", "op", "form"), `name="v:app:port"`, `!name="pillar"`, "!This needs a value")
	shows("no form", send(200, "sls", "web", "op", "form"), `name="pillar"`, `name="form" value="web"`, "!data-wizard")
	shows("a broken form", send(200, "sls", "broken", "op", "form"), `name="pillar"`, "The form of this formula cannot be read", "!<script>")
	// Fields of another SLS are not taken for those of this one, and nothing is saved by buttons.
	shows("another SLS", send(200, "sls", "app", "form", "web", "v:app:port", "81"), `value="80"`)
	shows("an item", send(200, "sls", "app", "form", "app", "op", "add app:users", "n:app:users", "0", "v:app:port", "82"), `name="n:app:users" value="1"`, `value="82"`, "!This needs a value")
	if n := steps(); n != 0 {
		t.Fatalf("%d steps were saved", n)
	}
	// What is missing or wrong is beside its field.
	shows("missing", send(422, "sls", "app", "form", "app", "v:app:port", "many", "v:app:name", ""), "The values are not all right: see below.", `id="p-app:name"`, "This needs a value.", `id="p-app:port"`)
	send(303, "sls", "app", "form", "app", "v:app:port", "81", "v:app:name", "x", "v:app:token", "hunter2-hidden", "n:app:users", "1", "v:app:users:0:user", "ann")
	if got := pillar(); got != "{'app': {'port': 81, 'name': 'x', 'token': 'hunter2-hidden', 'users': [{'user': 'ann'}]}}" {
		t.Errorf("the pillar is %s", got)
	}
	// The page of the step has its values, without the secret, which stays if it is left empty.
	shows("again", b.get("/chains/friday/step?step=1").Body.String(), `value="81"`, `value="ann"`, "!hunter2")
	send(303, "step", "1", "sls", "app", "form", "app", "v:app:port", "82", "v:app:name", "x", "v:app:token", "", "n:app:users", "0")
	if got := pillar(); !strings.Contains(got, "'port': 82") || !strings.Contains(got, "'token': 'hunter2-hidden'") || strings.Contains(got, "ann") {
		t.Errorf("the pillar is %s", got)
	}
	// What the form does not have is not lost.
	for pillar, path := range map[string]string{"app: {port: 83}\nother: 1\n": "other", "app: {port: 83, deep: 1}\n": "app:deep", "app: {port: 83, name: [1]}\n": "app:name"} {
		send(303, "step", "1", "sls", "app", "form", "app", "pillar", pillar)
		shows("other keys", b.get("/chains/friday/step?step=1").Body.String(), "does not take them: "+path, `name="pillar"`, "port: 83")
	}
	// A formula without a form has its pillar as YAML, or none.
	send(303, "sls", "web", "form", "web")
	if n := steps(); n != 2 {
		t.Errorf("%d steps", n)
	}
	saved := 0
	for _, a := range s.actions {
		if a.Name == "chain.step" {
			saved++
		}
	}
	if saved != 7 { // the one with faults as well
		t.Errorf("%d actions are called chain.step: %v", saved, s.actions)
	}
	status(t, "an operator", s.browser(Operator).post("/chains/friday/step", "action", "formula", "sls", "app", "op", "form"), http.StatusForbidden)
}
