//go:build slim

package assembly

import "brine/internal/core/fun"

// historyRunner is empty: it is the controller that keeps the history.
func historyRunner() fun.Module { return fun.Module{Name: "history", Kind: fun.Runner} }

// lockRunner is empty: it is controllers that have locks.
func lockRunner() fun.Module { return fun.Module{Name: "lock", Kind: fun.Runner} }
