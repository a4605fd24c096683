package orchestrate

import (
	"context"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/fun"
)

// runQueued runs an orchestration of a queue for a worker.
func runQueued(ctx context.Context, a *app.App, c *cobra.Command, o *runner.Options) error {
	return runner.Queued(ctx, a, c, o, runner.Queue{Function: session.OrchestrateName, Set: func(r *runner.QueuedRun) {
		if len(r.Work.At) > 0 {
			o.At = r.Work.At
		}
		if r.Work.SaltEnv != "" {
			o.Saltenv = r.Work.SaltEnv
		}
		if r.Work.PillarEnv != "" {
			o.Pillarenv = r.Work.PillarEnv
		}
	}, Choose: func(r *runner.QueuedRun, s *session.Session, _ *fun.Env) (fun.Args, error) {
		return fun.Args{Pos: r.Work.Args, Kw: r.Work.Kwargs}, s.Furthest(ctx, r.Earlier)
	}})
}
