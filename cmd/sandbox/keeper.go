package sandbox

import (
	"errors"
	"io"
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/sshexec"
)

// NewKeeper returns the process that keeps connections to machines between runs.
func NewKeeper(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   Keeper + " <directory>",
		Short: "Keep connections for the runs of this user",
		Long: `Keep connections to machines for the brine that started this one, and for later
runs of the same user, at sockets in a directory. It ends by itself. It is of no use
by hand: 'brine ssh --connections' lists what it keeps, and ends it.

Exit status: 0 it keeps nothing more; 1 the directory cannot be used.`,
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			ready, ok := a.Out.(io.WriteCloser)
			if !ok {
				return errors.New("the standard output cannot be closed")
			}
			return sshexec.Keep(ctx, a.Host, args[0], ready, slog.New(slog.DiscardHandler))
		},
	}
}
