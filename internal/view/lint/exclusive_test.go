package lint_test

import (
	"slices"
	"testing"

	"brine/cmd/assembly"
	"brine/internal/core/fun"
)

// TestExclusive: arguments that rows declare as exclusive are arguments of the function.
func TestExclusive(t *testing.T) {
	t.Parallel()
	table, n := assembly.Table(), 0
	for _, name := range table.Modules(fun.State) {
		for _, mod := range table.Providers(fun.State, name) {
			for _, spec := range mod.Specs {
				for _, group := range spec.Exclusive {
					n++
					for _, arg := range group {
						if !slices.Contains(spec.ArgNames(), arg) {
							t.Errorf("%s.%s has no argument %s", name, spec.Name, arg)
						}
					}
				}
			}
		}
	}
	if n == 0 {
		t.Error("no row declares exclusive arguments")
	}
}
