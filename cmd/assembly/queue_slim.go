//go:build slim

package assembly

import "brine/internal/core/fun"

// queueRunner is empty: it is the controller that has queues.
func queueRunner() fun.Module { return fun.Module{Name: "queue", Kind: fun.Runner} }
