package gem_test

import (
	"testing"

	"brine/modules/gem"
)

func TestFulfills(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version, condition string
		want               bool
	}{
		{"1.0", "1.0.0", true},
		{"1.0.pre1", "1.0", false},
		{"1.0.pre1", "< 1.0", true},
		{"1.10", "> 1.9", true},
		{"1.10", ">= 1.9, < 1.10", false},
		{"2.6.1", "~> 2.6", true},
		{"3.0", "~> 2.6", false},
		{"2.7", "~> 2.6.0", false},
		{"2.5", "~> 2.6", false},
		{"2.6", "!= 2.6", false},
		{"2.6", "=2.6", true},
		{"2.6", "<= 2.6", true},
		{"2.6", "?", false},
		{"2.6", "", false},
	} {
		if got := gem.Fulfills(tt.version, tt.condition); got != tt.want {
			t.Errorf("Fulfills(%q, %q) = %v", tt.version, tt.condition, got)
		}
	}
}

func FuzzFulfills(f *testing.F) {
	f.Add("1.0.pre1", "~> 1.0, < 2")
	f.Fuzz(func(t *testing.T, v, c string) {
		_ = gem.Fulfills(v, c)
		if gem.Compare(v, c) != -gem.Compare(c, v) {
			t.Errorf("the order of %q and %q", v, c)
		}
	})
}
