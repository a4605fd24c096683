package plan

import (
	"slices"
	"testing"

	known "brine/internal/core/config/options"
)

// TestSealed has only options that brine respects among those that a plan is sealed
// with, each once, and those that change what every run does.
func TestSealed(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(sealed[:]) || len(slices.Compact(slices.Clone(sealed[:]))) != len(sealed) {
		t.Error("the options are not sorted, or one is there twice")
	}
	for _, name := range sealed {
		if o, ok := known.Find(name); !ok || o.Verdict != known.Honoured && o.Verdict != known.Otherwise {
			t.Errorf("%s is %q in the table of options", name, o.Verdict)
		}
	}
	for _, name := range []string{"failhard", "state_aggregate", "test", "renderer", "pillar_source_merging_strategy", "nodegroups", "ext_pillar"} {
		if !slices.Contains(sealed[:], name) {
			t.Errorf("%s is not sealed", name)
		}
	}
}
