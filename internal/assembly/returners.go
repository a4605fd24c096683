package assembly

import (
	"context"
	"fmt"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/returner"
	"brine/internal/source"
	jobsrun "brine/runner/fn/jobs"
)

// Returners returns the returners of this build, alphabetically.
func Returners() []returner.Spec {
	return []returner.Spec{}
}

// OpenReturner connects to a returner by name. The error of a name that is not
// there has the nearest one.
func OpenReturner(ctx context.Context, env *fun.Env, name string, s returner.Settings) (jobs.Returner, error) {
	specs := Returners()
	spec, ok := returner.Find(specs, name)
	if !ok {
		names := returner.Names(specs)
		return nil, fmt.Errorf("there is no returner %q%s", name, source.DidYouMean(name, names))
	}
	s.Spec, s.Env, s.Log = spec, env, env.Log
	r, err := spec.New(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("returner %s: %w", name, err)
	}
	return r, nil
}

// openStore opens a returner to read from.
func openStore(ctx context.Context, env *fun.Env, name string) (jobs.Store, func(), error) {
	r, err := OpenReturner(ctx, env, name, returner.Settings{})
	if err != nil {
		return nil, nil, err
	}
	s, ok := r.(jobs.Store)
	if !ok {
		_ = r.Close()
		return nil, nil, fmt.Errorf("returner %s cannot be read from", name)
	}
	return s, func() { _ = r.Close() }, nil
}

func jobsRunner() fun.Module { return jobsrun.Runners(openStore) }
