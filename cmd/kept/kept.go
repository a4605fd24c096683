// Package kept is the command that brine ui starts brine with, for a run that goes on
// without it.
package kept

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/fleet/kept"
)

// Name is the name of the command.
const Name = kept.Command

// New returns the process of a run that is kept. newRoot returns brine with all its
// commands.
func New(a *app.App, newRoot func(*app.App) *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   Name + " <directory>",
		Short: "Run what brine ui was asked to run",
		Long: `Run what brine ui was asked to run, in a process that goes on when the server of the
pages ends. The directory has the command line; the standard input is the lock of the
run. It is of no use by hand.

Exit status: that of the command that is run; 64 it was not started by brine ui.`,
		Hidden:       true,
		SilenceUsage: true, SilenceErrors: true,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			stdin, ok := a.In.(*os.File)
			if !ok {
				return app.Usagef(c, "standard input is not a file")
			}
			p, err := kept.Adopt(args[0], stdin)
			if err != nil {
				return app.Usagef(c, "%s", err)
			}
			a.OnExit = func(status int) {
				if err := p.End(status, a.Host.Now()); err != nil {
					fmt.Fprintf(a.Err, "brine: the end of the run cannot be kept: %v\n", err)
				}
			}
			a.RunDir = p.Dir()
			a.In, a.JID, a.Args = strings.NewReader(""), p.Spec.JID, p.Spec.Args
			root := newRoot(a)
			root.SetArgs(a.Args)
			root.SetIn(a.In)
			root.SetOut(a.Out)
			root.SetErr(a.Err)
			return root.ExecuteContext(c.Context())
		},
	}
}
