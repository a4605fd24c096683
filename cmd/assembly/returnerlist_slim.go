//go:build slim

package assembly

import (
	"sort"

	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/plain"
)

// Returners returns the returners of an agent, alphabetically: it is the
// controller that hands returns to databases.
func Returners() []returner.Spec {
	specs := plain.Specs()
	sort.Slice(specs, func(i, j int) bool { return specs[i].Name < specs[j].Name })
	return specs
}
