package python

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Matchers returns what decides targets of the types that the tree has modules for:
// salt://_matchers/TYPE_match.py with a function match(tgt, opts, minion_id). The
// result returns nil for other types. The machine is that of env, with these grains.
//
// Salt: salt/loader/__init__.py matchers, salt/matchers/confirm_top.py.
func Matchers(ctx context.Context, env *fun.Env, grains value.Mapping) func(tgtType string) func(value.Value) (bool, error) {
	return func(tgtType string) func(value.Value) (bool, error) {
		name := tgtType + "_match"
		if !Exists(ctx, env, "matchers", name) {
			return nil
		}
		return func(expr value.Value) (bool, error) {
			m, err := Open(ctx, env, "matchers", name)
			if err != nil {
				return false, err
			}
			if !m.Has("match") {
				return false, fmt.Errorf("salt://%s has no function match", m.src.info.Path)
			}
			kw := value.NewMap(2)
			if m.declares("match", "opts") {
				opts := env.Opts.Copy()
				opts.Set("id", env.ID)
				opts.Set("grains", grains)
				kw.Set("opts", opts)
			}
			if m.declares("match", "minion_id") {
				kw.Set("minion_id", env.ID)
			}
			v, err := m.CallFor(ctx, grains, "match", value.NewList(expr), kw)
			return value.Truth(v), err
		}
	}
}
