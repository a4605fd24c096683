package trial

import (
	"io"
	"net"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/view/trial"
)

// newConnect returns the command by which the controller of an orchestration reaches a
// machine: its ProxyCommand.
func newConnect(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   trial.ConnectCommand + " <socket>",
		Short: "Connect standard input and output with a Unix socket",
		Long: `Connect standard input and output with a Unix socket, for the controller of a case
with several machines. It is of no use by hand.

Exit status: 0 the connection ended; 1 it could not be made.`,
		Hidden:            true,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: app.NoCompletion,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: args[0]})
			if err != nil {
				return err
			}
			go func() {
				_, _ = io.Copy(c, a.In)
				_ = c.CloseWrite()
			}()
			_, err = io.Copy(a.Out, c)
			return err
		},
	}
}
