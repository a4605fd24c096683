package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"brine/cmd/serve"
)

type agentOpts struct {
	cacheDir  string
	wipe, sum bool
	detached  bool
	resume    string
	relay     bool
	skip      int64
}

// newAgentCmd returns the far end of "brine ssh", which the controller starts
// on targets, and what makes and lists such ends.
func newAgentCmd(a *App) *cobra.Command {
	o := &agentOpts{}
	c := &cobra.Command{
		Use:   "agent",
		Short: "Build and list the agents that are placed on targets",
		Long: `Build and list the agents that 'brine ssh' places on its targets.

Without a command: serve a controller on standard input and output, which is
what brine ssh starts on a target. That is of no use by hand. Files are kept from
run to run in the directory cache beside the program, where that lies in a
directory that only its user can enter, or in --cache-dir.

Exit status: 0 the controller closed the channel; 1 the channel broke; 64 it was
started on a terminal.`,
		Example: `  brine agent list
  brine agent build linux/arm64 freebsd/amd64`,
		SilenceUsage: true, SilenceErrors: true,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return a.agent(c.Context(), o) },
	}
	c.SetFlagErrorFunc(flagError)
	f := c.Flags()
	f.StringVar(&o.cacheDir, "cache-dir", "", "where files are kept from run to run; it must be the user's alone")
	f.BoolVar(&o.wipe, "wipe", false, "at the end remove the agent and what it kept")
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
	c.AddCommand(newAgentBuildCmd(a), newAgentListCmd(a))
	return c
}

func (a *App) agent(ctx context.Context, o *agentOpts) error {
	if o.sum {
		return serve.Sum(a.Out)
	}
	err := serve.Agent(ctx, serve.Options{In: a.In, Out: a.Out, Host: a.Host, CacheDir: o.cacheDir, Wipe: o.wipe, Detached: o.detached, Resume: o.resume, Relay: o.relay, Skip: o.skip})
	if errors.Is(err, serve.ErrTerminal) {
		return &statusError{status: exitUsage, err: err, hint: serve.TerminalHint}
	}
	return err
}
