package environ_test

import (
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/environ"
)

// A name or value that is no text cannot be set.
//
// Salt: salt/modules/environ.py setval, setenv.
func TestSet(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	for _, tt := range []struct {
		name, v value.Value
		unset   bool
		want    value.Value
	}{
		{"A", "b", false, "b"},
		{"A", false, false, ""},
		{"A", false, true, nil},
		{"A", int64(5), false, false},
		{int64(5), "a", false, false},
		{int64(5), false, true, false},
	} {
		if got := environ.Set(h, tt.name, tt.v, tt.unset); got != tt.want {
			t.Errorf("Set(%v, %v, %v) = %v, want %v", tt.name, tt.v, tt.unset, got, tt.want)
		}
	}
	set, ok := environ.SetAll(h, value.MapOf("A", "b", int64(5), "c"), false, false)
	if want := "{'A': 'b', 5: False}"; !ok || value.Repr(set) != want {
		t.Errorf("SetAll = %s, %v, want %s", value.Repr(set), ok, want)
	}
}
