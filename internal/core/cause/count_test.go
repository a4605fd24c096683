package cause_test

import (
	"math"
	"testing"
	"time"

	"brine/internal/core/cause"
	"brine/internal/py/value"
)

// TestCountOf: each state is counted once, and what would change is neither good nor changed.
func TestCountOf(t *testing.T) {
	state := func(result value.Value, more ...value.Value) *value.Map {
		m := value.MapOf(append([]value.Value{"result", result, "changes", value.NewMap(0), "comment", ""}, more...)...)
		return m
	}
	diff := value.MapOf("diff", "x")
	for _, x := range []struct {
		name string
		in   *value.Map
		want cause.Count
	}{
		{"same", state(true, "duration", 1500.0), cause.Count{Same: 1, Took: 1500 * time.Millisecond}},
		{"changed", state(true, "changes", diff), cause.Count{Changed: 1, Touched: 1}},
		{"due", state(nil, "changes", diff), cause.Count{Due: 1}},
		{"due without changes", state(nil), cause.Count{Due: 1}},
		{"failed", state(false), cause.Count{Failed: 1}},
		{"failed after it changed something", state(false, "changes", diff), cause.Count{Failed: 1, Touched: 1}},
		{"not run", state(false, "comment", "One or more requisite failed: web.a"), cause.Count{NotRun: 1}},
		{"a time that is none", state(true, "duration", math.NaN()), cause.Count{Same: 1}},
		{"a time that nobody has", state(true, "duration", 1e300), cause.Count{Same: 1, Took: 1000 * time.Hour}},
	} {
		got, ok := cause.CountOf(value.MapOf("test_|-a_|-a_|-nop", x.in))
		if got != x.want || !ok {
			t.Errorf("%s: %+v, %v; want %+v", x.name, got, ok, x.want)
		}
	}
	for name, v := range map[string]value.Value{
		"nothing": nil, "text": "x", "empty": value.NewMap(0), "no tag": value.MapOf("web1", state(true)),
		"no result": value.MapOf("a_|-b_|-c_|-d", value.NewMap(0)), "a nil map": (*value.Map)(nil),
	} {
		if n, ok := cause.CountOf(v); ok || n != (cause.Count{}) {
			t.Errorf("%s: %+v", name, n)
		}
	}
	var sum cause.Count
	for range 3 {
		sum.Add(cause.Count{Due: 1, Touched: 2, Took: 999 * time.Hour})
	}
	if sum != (cause.Count{Due: 3, Touched: 6, Took: 1000 * time.Hour}) {
		t.Errorf("the sum is %+v", sum)
	}
}
