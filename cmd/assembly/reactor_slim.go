//go:build slim

package assembly

import "brine/internal/core/fun"

// reactorRunner is empty: it is the controller that reacts to events.
func reactorRunner() fun.Module { return fun.Module{Name: "reactor", Kind: fun.Runner} }
