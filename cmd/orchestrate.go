package cmd

import (
	"github.com/spf13/cobra"

	"brine/cmd/app"
)

func newOrchestrateCmd(a *app.App) *cobra.Command {
	o := &runOpts{}
	c := &cobra.Command{
		Use:     "orchestrate <sls>[,<sls>...] [<key>=<value>...]",
		Aliases: []string{"orch"},
		Short:   "Run an orchestration: brine's main job",
		Long: `Run an orchestration on the targets of the roster; the same as
'brine run state.orchestrate'.

With --queue, the orchestration does not run now: it waits in a queue for
'brine worker', and its jid is printed. See docs/queue.md.

Exit status: 0 all steps succeeded, or the orchestration is queued; 1 a step
failed, an SLS is invalid, or the queue cannot be reached; 64 usage error; 130
interrupted.`,
		Example: `  brine orchestrate orch.webserver
  brine orchestrate orch.deploy pillar='{"release": "1.4"}'
  brine orchestrate orch.webserver test=True --out=json
  brine orchestrate orch.deploy --queue deploy`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: completeSLS(a),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.Lock.Check(c); err != nil {
				return err
			}
			if o.queued {
				return runQueued(c.Context(), a, c, o)
			}
			if len(args) == 0 && o.resume == "" {
				return app.Usagef(c, "no SLS was given")
			}
			if c.Flags().Changed("queue") {
				return enqueue(c.Context(), a, c, o, args)
			}
			return runRunner(c.Context(), a, c, o, append([]string{orchestrateName}, args...))
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	app.GroupFlags(c, app.TargetGroups)
	o.Register(c.Flags())
	o.RegisterAs(c.Flags(), "t", "")
	completeFlags(c)
	o.Lock.Register(c)
	c.Flags().StringVar(&o.resume, "resume", "", "continue the orchestration with this jid at the first step that did not succeed")
	completeResume(a, c)
	c.Flags().StringVar(&o.queue, "queue", "", "put the orchestration into this queue, for 'brine worker', and print its jid")
	c.Flags().BoolVar(&o.queued, "queued", false, "run what a worker hands over on stdin") // see runQueued
	_ = c.Flags().MarkHidden("queued")
	return c
}
