//go:build !slim

package assembly

import (
	"context"

	"brine/internal/fun"
	"brine/internal/tops"
	"brine/internal/value"
)

// masterTops returns what runs the interfaces of master_tops for env; nil where it
// has none.
func masterTops(env *fun.Env) func(context.Context) (*value.Map, error) {
	if env.Opts.Map("master_tops").Len() == 0 {
		return nil
	}
	return func(ctx context.Context) (*value.Map, error) { return tops.Of(ctx, env) }
}
