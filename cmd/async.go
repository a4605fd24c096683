package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"brine/internal/fun"
)

// async starts a job that goes on without this command, or goes on with one.
func (s *session) async(ctx context.Context, o *sshOpts, env *fun.Env, job fun.Job) error {
	if ids := o.async.background; ids != "" {
		s.files.Adopt(job.JID, os.Stdin)
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
		s.warn(fun.Warning{Text: fmt.Sprintf("target %s: %s: %v", r.ID, r.Stage, r.Err)})
		return nil
	})
	switch {
	case len(sum.Targets) == 0 && err == nil:
		return o.noMatch(job)
	case err != nil:
		return err
	}
	if len(failed) < len(sum.Targets) {
		fmt.Fprintf(s.app.Out, "Executed command with job ID: %s\n", job.JID)
	}
	switch {
	case len(failed) == 0:
		return silent(s.strictStatus(exitOK))
	case o.prog == saltCLI:
		return silent(exitGeneric)
	case refused:
		return silent(exitDeploy)
	}
	return silent(exitCollection)
}
