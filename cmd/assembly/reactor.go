//go:build !slim

package assembly

import (
	"brine/internal/core/fun"
	"brine/internal/view/lint"
	reactorrun "brine/runner/fn/reactor"
)

// reactorRunner is the runner module "reactor".
func reactorRunner() fun.Module {
	return reactorrun.Module(OpenQueue, reactorrun.Checks{Reactors: lint.Reactors, Reactions: lint.Reactions})
}
