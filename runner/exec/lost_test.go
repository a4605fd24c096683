package exec_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/exec"
)

// TestPlaceLost shows what stderr says of requisites that name nothing.
func TestPlaceLost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string // a reference
		val        value.Value
		want       string
	}{
		{"other state", "cmd: webserver", nil, "require of a: there is no cmd: webserver in this run | did you mean \"test: webserver\"?"},
		{"slip", "test: webservr", nil, "require of a: there is no test: webservr in this run | did you mean \"test: webserver\"?"},
		{"slip of a bare id", "webservr", nil, "require of a: there is no webservr in this run | did you mean \"webserver\"?"},
		{"sls", "sls: only", nil, "require of a: there is no sls: only in this run | an SLS can be required if it is included and has states of its own"},
		{"slip of an sls", "sls: part", nil, "require of a: there is no sls: part in this run | did you mean \"sls: parts\"?"},
		{"nothing near", "test: zzzzzzzz", nil, "require of a: there is no test: zzzzzzzz in this run"},
		{"no text", "", value.MapOf("test", int64(5)), "require of a: there is no test: 5 in this run | a requisite names an ID or a name, which is text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			var got []string
			r.env.OnFault = func(e *source.Error) {
				line := e.Err.Error()
				if e.Hint != "" {
					line += " | " + e.Hint
				}
				got = append(got, line)
			}
			list := req(tt.text)
			if tt.val != nil {
				list = value.NewList(tt.val)
			}
			r.run(exec.Options{}, chunk("a: test.nop", "require", list), chunk("parts/webserver: test.nop"))
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}

	// A missing include loses many; the first ones tell enough.
	r := newRig(t)
	shown := 0
	r.env.OnFault = func(*source.Error) { shown++ }
	var chunks []*fun.Chunk
	for i := range 50 {
		chunks = append(chunks, chunk(fmt.Sprintf("a%d: test.nop", i), "require", req("test: x", "test: y")))
	}
	r.run(exec.Options{}, chunks...)
	if shown != 20 {
		t.Errorf("%d were shown", shown)
	}
}
