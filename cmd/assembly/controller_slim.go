//go:build slim

package assembly

import "brine/internal/core/fun"

// manageRunner is empty: it is the controller that asks targets.
func manageRunner() fun.Module { return fun.Module{Name: "manage", Kind: fun.Runner} }
