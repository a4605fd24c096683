// Package plan is brine plan and brine apply: what a run would change, and the run of
// what was shown.
package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/internal/plantext"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/cmd/target"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/redact"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/plan"
)

// exitDue is the status of a plan that has changes, with --detailed-exitcode.
const exitDue = 2

// options are the flags of brine plan: those that say what is run and where are
// the flags of brine ssh, by the same names.
type options struct {
	target.Options
	call     bool
	chain    bool
	template bool
	answers  string // to the template
	define   Definitions
	target   string
	file     string
	format   string
	detailed bool
	without  bool
	noSlots  bool
	noExt    bool
	record   bool
	also     string // a further limit: that of brine apply
}

// Definitions return chains and templates by their names.
type Definitions struct {
	Chain    func(a *app.App, name string) session.Definition
	Template func(a *app.App, name, answers string) session.Definition
}

// planGroups are the flags of brine plan in its help.
var planGroups = append([]app.FlagGroup{{Title: "Plan", Names: "chain template answers call ssh save without-unreachable limit no-slots no-ext-pillar record out detailed-exitcode"}}, app.TargetGroups...)

// New returns "brine plan". define has the chains and templates; runF, which may be nil,
// replaces what runs it.
func New(a *app.App, define Definitions, runF func(context.Context, *options, []string) error) *cobra.Command {
	c, o := planCmd(a, define)
	c.RunE = func(c *cobra.Command, args []string) error {
		if runF != nil {
			return runF(c.Context(), o, args)
		}
		return run(c.Context(), a, c, o, args)
	}
	return c
}

// planCmd returns the command with its flags.
func planCmd(a *app.App, define Definitions) (*cobra.Command, *options) {
	o := &options{Options: target.Options{Prog: target.BrineSSH}, define: define}
	c := &cobra.Command{
		Use:   "plan <sls>[,<sls>...] [<key>=<value>...]",
		Short: "Show what a run would change, and keep it for 'brine apply'",
		Long: `Show what a run would change before anything runs: the steps of an orchestration
in order, their targets, and for each target the states that would change with
their differences. With --chain, plan a chain, with --template a template. With
--ssh, plan a state function call such as state.apply on targets, with --call on
this machine. All states run in test mode; functions,
runners and wheel functions do not run, and what depends on them is shown as not
known. If a step runs another orchestration, its steps are shown under it. See
'brine docs plan'.

Exit status: 0 the plan was made; with --detailed-exitcode 2 if there are changes,
or something is not known yet or may fail; 1 a state is certain to fail, a target
could not be reached or an SLS is invalid; 64 usage error; 130 interrupted.`,
		Example: `  brine plan orch.deploy
  brine plan orch.deploy -o deploy.plan
  brine plan --chain deploy-friday -o friday.plan
  brine plan --template update_salt --answers last
  brine plan --call state.apply web
  brine plan --ssh 'web*' state.apply web --out=diff
  brine plan orch.deploy --out=markdown > comment.md
  brine plan --ssh '*' state.apply --record`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			switch {
			case o.chain || o.template:
				return nil, cobra.ShellCompDirectiveNoFileComp
			case !o.call && o.target == "":
				return complete.SLS(a)(c, args, prefix)
			case len(args) == 0:
				return app.Begins(session.Plannable[:], prefix), cobra.ShellCompDirectiveNoFileComp
			case len(args) == 1:
				return complete.SLS(a)(c, nil, prefix)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	o.RegisterConfig(f)
	app.RepeatedVar(f, &o.NoParse, "no-parse", "", "keep the values of these keyword arguments as strings (comma-separated)")
	o.RegisterAs(f, "", "")
	o.Matching.Register(f)
	f.StringVar(&o.Delimiter, "delimiter", ":", "separator of the parts of grain and pillar targets")
	o.RegisterTargets(f)
	f.StringVarP(&o.Batch, "batch", "b", "", "how many targets run at once when the plan is applied: a number or a percentage")
	f.BoolVar(&o.chain, "chain", false, "plan the chain with this name")
	f.BoolVar(&o.template, "template", false, "plan the template with this name")
	f.StringVar(&o.answers, "answers", "", "answers to the template: a JSON or YAML file, which sops or gpg may have encrypted, or a label of kept ones")
	f.BoolVar(&o.call, "call", false, "plan a state function call, such as state.apply, on this machine")
	f.StringVar(&o.target, "ssh", "", "plan a state function call, such as state.apply, on these targets")
	f.StringVarP(&o.file, "save", "o", "", "write the plan to this file, for 'brine apply'")
	f.BoolVar(&o.without, "without-unreachable", false, "keep a plan also if targets were not reached, or a step matches none: it is applied to the rest")
	f.BoolVar(&o.noSlots, "no-slots", false, "run no function of a slot while the plan is made: its state fails in the plan")
	f.BoolVar(&o.noExt, "no-ext-pillar", false, "make no plan if the configuration has external pillars, which would run")
	f.BoolVar(&o.record, "record", false, "record for each host whether it agrees with its states, for 'brine run drift.report'")
	f.StringVar(&o.format, "out", "text", "format: text, diff, json, yaml, markdown, html")
	f.BoolVar(&o.detailed, "detailed-exitcode", false, "exit with 2 if there are changes, or something is not known yet")
	f.BoolVar(&o.Output.NoColor, "no-color", false, "print without colours")
	f.BoolVar(&o.Output.ForceColor, "force-color", false, "print with colours even if stdout is not a terminal")
	f.BoolVar(&o.Async.On, "async", false, "refused: a plan waits for its targets")
	_ = f.MarkHidden("async")
	// What is registered first holds: complete.Flags offers the outputters of runs.
	_ = c.RegisterFlagCompletionFunc("out", cobra.FixedCompletions(plantext.Formats(), cobra.ShellCompDirectiveNoFileComp))
	complete.Flags(c)
	app.GroupFlags(c, planGroups)
	return c, o
}

// targetOnly are flags that have a meaning with --ssh alone.
const targetOnly = "compound grain grain-pcre ipcidr list nodegroup pcre pillar pillar-pcre range delimiter batch"

// check finds faults of the command line.
func (o *options) check(c *cobra.Command, args []string) error {
	on := func(names string) string {
		for name := range strings.FieldsSeq(names) {
			if c.Flags().Changed(name) {
				return name
			}
		}
		return ""
	}
	ssh := c.Flags().Changed("ssh")
	switch {
	case target.CheckBatch(o.Batch) != nil:
		return target.CheckBatch(o.Batch)
	case o.Async.On:
		return app.Usagef(c, "--async: a plan waits for what its targets answer")
	case o.call && ssh:
		return app.Usagef(c, "--call plans for this machine and --ssh for targets: give one of them")
	case o.chain && o.template:
		return app.Usagef(c, "--chain plans a chain and --template a template: give one of them")
	case o.defined() != "" && (o.call || ssh):
		return app.Usagef(c, "--%s plans steps, and --call and --ssh a function: give one of them", o.defined())
	case o.answers != "" && !o.template:
		return app.Usagef(c, "--answers are those to a template: give --template")
	case o.defined() != "" && len(args) != 1:
		return app.Usagef(c, "give the name of one %s", o.defined())
	case ssh && o.target == "":
		return app.Usagef(c, "--ssh: no target was given")
	case !ssh && on(targetOnly) != "":
		return app.Usagef(c, "--%s says what the target of --ssh is, and --ssh was not given", on(targetOnly))
	case o.call && on("limit without-unreachable") != "":
		return app.Usagef(c, "--%s is for targets, and --call plans for this machine", on("limit without-unreachable"))
	case o.without && o.file == "":
		return app.Usagef(c, "--without-unreachable is for a plan that is kept: give -o <file>")
	case o.call && on(app.TargetGroups[1].Names+" "+app.TargetGroups[2].Names) != "":
		return app.Usagef(c, "--%s is for targets, and --call plans for this machine", on(app.TargetGroups[1].Names+" "+app.TargetGroups[2].Names))
	case !slices.Contains(plantext.Formats(), o.format):
		return app.Usagef(c, "--out: %q is none of %s%s", o.format, strings.Join(plantext.Formats(), ", "), source.DidYouMean(o.format, plantext.Formats()))
	case len(args) == 0 && (o.call || ssh):
		return app.Usagef(c, "no function was given")
	case len(args) == 0:
		return app.Usagef(c, "no SLS was given")
	case o.defined() == "" && !o.call && !ssh && slices.Contains(session.Plannable[:], args[0]):
		return &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("%s is a function, and not the SLS of an orchestration", args[0]),
			Hint: fmt.Sprintf("'%s --call %s' plans it on this machine, and --ssh <target> on targets", c.CommandPath(), strings.Join(args, " ")),
		}
	case o.Progress.Misplaced(args):
		return app.ProgressValue()
	case o.RosterFile == "-":
		return app.Usagef(c, "--roster-file -: 'brine apply' could not read the roster again; name a file")
	}
	if (o.call || ssh) && !slices.Contains(session.Plannable[:], args[0]) {
		if !strings.Contains(args[0], ".") && source.DidYouMean(args[0], session.Plannable[:]) == "" {
			return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("%s is not a function", args[0]), Hint: "name the function before the SLS: state.apply " + args[0]}
		}
		return &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("%s cannot be planned%s", args[0], source.DidYouMean(args[0], session.Plannable[:])),
			Hint: "only functions of states can: " + strings.Join(session.Plannable[:], ", "),
		}
	}
	if dispatch.ParseInput(args, nil).Kw.Has("test") {
		return app.Usagef(c, "test=: a plan is made in test mode, and applied without it")
	}
	return nil
}

// defined is the kind of what is planned, where it is a chain or a template.
func (o *options) defined() string {
	switch {
	case o.chain:
		return plan.Chain
	case o.template:
		return plan.Template
	}
	return ""
}

// run runs the command.
func run(ctx context.Context, a *app.App, c *cobra.Command, o *options, args []string) error {
	made, err := makePlan(ctx, a, c, o, args)
	if err != nil {
		return err
	}
	p := made.Plan
	if err := printPlan(a, made, o.format); err != nil {
		return err
	}
	if o.Summary {
		printSummary(a, p, o.format)
	}
	if o.file != "" {
		switch {
		case p.Partial() && !o.without:
			return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s was not written: the plan is incomplete", o.file), Hint: "see above which targets did not answer, and why; with --without-unreachable it is kept, and applied to the rest"}
		case !p.Complete() && !p.Partial():
			return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s was not written: the plan is incomplete", o.file), Hint: "see above which targets have no plan, and why"}
		}
		if err := made.save(o.file); err != nil {
			return err
		}
	}
	switch {
	case p.Failed():
		return app.Silent(app.ExitGeneric)
	case made.status != app.ExitOK:
		return app.Silent(made.status)
	case o.detailed && p.Due():
		return app.Silent(exitDue)
	}
	return nil
}

// A madePlan is a plan with what it takes to show and to keep it.
type madePlan struct {
	*plan.Plan
	key    *plan.Key
	color  bool
	status int                  // what --strict makes of warnings
	within func(id string) bool // which targets are within --limit; nil: all
}

// makePlan asks all targets what a run would do.
func makePlan(ctx context.Context, a *app.App, c *cobra.Command, o *options, args []string) (made *madePlan, err error) {
	kind, section := config.Master, "salt-run"
	switch {
	case o.call:
		kind, section = config.Minion, "salt-call"
	case o.target != "":
		section = "salt-ssh"
	}
	if err := a.Saltfile(c, section, &o.RunFlags); err != nil {
		return nil, err
	}
	if err := o.check(c, args); err != nil {
		return nil, err
	}
	key, err := planKey(a)
	if err != nil {
		return nil, err
	}
	shown, done := a.StartProgress(o.Progress, &o.RunFlags, o.title(args), false)
	defer done()
	s, err := session.New(a, kind, section, &o.RunFlags, o.Override())
	if err != nil {
		return nil, err
	}
	defer s.End()
	if o.noExt {
		if err := refuseExtPillar(s.Cfg.Opts); err != nil {
			return nil, err
		}
	}
	keepNothing(s)
	s.Planning = true
	a.Intr.Idle.Store(true)
	defer a.Intr.Idle.Store(false)
	if err := s.Reach(&o.FleetFlags); err != nil {
		return nil, err
	}
	s.AlsoLimit(o.also)
	if err := s.OpenGit(ctx); err != nil {
		return nil, err
	}
	pl := &planner{s: s, key: key, o: o, c: c, args: args, p: newPlan(s)}
	switch {
	case o.chain:
		pl.def = o.define.Chain(a, args[0])
	case o.template:
		pl.def = o.define.Template(a, args[0], o.answers)
	}
	if pl.def != nil {
		if err := pl.def.Prepare(ctx, s); err != nil {
			return nil, err
		}
	}
	pl.watch(shown)
	pl.options()
	if err := pl.command(c); err != nil {
		return nil, err
	}
	switch {
	case o.call:
		err = pl.local(ctx)
	case o.target != "":
		err = pl.targets(ctx, c)
	default:
		err = pl.orchestration(ctx)
	}
	if ctx.Err() != nil || a.Intr.Draining() {
		err = pl.interrupted()
	}
	if err != nil {
		return nil, err
	}
	pl.limited()
	pl.p.Finish()
	if o.record {
		if err := pl.record(ctx, s); err != nil {
			return nil, err
		}
	}
	return &madePlan{Plan: pl.p, key: key, within: s.Within(), color: output.New(s).Color(), status: s.StrictStatus(app.ExitOK)}, nil
}

// keepNothing has a session leave no trace: a plan is not a job, and its returns go
// nowhere.
func keepNothing(s *session.Session) {
	s.Jobs, s.Files = nil, nil
	s.App.Intr.Recorded.Store(false)
	if s.Secrets == nil {
		s.Secrets = redact.NewSet() // the file of a plan has none, whatever mask_secrets says
	}
	for _, name := range [...]string{"return", "event_return", "ext_job_cache", "master_job_cache"} {
		s.Cfg.Opts.Delete(name)
	}
}

// unsaved are flags that say nothing of what is run.
const unsaved = "call chain template answers ssh save out detailed-exitcode no-color force-color log-level log-file log-file-level progress no-progress strict help async without-unreachable record summary verbose"

// pathFlags are flags whose values are paths.
const pathFlags = "config-dir saltfile file-root pillar-root cachedir roster-file priv agent-dir"

// only returns what tells the targets of a plan, and their ids as records have them.
func (m *madePlan) only() (keep func(id string) bool, text string) {
	ids := map[string]bool{}
	plan.Walk(m.Steps, func(st *plan.Step) bool {
		for _, id := range st.Targets {
			ids[id] = true
		}
		return true
	})
	return func(id string) bool { return ids[id] }, strings.Join(slices.Sorted(maps.Keys(ids)), ",")
}

// limited has the plan know which targets --limit meant: the last run, a job or a file may
// be another one when it is applied.
func (pl *planner) limited() {
	l := pl.s.Limit()
	if l == nil {
		return
	}
	for i, f := range pl.p.Command.Flags {
		if f.Name == "limit" {
			pl.p.Command.Flags[i].Value = l.Text
		}
	}
}

// planFlags are the flags that a plan is made with, paths as absolute ones.
func planFlags(c *cobra.Command) ([]plan.Flag, error) {
	flags := []plan.Flag{}
	var fault error
	c.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(strings.Fields(unsaved), f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if slices.Contains(strings.Fields(pathFlags), f.Name) && v != "" {
				abs, err := filepath.Abs(v)
				if err != nil {
					fault = err
					return
				}
				v = abs
			}
			flags = append(flags, plan.Flag{Name: f.Name, Value: v})
		}
	})
	return flags, fault
}

// command puts the command into the plan, without what is secret in it.
func (pl *planner) command(c *cobra.Command) (err error) {
	o, cmd := pl.o, &pl.p.Command
	cmd.Kind, cmd.Target, cmd.Args, cmd.Hidden = plan.Orchestrate, o.target, []string{}, map[string]string{}
	if o.defined() != "" {
		cmd.Kind, cmd.Args = o.defined(), append(cmd.Args, pl.args[0])
		cmd.Flags, err = planFlags(c)
		return err
	}
	name, words, kind := "state.orchestrate", pl.args, fun.Runner
	if o.call || o.target != "" {
		cmd.Kind, kind = plan.SSH, fun.Exec
		name, words = pl.args[0], pl.args[1:]
		cmd.Args = append(cmd.Args, name)
	}
	if o.call {
		cmd.Kind = plan.Call
	}
	pl.in = dispatch.ParseInput(words, o.Unparsed())
	spec := pl.s.Table.Spec(kind, name)
	pl.s.Secrets.AddPillar(pl.in.Kw.At("pillar"))
	hidden := redact.LeftOut(spec.ArgNames(), pl.in.Pos, pl.in.Kw, spec.SecretArgs()...)
	if v, ok := pl.in.Kw.Get("pillar"); ok && value.Equal(pl.s.Mask(v), v) {
		hidden = slices.DeleteFunc(hidden, func(n string) bool { return n == "pillar" })
	}
	for _, w := range words {
		one := dispatch.ParseInput([]string{w}, o.Unparsed())
		keys := one.Kw.Keys()
		if len(keys) == 1 && slices.Contains(hidden, value.Str(keys[0])) {
			cmd.Hidden[value.Str(keys[0])] = pl.key.Hash([]byte(w))
			continue
		}
		cmd.Args = append(cmd.Args, w)
	}
	if cmd.Flags, err = planFlags(c); err != nil {
		return err
	}
	if o.file != "" && len(hidden) > len(cmd.Hidden) {
		return &app.StatusError{Status: app.ExitUsage, Err: errors.New("-o: an argument is secret and would be in the file"), Hint: "give it by name: <name>=<value>; 'brine apply' then asks for it again"}
	}
	return nil
}

// printPlan prints a plan.
func printPlan(a *app.App, made *madePlan, format string) error {
	var text string
	switch format {
	case "diff":
		text = made.Diffs()
		if t := made.Totals; made.Failed() || t.MayFail > 0 {
			fmt.Fprintln(a.Err, "brine: the plan has more than differences: "+plantext.Totals(t))
		}
	case "json", "yaml":
		data, err := plan.Document(made.Plan)
		if err != nil {
			return err
		}
		text = string(data)
		if format == "yaml" {
			v, err := value.DecodeJSON(strings.NewReader(text))
			if err != nil {
				return err
			}
			if text, err = yamlsalt.Dump(v, yamlsalt.DumpOptions{}); err != nil {
				return err
			}
		}
	case "markdown":
		text = plantext.Markdown(made.Plan)
	case "html":
		text = plantext.HTML(made.Plan)
	default:
		text = plantext.Text(made.Plan, made.color)
	}
	a.Printed = true
	if a.Terminal {
		w := printable.NewWriter(a.Out)
		if _, err := w.Write([]byte(text)); err != nil {
			return fmt.Errorf("print the plan: %w", err)
		}
		return w.Flush()
	}
	if _, err := a.Out.Write([]byte(text)); err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	return nil
}
