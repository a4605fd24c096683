package pillar_test

import (
	"testing"

	"brine/internal/fleet/pillar"
	"brine/internal/py/value"
)

func TestSlip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		given value.Value
		want  string
	}{
		{value.MapOf("a:1", nil), `pillar: the key "a:1" has no value`},
		{value.MapOf("a:1", int64(1), "b", nil, "c:", nil, ":d", nil), ""},
		{`{"a": 1`, "pillar:1:8: did not find expected ',' or '}' (while parsing a flow mapping from pillar:1)"},
		{"text", "pillar: text is not a mapping"},
		{`{"a": 1}`, ""},
		{nil, ""},
		{int64(1), ""},
	} {
		got := ""
		if err := pillar.Mistake(tt.given); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("Slip(%v) = %q, want %q", tt.given, got, tt.want)
		}
	}
}
