package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/internal/plantext"
	"brine/cmd/internal/progress"
	"brine/internal/core/dispatch"
	"brine/internal/core/printable"
	"brine/internal/py/value"
	"brine/internal/view/plan"
	"brine/outputter"
)

// applyOpts are the flags of brine apply; all but yes are handed to the command
// that the plan is of.
type applyOpts struct {
	output   outFlags
	log      runFlags
	progress progress.Flags
	yes      bool
}

// applyGroups are the flags of brine apply in its help.
var applyGroups = append([]flagGroup{{"Apply", "yes"}}, targetGroups...)

// newApplyCmd returns "brine apply". commands returns brine with all its commands, of
// which a plan names one.
func newApplyCmd(a *App, commands func(*App) *cobra.Command) *cobra.Command {
	o := &applyOpts{}
	c := &cobra.Command{
		Use:   "apply <plan> [<key>=<value>...]",
		Short: "Run a plan of 'brine plan -o', if nothing changed since",
		Long: `Run what a plan shows. brine makes the plan again first: if the tree, the pillar,
the roster, the targets or the answers of machines have changed since, it runs
nothing and shows what changed. Secret arguments are not stored in the plan; give
them again.

On a terminal it asks before it runs.

Exit status: that of the planned command; 1 the plan is outdated or cannot be
read, or the answer was no; 64 usage error.`,
		Example: `  brine apply deploy.plan
  brine apply deploy.plan --yes --out=json
  brine apply deploy.plan pillar='{"db_password": "..."}'`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return []string{"plan"}, cobra.ShellCompDirectiveFilterFileExt
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error { return a.apply(c.Context(), c, o, commands, args) },
	}
	c.SetFlagErrorFunc(flagError)
	f := c.Flags()
	f.SetNormalizeFunc(saltSpelling)
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	o.output.register(f)
	o.output.registerReports(f)
	o.progress.Register(f, "")
	f.StringVarP(&o.log.logLevel, "log-level", "l", "", "log messages of this level and above to stderr: quiet, critical, error, warning, info, debug, trace, all")
	f.StringVar(&o.log.logFile, "log-file", "", "also log to this file")
	f.StringVar(&o.log.fileLevel, "log-file-level", "", "log messages of this level and above to the file (default: as --log-level)")
	f.BoolVar(&o.log.strict, "strict", false, "treat warnings as errors")
	completeFlags(c)
	groupFlags(c, applyGroups)
	return c
}

func (a *App) apply(ctx context.Context, c *cobra.Command, o *applyOpts, commands func(*App) *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef(c, "no plan was given")
	}
	old, err := a.readPlan(args[0])
	if err != nil {
		return err
	}
	words, err := a.hiddenArgs(c, old, args[1:])
	if err != nil {
		return err
	}
	pc, po := planCmd(a)
	for _, f := range old.Command.Flags {
		if slices.Contains(strings.Fields(unsaved), f.Name) || pc.Flags().Lookup(f.Name) == nil {
			return fmt.Errorf("plan %s: it has the unknown flag --%s", args[0], f.Name)
		}
		if err := pc.Flags().Set(f.Name, f.Value); err != nil {
			return fmt.Errorf("plan %s: --%s: %w", args[0], f.Name, err)
		}
	}
	switch old.Command.Kind {
	case plan.Call:
		err = pc.Flags().Set("call", "true")
	case plan.SSH:
		err = pc.Flags().Set("ssh", old.Command.Target)
	}
	if err != nil {
		return err
	}
	po.logLevel, po.progress = o.log.logLevel, o.progress
	po.output.noColor, po.output.forceColor = o.output.noColor, o.output.forceColor
	now, err := a.makePlan(ctx, pc, po, words)
	if err != nil {
		return err
	}
	if changed := plan.Compare(old, now.Plan); len(changed) > 0 {
		for _, line := range changed {
			fmt.Fprintln(a.Err, "brine: changed since the plan: "+printable.Line(line))
		}
		return &statusError{status: exitGeneric, err: errors.New("the plan no longer holds: nothing was run"), hint: "make it again with 'brine plan', and look at it"}
	}
	if !now.Due() && !now.Failed() {
		fmt.Fprintln(a.Err, "brine: nothing to do: "+plantext.Totals(now.Totals))
		if a.json {
			return outputter.JSON(a.Out, value.NewMap(0), &outputter.Options{}) // a document all the same
		}
		return nil
	}
	if err := a.confirmPlan(ctx, o, now); err != nil {
		return err
	}
	return a.runPlanned(ctx, c, commands(a), old, words)
}

// hiddenArgs returns the arguments of the planned command: those of the plan, and
// those that are not in it since they are secret, which must be the same.
func (a *App) hiddenArgs(c *cobra.Command, p *plan.Plan, given []string) ([]string, error) {
	key, err := a.planKey()
	if err != nil {
		return nil, err
	}
	left := maps.Clone(p.Command.Hidden)
	for _, w := range given {
		name := ""
		if keys := dispatch.ParseInput([]string{w}, nil).Kw.Keys(); len(keys) == 1 {
			name = value.Str(keys[0])
		}
		hash, ok := left[name]
		switch {
		case !ok:
			return nil, usagef(c, "the plan has its arguments: only those that are secret are given again, and %q is none of them", cmpName(name, w))
		case hash != key.Hash([]byte(w)):
			return nil, &statusError{status: exitGeneric, err: fmt.Errorf("changed since the plan: the argument %s=", name), hint: "give it as it was planned, or make the plan again"}
		}
		delete(left, name)
	}
	if len(left) > 0 {
		names := slices.Sorted(maps.Keys(left))
		return nil, &statusError{
			status: exitUsage, err: fmt.Errorf("the plan lacks arguments that are secret: %s", strings.Join(names, ", ")),
			hint: "give them again, as they were planned: brine apply " + c.Flags().Arg(0) + " " + names[0] + "=...",
		}
	}
	return slices.Concat(p.Command.Args, given), nil
}

// cmpName is what an argument is called in a message: its name where it has one,
// since its value may be secret.
func cmpName(name, word string) string {
	if name != "" {
		return name
	}
	return word
}

// confirmPlan shows the plan and asks whether it is run, where there is somebody
// to ask.
func (a *App) confirmPlan(ctx context.Context, o *applyOpts, now *madePlan) error {
	in := a.terminal()
	if o.yes || in == nil || !a.Terminal {
		return nil
	}
	if err := a.printPlan(now, "text"); err != nil {
		return err
	}
	a.printed = false
	return a.confirm(ctx, in, "\n", false)
}

// runPlanned runs the command that a plan is of, as its command line would. root is brine
// with its commands.
func (a *App) runPlanned(ctx context.Context, c, root *cobra.Command, p *plan.Plan, words []string) error {
	sub, _, err := root.Find([]string{p.Command.Kind})
	if err != nil {
		return err
	}
	argv := []string{p.Command.Kind}
	for _, f := range p.Command.Flags {
		if sub.Flags().Lookup(f.Name) != nil {
			argv = append(argv, "--"+f.Name+"="+f.Value)
		}
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "yes" || sub.Flags().Lookup(f.Name) == nil {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			argv = append(argv, "--"+f.Name+"="+v)
		}
	})
	argv = append(argv, "--")
	if p.Command.Kind == plan.SSH {
		argv = append(argv, p.Command.Target)
	}
	a.Args = append(argv, words...)
	root.SetArgs(a.Args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	return root.ExecuteContext(ctx)
}
