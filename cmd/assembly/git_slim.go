//go:build slim

package assembly

import (
	"context"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Git is empty: an agent has its files from the controller.
type Git struct{}

// NewGit returns nothing to serve.
func NewGit(EnvOptions) *Git { return nil }

// Backends returns the roots.
func (*Git) Backends(_ *value.Map, roots *fileserver.Roots) []fileserver.Backend {
	return []fileserver.Backend{roots.Backend()}
}

// Sources returns nil.
func (*Git) Sources(context.Context, *value.Map) (*value.List, error) { return nil, nil }

func (*Git) pillarTrees(context.Context, string, *value.Map, *value.List) ([]fun.PillarTree, error) {
	return nil, fun.Errorf("git_pillar is rendered by the controller")
}
