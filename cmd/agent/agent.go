// Package agent is brine agent: what runs on targets, and the agents of other platforms.
package agent

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/serve"
)

type options struct {
	cacheDir  string
	wipe, sum bool
	detached  bool
	resume    string
	relay     bool
	skip      int64
}

// New returns "brine agent". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "agent",
		Short: "Build and list the agents for targets",
		Long: `Build and list the agents that 'brine ssh' copies to its targets.

Without a command, it serves a controller on standard input and output: this is
what brine ssh starts on a target, and you do not need it by hand. Files are kept
between runs in the directory cache next to the program, if only its user can
enter that directory, or in --cache-dir.

Exit status: 0 the controller closed the channel; 1 the channel broke; 64 it was
started on a terminal.`,
		Example: `  brine agent list
  brine agent build linux/arm64 freebsd/amd64`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(c.Context(), a, o)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	f.StringVar(&o.cacheDir, "cache-dir", "", "directory for files that are kept between runs; only its user may have access to it")
	f.BoolVar(&o.wipe, "wipe", false, "remove the agent and its files at the end")
	f.BoolVar(&o.detached, "detached", false, "run the one job that standard input hands over, without a controller")
	_ = f.MarkHidden("detached")
	f.StringVar(&o.resume, "resume", "", "carry the channel to the agent that lost its controller and has this token")
	_ = f.MarkHidden("resume")
	f.BoolVar(&o.relay, "relay", false, "carry connections to other machines for the controller")
	_ = f.MarkHidden("relay")
	f.Int64Var(&o.skip, "skip", 0, "drop so many bytes of standard input first")
	_ = f.MarkHidden("skip")
	f.BoolVar(&o.sum, "sum", false, "print the SHA-256 of this program and end")
	_ = f.MarkHidden("sum")
	c.AddCommand(newBuild(a, nil), newList(a))
	return c
}

func run(ctx context.Context, a *app.App, o *options) error {
	if o.sum {
		return serve.Sum(a.Out)
	}
	err := serve.Agent(ctx, serve.Options{In: a.In, Out: a.Out, Host: a.Host, CacheDir: o.cacheDir, Wipe: o.wipe, Detached: o.detached, Resume: o.resume, Relay: o.relay, Skip: o.skip})
	if errors.Is(err, serve.ErrTerminal) {
		return &app.StatusError{Status: app.ExitUsage, Err: err, Hint: serve.TerminalHint}
	}
	return err
}
