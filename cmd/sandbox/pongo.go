// Package sandbox has the commands that brine starts itself with, to render pongo2 templates
// and run Starlark modules in processes of their own.
package sandbox

import (
	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/python/wire"
	"brine/internal/core/render"
	"brine/sshexec"
)

// The names of the commands.
const (
	Pongo    = render.PongoCommand
	Starlark = wire.Starlark
	Keeper   = sshexec.KeeperCommand
)

// NewPongo returns the process in which the renderer pongo2 runs a template.
func NewPongo(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   Pongo,
		Short: "Render a pongo2 template for the process that started this one",
		Long: `Render a pongo2 template for the brine that started this one, which gives it on
standard input. It is of no use by hand.

Exit status: 0 the template is rendered or its error is reported; 1 the other end is
gone; 2 there was no template; 3 it took too much memory.`,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if status := render.ServePongo(a.In, a.Out, a.Err); status != 0 {
				return &app.StatusError{Status: status}
			}
			return nil
		},
	}
}
