package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/internal/plantext"
	"brine/cmd/internal/progress"
	"brine/internal/core/dispatch"
	"brine/internal/core/printable"
	"brine/internal/py/value"
	"brine/internal/view/plan"
	"brine/outputter"
)

// applyOptions are the flags of brine apply; all but yes are handed to the command
// that the plan is of.
type applyOptions struct {
	output   app.OutFlags
	log      app.RunFlags
	progress progress.Flags
	yes      bool
	fleet    app.FleetFlags // limit, summary, verbose, group
	without  bool
	answers  string // to the template of the plan
}

// applyGroups are the flags of brine apply in its help.
var applyGroups = append([]app.FlagGroup{{Title: "Apply", Names: "yes answers limit without-unreachable"}}, app.TargetGroups...)

// NewApply returns "brine apply". commands returns brine with all its commands, of
// which a plan names one; define has the chains and templates.
func NewApply(a *app.App, commands func(*app.App) *cobra.Command, define Definitions, runF func(context.Context, *applyOptions, []string) error) *cobra.Command {
	o := &applyOptions{}
	c := &cobra.Command{
		Use:   "apply <plan> [<key>=<value>...]",
		Short: "Run a plan of 'brine plan -o', if nothing changed since",
		Long: `Run what a plan shows. brine makes the plan again first: if the tree, the pillar,
the roster, the targets or the answers of machines have changed since, it runs
nothing and shows what changed. Secret arguments, and the answers to a template,
are not stored in the plan; give them again.

On a terminal it asks before it runs.

Exit status: that of the planned command; 1 the plan is outdated or cannot be
read, targets were left out, or the answer was no; 64 usage error.`,
		Example: `  brine apply deploy.plan
  brine apply deploy.plan --yes --out=json
  brine apply deploy.plan pillar='{"db_password": "..."}'
  brine apply update.plan --answers last`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return []string{"plan"}, cobra.ShellCompDirectiveFilterFileExt
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return runApply(c.Context(), a, c, o, commands, define, args)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	f.SetNormalizeFunc(app.SaltSpelling)
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.StringVar(&o.answers, "answers", "", "answers to the template of the plan, as it was made with")
	o.fleet.RegisterTargets(f)
	o.fleet.Group.Register(f)
	f.IntVar(&o.fleet.MaxProcs, "max-procs", 0, "how many targets to work on at once (default: as in the plan)")
	f.BoolVar(&o.without, "without-unreachable", false, "leave out targets that cannot be reached now, and apply to the rest")
	o.output.Register(f)
	o.output.RegisterReports(f)
	o.progress.Register(f, "")
	f.StringVarP(&o.log.LogLevel, "log-level", "l", "", "log messages of this level and above to stderr: quiet, critical, error, warning, info, debug, trace, all")
	f.StringVar(&o.log.LogFile, "log-file", "", "also log to this file")
	f.StringVar(&o.log.FileLevel, "log-file-level", "", "log messages of this level and above to the file (default: as --log-level)")
	f.BoolVar(&o.log.Strict, "strict", false, "treat warnings as errors")
	complete.Flags(c)
	app.GroupFlags(c, applyGroups)
	return c
}

func runApply(ctx context.Context, a *app.App, c *cobra.Command, o *applyOptions, commands func(*app.App) *cobra.Command, define Definitions, args []string) error {
	if len(args) == 0 {
		return app.Usagef(c, "no plan was given")
	}
	old, err := readPlan(a, args[0])
	if err != nil {
		return err
	}
	words, err := hiddenArgs(a, c, old, args[1:])
	if err != nil {
		return err
	}
	pc, po := planCmd(a, define)
	if err := setFlags(pc, old.Command, args[0]); err != nil {
		return err
	}
	if err := o.fits(c, old); err != nil {
		return err
	}
	po.answers = o.answers
	po.LogLevel, po.Progress = o.log.LogLevel, o.progress
	po.Output.NoColor, po.Output.ForceColor = o.output.NoColor, o.output.ForceColor
	left, keep, hosts := &leftOut{}, a.Keep, old.Totals.Hosts
	left.add(old.Unreached())
	po.also = o.fleet.Limit
	defer func(was func(string) bool, text string) { a.Keep, a.KeepText = was, text }(a.Keep, a.KeepText)
	// narrow leaves the targets in the plan that some function keeps; nil: all.
	narrow := func(keep func(string) bool) error {
		if keep != nil {
			old.Narrow(keep)
		}
		if hosts > 0 && old.Totals.Hosts == 0 {
			return left.tell(a, old, &app.StatusError{Status: app.ExitGeneric, Err: errors.New("no target of the plan is left")})
		}
		return nil
	}
	var now *madePlan
	for again := true; again; again = o.without && left.add(now.Unreached()) {
		a.Keep = left.keep(keep)
		if err := narrow(a.Keep); err != nil {
			return err
		}
		if now, err = makePlan(ctx, a, pc, po, words); err != nil {
			return err
		}
		if err := narrow(now.within); err != nil {
			return err
		}
	}
	if now.within != nil || a.Keep != nil {
		a.Keep, a.KeepText = now.only()
	}
	if changed := plan.Compare(old, now.Plan); len(changed) > 0 {
		for _, line := range changed {
			fmt.Fprintln(a.Err, "brine: changed since the plan: "+printable.Line(line))
		}
		return &app.StatusError{Status: app.ExitGeneric, Err: errors.New("the plan no longer holds: nothing was run"), Hint: "make it again with 'brine plan', and look at it"}
	}
	if !now.Due() && !now.Failed() {
		fmt.Fprintln(a.Err, "brine: nothing to do: "+plantext.Totals(now.Totals))
		if a.JSON {
			err = outputter.JSON(a.Out, value.NewMap(0), &outputter.Options{}) // a document all the same
		}
		return left.tell(a, now.Plan, err)
	}
	if err := confirmPlan(ctx, a, o, now); err != nil {
		return err
	}
	return left.tell(a, now.Plan, runPlanned(ctx, a, c, commands(a), old, words))
}

// fits returns an error if the command line has a flag that means nothing for a plan.
func (o *applyOptions) fits(c *cobra.Command, p *plan.Plan) error {
	if o.answers != "" && p.Command.Kind != plan.Template {
		return app.Usagef(c, "--answers are those to a template, and the plan is of none")
	}
	if name := forTargets(c); name != "" && p.Command.Kind == plan.Call {
		return app.Usagef(c, "--%s is for targets, and the plan is of this machine", name)
	}
	return nil
}

// forTargets returns the first flag on the command line that has a meaning for a plan of
// targets alone; "" is none.
func forTargets(c *cobra.Command) string {
	for _, name := range [...]string{"limit", "group", "no-group", "summary", "max-procs", "verbose"} {
		if c.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// setFlags gives the command that made a plan the flags that it had; path is the file
// of the plan.
func setFlags(pc *cobra.Command, made plan.Command, path string) error {
	for _, f := range made.Flags {
		if slices.Contains(strings.Fields(unsaved), f.Name) || pc.Flags().Lookup(f.Name) == nil {
			return fmt.Errorf("plan %s: it has the unknown flag --%s", path, f.Name)
		}
		if err := pc.Flags().Set(f.Name, f.Value); err != nil {
			return fmt.Errorf("plan %s: --%s: %w", path, f.Name, err)
		}
	}
	switch made.Kind {
	case plan.Call, plan.Chain, plan.Template:
		return pc.Flags().Set(made.Kind, "true")
	case plan.SSH:
		return pc.Flags().Set("ssh", made.Target)
	}
	return nil
}

// hiddenArgs returns the arguments of the planned command: those of the plan, and
// those that are not in it since they are secret, which must be the same.
func hiddenArgs(a *app.App, c *cobra.Command, p *plan.Plan, given []string) ([]string, error) {
	key, err := planKey(a)
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
			return nil, app.Usagef(c, "the plan has its arguments: only those that are secret are given again, and %q is none of them", cmpName(name, w))
		case hash != key.Hash([]byte(w)):
			return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("changed since the plan: the argument %s=", name), Hint: "give it as it was planned, or make the plan again"}
		}
		delete(left, name)
	}
	if len(left) > 0 {
		names := slices.Sorted(maps.Keys(left))
		return nil, &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("the plan lacks arguments that are secret: %s", strings.Join(names, ", ")),
			Hint: "give them again, as they were planned: brine apply " + c.Flags().Arg(0) + " " + names[0] + "=...",
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
func confirmPlan(ctx context.Context, a *app.App, o *applyOptions, now *madePlan) error {
	in := a.TTY()
	if o.yes || in == nil || !a.Terminal {
		return nil
	}
	if err := printPlan(a, now, "text"); err != nil {
		return err
	}
	a.Printed = false
	return a.Confirm(ctx, in, "\n", false)
}

// runPlanned runs the command that a plan is of, as its command line would. root is brine
// with its commands.
func runPlanned(ctx context.Context, a *app.App, c, root *cobra.Command, p *plan.Plan, words []string) error {
	argv := []string{p.Command.Kind}
	if k := p.Command.Kind; k == plan.Chain || k == plan.Template {
		argv = append(argv, "run", "--yes")
	}
	sub, _, err := root.Find(argv[:min(2, len(argv))])
	if err != nil {
		return err
	}
	for _, f := range p.Command.Flags {
		if f.Name != "limit" && sub.Flags().Lookup(f.Name) != nil { // a.Keep has it
			argv = append(argv, "--"+f.Name+"="+f.Value)
		}
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "yes" || f.Name == "limit" || sub.Flags().Lookup(f.Name) == nil {
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
