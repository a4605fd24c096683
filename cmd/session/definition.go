package session

import (
	"context"

	"github.com/spf13/cobra"

	"brine/internal/core/fun"
)

// A Definition is a chain or a template, of which brine plan makes the plan: an
// orchestration that is rendered for each run.
type Definition interface {
	// Prepare reads it, before the session has a controller.
	Prepare(ctx context.Context, s *Session) error
	// Orchestration returns the arguments of its orchestration. What s.Approvals has of it
	// afterwards is its version.
	Orchestration(ctx context.Context, c *cobra.Command, s *Session, env *fun.Env) (fun.Args, error)
}
