// Package run is brine run: a runner function on this controller.
package run

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/runner"
)

// New returns "brine run", or the program of Salt that it stands for. runF, which may
// be nil, replaces what runs it.
func New(a *app.App, st app.Style, runF func(context.Context, *runner.Options, []string) error) *cobra.Command {
	o := &runner.Options{}
	c := &cobra.Command{
		Use:   "run <function> [<argument>...] [<key>=<value>...]",
		Short: "Run a runner function on this controller",
		Long: `Run a runner function, such as state.orchestrate, on this controller, as salt-run
does. Targets are those of the roster.

Exit status: 0 success; 1 a step failed, an SLS is invalid or the function failed;
the "retcode" of the return if it has one; 64 usage error; 130 interrupted; 255
unknown function.`,
		Example: `  brine run state.orchestrate orch.webserver
  brine run state.orch orch.deploy pillar='{"servers": "newsystem1"}'
  brine run pillar.show_pillar web1`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: complete.Call(a),
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return runner.Command(c.Context(), a, c, o, args)
		},
	}
	if st == app.AsSalt {
		c.Use = strings.Replace(c.Use, "run", "salt-run", 1)
	}
	c.SetFlagErrorFunc(app.FlagError)
	app.GroupFlags(c, app.TargetGroups)
	o.Register(c.Flags())
	if st != app.AsSalt {
		o.RegisterTargets(c.Flags())
		o.Group.Register(c.Flags())
	}
	o.RegisterAs(c.Flags(), "t", "")
	c.Flags().BoolVarP(&o.Doc, "doc", "d", false, "print the documentation of the function")
	c.Flags().BoolVar(&o.Quiet, "quiet", false, "print no report")
	c.Flags().BoolVar(&o.Async, "async", false, "refused: a runner function ends with its command")
	_ = c.Flags().MarkHidden("async")
	app.RegisterNoEffect(c.Flags(), app.ForRun)
	complete.Flags(c)
	return c
}
