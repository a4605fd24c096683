//go:build !slim

package assembly

import (
	"brine/internal/core/fun"
	"brine/runner/fn/manage"
)

// manageRunner is the runner module "manage".
func manageRunner() fun.Module { return manage.Runners() }
