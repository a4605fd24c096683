//go:build slim

package pillar

import (
	"context"

	"brine/internal/py/value"
)

// extMore returns no external pillar: an agent renders no pillar.
func extMore(string) extFunc { return nil }

// extMoreNames are the external pillars of extMore.
func extMoreNames() []string { return nil }

// topMore returns no module of master_tops.
func topMore(string) func(*job, context.Context, value.Value) (*value.Map, error) { return nil }

// topMoreNames are the modules of topMore.
func topMoreNames() []string { return nil }
