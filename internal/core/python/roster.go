package python

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Roster returns what the module salt://_roster/NAME.py says of all targets: its function
// targets is asked for "*". The error is fs.ErrNotExist where the tree has no such module.
//
// Salt: salt/roster/__init__.py Roster.targets.
func Roster(ctx context.Context, env *fun.Env, name string) (value.Value, error) {
	m, err := Open(ctx, env, "roster", name)
	if err != nil {
		return nil, err
	}
	if !m.Has("targets") {
		return nil, fmt.Errorf("salt://%s has no function targets", m.src.info.Path)
	}
	v, err := m.CallFor(ctx, nil, "targets", value.NewList("*"), value.MapOf("tgt_type", "glob"))
	if err != nil {
		return nil, fmt.Errorf("salt://%s: %w", m.src.info.Path, err)
	}
	return v, nil
}
