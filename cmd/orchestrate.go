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
		Long: `Run an orchestration over the targets of the roster; the same as
'brine run state.orchestrate'.

Exit status: 0 all steps went well; 1 a step failed or an SLS is bad; 64 the
command line is invalid; 130 interrupted.`,
		Example: `  brine orchestrate orch.webserver
  brine orchestrate orch.deploy pillar='{"release": "1.4"}'
  brine orchestrate orch.webserver test=True --out=json`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: a.completeSLS,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && o.resume == "" {
				return usagef(c, "no SLS was given")
			}
			if err := o.lock.check(c); err != nil {
				return err
			}
			return a.run(c.Context(), c, o, append([]string{"state.orchestrate"}, args...))
		},
	}
	c.SetFlagErrorFunc(flagError)
	o.register(c.Flags())
	o.registerAs(c.Flags(), "t", "")
	completeFlags(c)
	o.lock.register(c)
	c.Flags().StringVar(&o.resume, "resume", "", "go on with this orchestration, a jid, at the first step that did not succeed")
	a.completeResume(c)
	return c
}
