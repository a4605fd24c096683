// Package orchestrate is brine orchestrate, which also puts orchestrations into queues and
// runs those that a worker takes from them.
package orchestrate

import (
	"context"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/runner"
	"brine/cmd/session"
)

// New returns "brine orchestrate". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *runner.Options, []string) error) *cobra.Command {
	o := &runner.Options{}
	c := &cobra.Command{
		Use:     "orchestrate <sls>[,<sls>...] [<key>=<value>...]",
		Aliases: []string{"orch"},
		Short:   "Run an orchestration: brine's main job",
		Long: `Run an orchestration on the targets of the roster; the same as
'brine run state.orchestrate'.

With --queue, the orchestration does not run now: it waits in a queue for
'brine worker', and its jid is printed: see 'brine docs queue'.

Exit status: 0 all steps succeeded, or the orchestration is queued; 1 a step
failed, an SLS is invalid, or the queue cannot be reached; 64 usage error; 130
interrupted.`,
		Example: `  brine orchestrate orch.webserver
  brine orchestrate orch.deploy pillar='{"release": "1.4"}'
  brine orchestrate orch.webserver test=True --out=json
  brine orchestrate orch.deploy --queue deploy`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: complete.SLS(a),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.Lock.Check(c); err != nil {
				return err
			}
			if len(args) == 0 && o.Resume == "" && !o.Queued {
				return app.Usagef(c, "no SLS was given")
			}
			switch {
			case runF != nil:
				return runF(c.Context(), o, args)
			case o.Queued:
				return runQueued(c.Context(), a, c, o)
			case c.Flags().Changed("queue"):
				return enqueue(c.Context(), a, c, o, args)
			}
			return runner.Command(c.Context(), a, c, o, append([]string{session.OrchestrateName}, args...))
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	app.GroupFlags(c, app.TargetGroups)
	o.Register(c.Flags())
	o.RegisterTargets(c.Flags())
	o.Group.Register(c.Flags())
	o.RegisterAs(c.Flags(), "t", "")
	complete.Flags(c)
	o.Lock.Register(c)
	c.Flags().StringVar(&o.Resume, "resume", "", "continue the orchestration with this jid at the first step that did not succeed")
	complete.Resume(a, c)
	c.Flags().StringVar(&o.Queue, "queue", "", "put the orchestration into this queue, for 'brine worker', and print its jid")
	c.Flags().BoolVar(&o.Queued, "queued", false, "run what a worker hands over on stdin") // see runQueued
	_ = c.Flags().MarkHidden("queued")
	return c
}
