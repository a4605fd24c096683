package chain

import (
	"context"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/core/fun"
)

// planned is a chain for brine plan. It is checked as before a run, and nobody is asked.
type planned struct{ chainRun }

// Planned returns a chain for brine plan.
func Planned(a *app.App, name string) session.Definition {
	return &planned{chainRun{app: a, o: &runOptions{yes: true}, name: name}}
}

// Prepare reads the chain.
func (p *planned) Prepare(_ context.Context, s *session.Session) error { return p.prepare(s) }

// Orchestration renders the chain with the targets that match now.
func (p *planned) Orchestration(ctx context.Context, _ *cobra.Command, s *session.Session, env *fun.Env) (fun.Args, error) {
	return p.render(ctx, s, env, false)
}
