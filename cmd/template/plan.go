package template

import (
	"context"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/core/fun"
)

// planned is a template with answers for brine plan, which does not keep them.
type planned struct{ templateRun }

// Planned returns a template for brine plan; answers are as --answers has them.
func Planned(a *app.App, name, answers string) session.Definition {
	return &planned{templateRun{app: a, opts: &runOptions{yes: true, planned: true, answers: answers}, name: name}}
}

// Prepare reads the template.
func (p *planned) Prepare(ctx context.Context, s *session.Session) error { return p.prepare(ctx, s) }

// Orchestration returns the arguments that the answers make.
func (p *planned) Orchestration(ctx context.Context, c *cobra.Command, s *session.Session, env *fun.Env) (fun.Args, error) {
	return p.arguments(ctx, c, s, env)
}
