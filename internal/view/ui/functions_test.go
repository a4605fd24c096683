package ui

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

// TestFunctionsHostile: a function gets its arguments as they were sent, in a file and not on
// the command line. Names that are not of a function, targets that match nothing, and what the
// controller would evaluate are refused.
func TestFunctionsHostile(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	secret := s.withToken(Editor, Scope{})
	const body = `{"function": "cmd.run", "target": "web*", "arguments": ["echo $HOME", "a=b", 1.5, "5", null, [true, {"z": 1, "a": 2}]], "keywords": {"cwd": "--answers=x", "shell": "/bin/sh"}}`
	w := s.ask(http.MethodPost, apiBase+"/functions", secret, body)
	status(t, "a function", w, http.StatusCreated)
	checkSchema(t, "RunDetail", w.Body.Bytes())
	ran := <-s.ran
	if !slices.Equal(ran.Args[:4], []string{"ssh", "--list", "web1," + hostile, "cmd.run"}) || slices.ContainsFunc(ran.Args, func(x string) bool { return strings.Contains(x, "HOME") }) || ran.User != "token:ci" {
		t.Errorf("it is run as %q for %s", ran.Args, ran.User)
	}
	if got, want := string(value.EncodeJSON(ran.Answers)), `{"arg":["echo $HOME","a=b",1.5,"5",null,[true,{"z":1,"a":2}]],"kwarg":{"cwd":"--answers=x","shell":"/bin/sh"}}`; got != want {
		t.Errorf("its arguments are %s, want %s", got, want)
	}
	if said := s.said("function"); !strings.Contains(said, "cmd.run\ntargets web*") || strings.Contains(said, "HOME") {
		t.Errorf("the record says %q", said)
	}
	// The same again is another run: whoever wants one sends a key.
	status(t, "the same again", s.ask(http.MethodPost, apiBase+"/functions", secret, body), http.StatusCreated)
	<-s.ran
	if n := s.active(); n != 2 {
		t.Errorf("%d runs are under way", n)
	}
	for _, tt := range []struct{ body, kind, text string }{
		{`{"function": "cmd.run"}`, badBody, "These fields are missing: target."},
		{`{"function": "--raw", "target": "web1"}`, badAnswers, "is not the name of an execution function"},
		{`{"function": "test.ping,cmd.run", "target": "web1"}`, badAnswers, "is not the name of an execution function"},
		{`{"function": "test.ping", "target": "none"}`, badAnswers, "nothing matches none"},
		{`{"function": "test.ping", "target": "odd"}`, badAnswers, "cannot be asked from here, because of its name"},
		{`{"function": "test.ping", "target": "web1", "arguments": "x"}`, badBody, "arguments must be of type array"},
		{`{"function": "test.ping", "target": "web1", "keywords": []}`, badBody, "keywords must be a JSON object."},
		{`{"function": "test.ping", "target": "web1", "arguments": [["__slot__:salt:cmd.run(id)"]]}`, badAnswers, "would be called as a function on the controller"},
		{`{"function": "test.ping", "target": "web1", "keywords": {"x": {"y": " sdb://kv/password"}}}`, badAnswers, "names a secret of the controller"},
		{`{"function": "test.ping", "target": "web1", "argument": []}`, badBody, `did you mean \"arguments\"?`},
	} {
		w := s.ask(http.MethodPost, apiBase+"/functions", secret, tt.body)
		if kind := problemIn(t, tt.body, w); kind != tt.kind || !strings.Contains(w.Body.String(), tt.text) {
			t.Errorf("%s: %s: %s", tt.body, kind, w.Body)
		}
	}
	if len(s.ran) != 0 {
		t.Error("what was refused has run")
	}
	if x := (runSpec{Spec: kept.Spec{Kind: kept.Functions, Name: "cmd.run on web*", Hosts: []string{"web1"}}}); !slices.Contains(x.args(), "cmd.run") {
		t.Errorf("its command is %q", x.args())
	}
}
