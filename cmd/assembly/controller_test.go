//go:build !slim

package assembly

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/saltnames"
)

// TestAbsentRunners: each runner function of Salt is there, or its error says why not.
func TestAbsentRunners(t *testing.T) {
	t.Parallel()
	table := Table()
	for _, mod := range saltnames.ModulesOf(fun.Runner.Short()) {
		for _, fn := range saltnames.Functions(fun.Runner.Short(), mod) {
			name := mod + "." + fn
			there, why := table.Spec(fun.Runner, name) != nil, table.WhyAbsent(fun.Runner, name)
			if there == (why != "") && mod != "queue" {
				t.Errorf("%s: there %v, reason %q", name, there, why)
			}
		}
	}
}
