package assembly

import (
	"brine/internal/core/python"
	"brine/internal/fleet/pillar"
)

// OffersPython reports whether the Python modules of a tree can import a module
// of Salt, such as "salt.utils.files".
func OffersPython(module string) bool { return python.Offers(module) }

// ExtPillars returns the names of the external pillars that there are.
func ExtPillars() []string { return pillar.ExtNames() }
