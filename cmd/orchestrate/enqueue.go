package orchestrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/output"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/fleet/queue"
)

// travelling are the flags that mean something for an orchestration that is
// queued: all others are those of the worker.
var travelling = []string{
	"queue", "config-dir", "saltfile", "saltenv", "pillarenv", "at", "no-parse", "id", "cachedir", "log-level", "log-file", "log-file-level", "strict",
	"out", "out-file", "out-file-append", "out-indent", "no-color", "force-color", "progress", "no-progress", "file-root", "pillar-root",
}

// enqueue puts an orchestration into a queue and prints its jid.
func enqueue(ctx context.Context, a *app.App, c *cobra.Command, o *runner.Options, args []string) error {
	var stays []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(travelling, f.Name) {
			stays = append(stays, "--"+f.Name)
		}
	})
	switch {
	case len(stays) > 0:
		return app.Usagef(c, "%s cannot be given with --queue: a worker runs it, with its own flags", strings.Join(stays, ", "))
	case !queue.ValidName(o.Queue):
		return app.Usagef(c, "--queue: invalid name %q: letters, digits and . _ - are allowed, 64 at most", o.Queue)
	}
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	s, err := session.New(a, config.Master, "salt-run", &o.RunFlags, nil)
	if err != nil {
		return err
	}
	defer s.End()
	rep := output.New(s)
	rep.Runner = true
	if err := rep.CheckOutput(); err != nil {
		return err
	}
	defer rep.ReportFault(&err)
	if err := s.ApplySDB(ctx); err != nil {
		return err
	}
	env := s.Env(ctx, s.JIDs.Next(a.Host.Now()))
	in := dispatch.ParseInput(args, o.Unparsed())
	if err := runner.MayQueue(s, env, in); err != nil {
		return err
	}
	e := &queue.Entry{
		Queue: o.Queue, User: s.UserName(), Controller: env.ID,
		Work: &queue.Work{Args: in.Pos, Kwargs: in.Kw, At: o.At, SaltEnv: o.Saltenv, PillarEnv: o.Pillarenv},
	}
	if _, err := e.Work.Encode(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
	defer cancel()
	q, err := assembly.OpenQueue(ctx, env)
	if err != nil {
		return err
	}
	// The job id is not reserved in the cache of this machine, where the worker may
	// need it at once. The database has the last word on it.
	for err = queue.ErrExists; errors.Is(err, queue.ErrExists); {
		e.JID = s.JIDs.Next(a.Host.Now())
		err = q.Put(ctx, e)
	}
	if cerr := q.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("the orchestration cannot be queued: %w", err)
	}
	if err := rep.Print(e.JID, "txt", app.ExitOK); err != nil {
		return err
	}
	return app.Silent(s.StrictStatus(app.ExitOK))
}
