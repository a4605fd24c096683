package ssh

import (
	"fmt"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/outputter"
)

// statesOf returns a run of n states, of which some have another comment, and one failed
// where bad.
func statesOf(n, other int, bad bool) *value.Map {
	m := value.NewMap(n)
	for i := range n {
		ok, comment := true, "same"
		if i < other {
			comment, ok = "other", !bad
		}
		m.Set(fmt.Sprintf("test_|-s%d_|-s%d_|-nop", i, i), value.MapOf(
			"result", ok, "comment", comment, "changes", value.NewMap(0), "__run_num__", int64(i), "duration", 1.5, "start_time", fmt.Sprint(i, other),
		))
	}
	return m
}

// TestNearest: which groups are nearly like a larger one. A group on which something
// failed is none that others are compared with: its failures would be left out of them.
func TestNearest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		base, own *value.Map
		baseBad   bool
		ownBad    bool
		differ    int // 0: it is a group of its own
	}{
		{"one of eight", statesOf(8, 0, false), statesOf(8, 1, false), false, false, 1},
		{"a quarter", statesOf(8, 0, false), statesOf(8, 2, false), false, false, 2},
		{"more than a quarter", statesOf(8, 0, false), statesOf(8, 3, false), false, false, 0},
		{"few states", statesOf(3, 0, false), statesOf(3, 1, false), false, false, 0},
		{"other states", statesOf(8, 0, false), statesOf(9, 1, false), false, false, 0},
		{"a failure", statesOf(8, 0, false), statesOf(8, 1, true), false, true, 1},
		{"of failures", statesOf(8, 1, true), statesOf(8, 0, false), true, false, 0},
	} {
		var g grouping
		for i, v := range []*value.Map{tt.base, tt.base, tt.own} {
			ret := fun.Return{ID: fmt.Sprintf("web%d", i), Stage: fun.Returned, Out: "highstate"}
			if i < 2 && tt.baseBad || i == 2 && tt.ownBad {
				ret.Retcode = 2
			}
			g.add(ret, v)
		}
		all := g.sorted()
		if len(all) != 2 {
			t.Fatalf("%s: %d groups", tt.name, len(all))
		}
		near := outputter.Nearest(all)
		got := 0
		for x, n := range near {
			got = n.Differs(x.v).Len()
			if len(x.ids) != 1 || len(n.Base.ids) != 2 {
				t.Errorf("%s: %v is like %v", tt.name, x.ids, n.Base.ids)
			}
		}
		if got != tt.differ {
			t.Errorf("%s: %d states differ, want %d", tt.name, got, tt.differ)
		}
	}
}
