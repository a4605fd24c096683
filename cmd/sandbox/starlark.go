package sandbox

import (
	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/star"
)

// NewStarlark returns the process in which the Starlark modules of a tree run.
func NewStarlark(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   Starlark,
		Short: "Run Starlark modules for the process that started this one",
		Long: `Run the Starlark modules of a tree for the brine that started this one, which sends
them on standard input. It is of no use by hand.

Exit status: 0 the other end is gone; 1 it sent nothing or cannot be written to; 2 a
script took too much memory or is nested too deep; 3 it took too much memory.`,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if status := star.Serve(a.In, a.Out, a.Err); status != 0 {
				return &app.StatusError{Status: status}
			}
			return nil
		},
	}
}
