package target_test

import (
	"testing"

	"brine/internal/core/target"
	"brine/internal/py/value"
)

// TestWhole has patterns of pillar in each place that a target has for them.
func TestWhole(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		expr value.Value
		typ  string
		ok   bool
	}{
		{"db:password:secret", "pillar", true},
		{"db:password:s*", "pillar", false},
		{"db:password:?ecret", "pillar", false},
		{"db:password:[a-m]*", "pillar", false},
		{"*:secret", "pillar", false},
		{"db:password:s.*", "pillar_pcre", false},
		{"db:password:secret", "pillar_pcre", false},
		{"web* and I@db:password:secret", "compound", true},
		{"web* and I@db:password:s*", "compound", false},
		{"not ( I|@db|password|s* )", "compound", false},
		{"web* or J@db:password:secret", "compound", false},
		{"J^@db^password^s", "compound", false},
		{value.Strings("web*", "or", "I@a:b*"), "compound", false},
		{"web* and G@os:Deb* and N@web and P@os:.*", "compound", true},
		{"web*", "glob", true},
		{"os:Deb*", "grain", true},
		{"group", "nodegroup", true},
	} {
		if err := target.CheckExactPillar(tt.expr, tt.typ); (err == nil) != tt.ok {
			t.Errorf("%s %s: %v", tt.typ, value.Str(tt.expr), err)
		}
	}
}
