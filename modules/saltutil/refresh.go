package saltutil

import (
	"context"
	"time"

	"brine/internal/core/fun"
)

// The refresh functions are what trees call so that a minion forgets what it keeps
// between jobs.

type refreshPillarArgs struct {
	_ fun.Arguments
	_ bool          `arg:"wait" default:"False" doc:"accepted; there is nothing to wait for"`
	_ time.Duration `arg:"timeout" default:"30" unit:"s" doc:"accepted"`
	_ bool          `arg:"clean_cache" default:"True" doc:"accepted"`
}

func refreshPillar(context.Context, *fun.Call, *refreshPillarArgs) (fun.Result, error) {
	return fun.Value(true)
}

type refreshGrainsArgs struct {
	_ bool `arg:"refresh_pillar" default:"True" doc:"accepted; every job renders the pillar"`
	_ fun.Kwargs
}

func refreshGrains(context.Context, *fun.Call, *refreshGrainsArgs) (fun.Result, error) {
	return fun.Value(true)
}

type refreshModulesArgs struct {
	_ bool `arg:"async" default:"True" doc:"accepted; there is nothing to wait for"`
	_ fun.Kwargs
}

func refreshModules(context.Context, *fun.Call, *refreshModulesArgs) (fun.Result, error) {
	return fun.Value(true)
}
