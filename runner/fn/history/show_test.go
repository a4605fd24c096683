package historyrun

import (
	"testing"

	"brine/internal/fleet/history"
	"brine/internal/py/value"
)

// TestSameID: no step is left out because another one has its ID.
func TestSameID(t *testing.T) {
	t.Parallel()
	m := value.NewMap(0)
	for _, want := range []string{"a", "a (salt.state)", "a (salt.state 2)", "a (salt.state 3)"} {
		got := unique(m, "a", "salt.state")
		if got != want {
			t.Errorf("unique = %q, want %q", got, want)
		}
		m.Set(got, true)
	}
	then, now := &history.ExecutionStep{ID: "a", Fun: "test.nop", Result: history.OK}, &history.ExecutionStep{ID: "a", Fun: "salt.state", Result: history.Bad}
	d := &history.Diff{Then: &history.Execution{}, Now: &history.Execution{}, Steps: []history.StepDiff{{ID: "a", Then: then}, {ID: "a", Now: now}}}
	if got, want := value.Repr(difference(d).At("steps")), "OrderedDict([('a', {'old': 'ok', 'new': 'not there'}), ('a (salt.state)', {'old': 'not there', 'new': 'failed'})])"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
