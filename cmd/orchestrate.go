package cmd

import (
	"github.com/spf13/cobra"
)

func newOrchestrateCmd(a *App) *cobra.Command {
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
			if err := o.lock.check(c); err != nil {
				return err
			}
			if o.queued {
				return a.runQueued(c.Context(), c, o)
			}
			if len(args) == 0 && o.resume == "" {
				return usagef(c, "no SLS was given")
			}
			if c.Flags().Changed("queue") {
				return a.enqueue(c.Context(), c, o, args)
			}
			return a.run(c.Context(), c, o, append([]string{orchestrateName}, args...))
		},
	}
	c.SetFlagErrorFunc(flagError)
	groupFlags(c, targetGroups)
	o.register(c.Flags())
	o.registerAs(c.Flags(), "t", "")
	completeFlags(c)
	o.lock.register(c)
	c.Flags().StringVar(&o.resume, "resume", "", "continue the orchestration with this jid at the first step that did not succeed")
	completeResume(a, c)
	c.Flags().StringVar(&o.queue, "queue", "", "put the orchestration into this queue, for 'brine worker', and print its jid")
	c.Flags().BoolVar(&o.queued, "queued", false, "run what a worker hands over on stdin") // see runQueued
	_ = c.Flags().MarkHidden("queued")
	return c
}
