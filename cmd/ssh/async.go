package ssh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/cmd/target"
	"brine/internal/core/fun"
)

// async starts a job that goes on without this command, or goes on with one.
func async(ctx context.Context, s *session.Session, o *target.Options, env *fun.Env, job fun.Job) error {
	if ids := o.Async.Background; ids != "" {
		s.Files.Adopt(job.JID, os.Stdin)
		job.Async, job.Continued = false, true
		job.Only, job.Subset = strings.Split(ids, ","), 0
		_, err := env.Fleet.Run(ctx, job, func(fun.Return) error { return nil })
		return err
	}
	var failed []string
	refused := false
	sum, err := env.Fleet.Run(ctx, job, func(r fun.Return) error {
		failed = append(failed, r.ID)
		var np interface{ NotPlaced() bool }
		refused = refused || errors.As(r.Err, &np) && np.NotPlaced()
		s.Warn(fun.Warning{Text: fmt.Sprintf("target %s: %s: %v", r.ID, r.Stage, r.Err)})
		return nil
	})
	switch {
	case len(sum.Targets) == 0 && err == nil:
		return o.NoMatch(job)
	case err != nil:
		return err
	}
	if len(failed) < len(sum.Targets) {
		fmt.Fprintf(s.App.Out, "Executed command with job ID: %s\n", job.JID)
	}
	switch {
	case len(failed) == 0:
		return app.Silent(s.StrictStatus(app.ExitOK))
	case o.Prog == target.SaltCLI:
		return app.Silent(app.ExitGeneric)
	case refused:
		return app.Silent(exitDeploy)
	}
	return app.Silent(exitCollection)
}
