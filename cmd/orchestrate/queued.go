package orchestrate

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/fun"
)

// runQueued runs an entry of a queue for a worker. It ends with the worker, whose
// entry goes to another one then.
func runQueued(ctx context.Context, a *app.App, c *cobra.Command, o *runner.Options) error {
	r, rest, err := runner.ReadQueued(a.In)
	if err != nil {
		return app.Usagef(c, "--queued: %s", err)
	}
	// Who reads stderr may be dead, too, which must not end the run before its
	// processes.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		_, _ = io.Copy(io.Discard, rest)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM) // as a person would; see [app.App.Signals]
	}()
	a.In = strings.NewReader("")
	if len(r.Work.At) > 0 {
		o.At = r.Work.At
	}
	if r.Work.SaltEnv != "" {
		o.Saltenv = r.Work.SaltEnv
	}
	if r.Work.PillarEnv != "" {
		o.Pillarenv = r.Work.PillarEnv
	}
	o.Output.Out = "quiet"
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	var run *session.Session
	err = runner.Run(ctx, a, c, o, session.OrchestrateName, func(s *session.Session) error {
		run, s.NextJID, s.Queued = s, r.JID, true
		return nil
	}, func(s *session.Session, env *fun.Env) (fun.Args, error) {
		in := fun.Args{Pos: r.Work.Args, Kw: r.Work.Kwargs}
		if env.JID != r.JID {
			return in, s.NotYet(fmt.Errorf("there is a job %s in the cache of this machine, which is not this run", r.JID))
		}
		s.Again = "brine run queue.retry"
		return in, s.Furthest(ctx, r.Earlier)
	})
	if err == nil || run == nil {
		return err
	}
	if status := run.PutBack.Load(); status != 0 {
		return &app.StatusError{Status: int(status), Err: err}
	}
	if run.LockLost() != "" {
		return &app.StatusError{Status: app.ExitCut, Err: err}
	}
	return err
}
