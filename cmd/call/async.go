package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/fleet"
)

// checkAsync refuses what does not go together with --async.
func (o *options) checkAsync(c *cobra.Command, name string) error {
	switch {
	case !o.async.On:
		return nil
	case session.IsOrchestrate(name):
		return &app.StatusError{
			Status: app.ExitUsage, Err: errors.New("--async: an orchestration ends with its command"),
			Hint: "'brine orchestrate --queue NAME' has a worker run it",
		}
	case o.metadata:
		return app.Usagef(c, "--async and --metadata do not go together: there is no return to print")
	case o.schedule != "" || o.splay != "":
		return app.Usagef(c, "--async and --schedule or --splay do not go together")
	}
	return nil
}

// callAsync starts a call that goes on without this process, or goes on with one.
func callAsync(ctx context.Context, s *session.Session, o *options, env *fun.Env, job fun.Job) error {
	self, _ := env.Fleet.(*fleet.Self)
	if o.async.Background != "" {
		s.Files.Adopt(job.JID, os.Stdin)
		job.Continued = true
		_, err := self.Run(ctx, job, func(fun.Return) error { return nil })
		return err
	}
	self.Background, job.Async = s.App.Background, true
	var failed error
	if _, err := self.Run(ctx, job, func(r fun.Return) error { failed = r.Err; return nil }); err != nil || failed != nil {
		return cmp.Or(err, failed)
	}
	fmt.Fprintf(s.App.Out, "Executed command with job ID: %s\n", job.JID)
	return app.Silent(s.StrictStatus(app.ExitOK))
}
