package jobs

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/py/value"
)

func TestSecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	low := value.MapOf("state", "salt", "kwarg", value.MapOf("password", "x"), "pillar", value.MapOf("p", "q"))
	if got := withoutSecrets(low); got.Map("kwarg").Str("password") != redact.Hidden || len(got.Str("pillar")) != 71 || low.Map("kwarg").Str("password") != "x" {
		t.Errorf("withoutSecrets = %s", value.Repr(got))
	}
}

// TestPassed: on which targets of a step a run succeeded, also where it was resumed.
func TestPassed(t *testing.T) {
	t.Parallel()
	then := &Job{JID: "1", Definition: value.MapOf("low", value.NewList())}
	for _, ids := range [][]string{{"a", "b"}, {"c"}} {
		then.add(value.MapOf("note", "passed", "data", value.MapOf("tag", "stopped", "ids", value.Strings(ids...))))
		then.add(value.MapOf("note", "passed", "data", value.MapOf("tag", "done", "ids", value.Strings(ids...))))
	}
	then.add(value.MapOf("note", "passed"))
	then.add(value.MapOf("note", "step", "data", value.MapOf("tag", "first", "return", value.MapOf("result", false))))
	then.add(value.MapOf("note", "step", "data", value.MapOf("tag", "done", "return", value.MapOf("result", true))))
	kept := &notes{}
	h := &History{Record: kept, Resume: then}
	if _, err := h.Begin(t.Context(), &fun.Env{Machine: fun.Machine{Host: host.NewLocal()}}, nil); err != nil {
		t.Fatal(err)
	}
	h.Pass("stopped", "d")
	if got := strings.Join(h.Passed("stopped"), " "); got != "a b c" {
		t.Errorf("passed %s", got)
	}
	if got := h.Passed("done"); got != nil { // it runs again because of the first
		t.Errorf("passed %v", got)
	}
	if got := strings.Join(*kept, "; "); got != "{'tag': 'stopped', 'ids': ['a', 'b', 'c']}; {'tag': 'stopped', 'ids': ['d']}" {
		t.Errorf("notes %s", got)
	}
}

// notes are those of the kind "passed" that a record was told.
type notes []string

func (*notes) Return(fun.Return) error { return nil }
func (*notes) End() error              { return nil }
func (*notes) Leave() error            { return nil }

func (n *notes) Note(kind string, data *value.Map) error {
	if kind == passedNote && data.Str("tag") != "" {
		*n = append(*n, value.Repr(data))
	}
	return nil
}
