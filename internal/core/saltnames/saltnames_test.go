package saltnames

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind, name string
		want       bool
	}{
		{"state", "pip.installed", true},
		{"state", "pip.instaled", false},
		{"execution", "mine.get", true},
		{"execution", "pkg.version_cmp", true},
		{"state", "mine.get", false},
		{"runner", "state.orchestrate", true},
		{"wheel", "key.list_all", true},
		{"state", "pip", false},
		{"", "", false},
	} {
		if got := Has(tt.kind, tt.name); got != tt.want {
			t.Errorf("Has(%q, %q) = %v", tt.kind, tt.name, got)
		}
	}
	if n := len(modules()); n < 800 {
		t.Errorf("%d modules are known", n)
	}
	if f := Functions("state", "service"); !slices.IsSorted(f) || !slices.Contains(f, "running") {
		t.Errorf("state service has %v", f)
	}
}
