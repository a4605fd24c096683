// Package chain is brine chain: it makes, runs and schedules chains of actions.
package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/library"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet/history"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/chain"
)

// New returns "brine chain".
func New(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "chain <command>",
		Short: "Create and run chains of actions",
		Long: `Create and run chains of actions on targets: install packages, run commands,
apply states, reboot and wait, one after the other. A chain is a YAML file in the
directory chains of the configuration (option orchestration_chains). Each action
runs only if the previous one succeeded on all of its targets. See 'brine docs chains'.`,
		Example: `  brine chain new deploy-friday
  brine chain add deploy-friday pkg nginx=1.24 --on 'web*'
  brine chain add deploy-friday cmd 'systemctl reload nginx' --on 'web*'
  brine chain add deploy-friday reboot --on 'web*'
  brine chain show deploy-friday
  brine chain run deploy-friday`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return app.Usagef(c, "no command was given") },
	}
	c.AddCommand(
		newAdd(a), newCheck(a), newClone(a), newDelete(a), newEdit(a), newExport(a), newImport(a), newList(a), newMove(a), newNew(a),
		newRename(a), newRender(a), newRm(a), newRun(a, nil), newSchedule(a, nil), newShow(a),
	)
	return c
}

// command finishes a command that works on the files of chains. wants says what
// arguments it takes.
func command(a *app.App, c *cobra.Command, least, most int, wants string, run func(ctx context.Context, st *chain.Store, args []string) error) *cobra.Command {
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = completeNames(a)
	}
	return session.TreeCommand(a, c, (*app.RunFlags).RegisterPlaces, least, most, wants, func(ctx context.Context, s *session.Session, args []string) error {
		return run(ctx, library.Chains(s), args)
	})
}

// completeNames offers the names of chains to the shell.
func completeNames(a *app.App) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return session.CompleteNames(a, c, args, prefix, func(s *session.Session) ([]string, error) { return library.Chains(s).Names() })
	}
}

// change changes the text of a chain, and waits for others that change chains.
func change(st *chain.Store, name string, edit func(*chain.Chain, []byte) ([]byte, error)) error {
	return library.HintChain(name, st.Change(name, edit))
}

// changeStep changes the step with a number, which it has as the command begins: others
// may move steps before it is its turn.
func changeStep(st *chain.Store, name, step string, edit func(text []byte, step string) ([]byte, error)) error {
	seen, _, err := library.ReadChain(st, name)
	if err != nil {
		return err
	}
	id, err := seen.StepID(step)
	if err != nil {
		return fmt.Errorf("chain %s: %w", name, err)
	}
	return change(st, name, func(c *chain.Chain, text []byte) ([]byte, error) {
		now := c.StepNumber(id)
		if now == "" {
			return nil, fmt.Errorf("somebody else has removed step %s", step)
		}
		return edit(text, now)
	})
}

const exitStatus = `

Exit status: 0 success; 1 failure; 64 usage error.`

func newNew(a *app.App) *cobra.Command {
	description := ""
	c := &cobra.Command{
		Use: "new <chain>", Short: "Create a chain without actions", Long: "Create a chain without actions." + exitStatus,
		Example: "  brine chain new deploy-friday --description 'The Friday deployment'", ValidArgsFunction: app.NoCompletion,
	}
	c.Flags().StringVar(&description, "description", "", "what the chain is for")
	return command(a, c, 1, 1, "give the name of one chain", func(_ context.Context, st *chain.Store, args []string) error {
		if err := chain.CheckName(args[0]); err != nil {
			return err
		}
		text, err := chain.New(description)
		if err != nil {
			return err
		}
		if err := st.Write(args[0], nil, text); err != nil {
			return err
		}
		fmt.Fprintln(a.Out, printable.Line(st.Path(args[0])))
		return nil
	})
}

type addOptions struct {
	on, pillar, dest, event string
	place                   int
	timeout                 int64
	test                    bool
}

func newAdd(a *app.App) *cobra.Command {
	o := &addOptions{}
	c := &cobra.Command{
		Use:   "add <chain> <action> [<argument>...]",
		Short: "Add an action to a chain",
		Long: `Add an action to a chain, at its end or at --place. The actions are:

  pkg <package>[=<version>]...   install packages
  cmd <command>                  run a command
  state <sls>...                 apply SLS files
  highstate                      apply the highstate
  formula <sls>                  apply a formula, with values by --pillar
  reboot                         reboot and wait until the targets are back
  upgrade [<package>...]         upgrade packages (default: all)
  wait <seconds>                 wait; or, with --event and --on, for an event
  config <directory>             copy a directory of the tree to /, or to --dest
  orchestrate <sls>...           run orchestrations of the tree, on their own targets` + exitStatus,
		Example: `  brine chain add deploy-friday pkg nginx=1.24 --on 'web*'
  brine chain add deploy-friday formula nginx --pillar '{nginx: {workers: 4}}' --on G@role:web
  brine chain add deploy-friday reboot --on web1,web2 --timeout 900`,
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return completeNames(a)(c, args, prefix)
			case 1:
				return app.Begins(chain.Kinds(), prefix), cobra.ShellCompDirectiveNoFileComp
			}
			switch args[1] {
			case chain.State, chain.Formula, chain.Orchestrate:
				return complete.SLS(a)(c, nil, prefix)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := c.Flags()
	f.StringVar(&o.on, "on", "", "targets: a glob, IDs with commas, or an expression with its letter (G@os:Debian)")
	f.StringVar(&o.pillar, "pillar", "", "values for the pillar of the targets, a mapping")
	f.StringVar(&o.dest, "dest", "", "target directory of config (default: /)")
	f.StringVar(&o.event, "event", "", "glob for the tag of the event to wait for")
	f.IntVar(&o.place, "place", 0, "position of the new step (default: at the end)")
	f.Int64Var(&o.timeout, "timeout", 0, "time limit of reboot and wait, in seconds (default: 300)")
	f.BoolVar(&o.test, "test", false, "only show what the states would change")
	return command(a, c, 2, -1, "give a chain and an action; there are "+strings.Join(chain.Kinds(), ", "), func(_ context.Context, st *chain.Store, args []string) error {
		step, err := o.step(c, args[1], args[2:])
		if err != nil {
			return err
		}
		return change(st, args[0], func(ch *chain.Chain, text []byte) ([]byte, error) { return ch.Add(text, o.place, step) })
	})
}

// step makes a step of the arguments of chain add. What a kind of action needs is
// checked when the chain is read again.
func (o *addOptions) step(c *cobra.Command, action string, args []string) (*chain.Step, error) {
	if kinds := chain.Kinds(); !slices.Contains(kinds, action) {
		return nil, app.Usagef(c, "unknown action %q%s; there are %s", action, source.DidYouMean(action, kinds), strings.Join(kinds, ", "))
	}
	if o.on == "" && chain.NeedsTargets(action) {
		return nil, app.Usagef(c, "%s needs targets: give them with --on, such as --on 'web*'", action)
	}
	s := &chain.Step{Action: action, On: o.on, Dest: o.dest, Event: o.event, Timeout: o.timeout, Test: o.test}
	if o.pillar != "" {
		v, err := yamlsalt.LoadString(o.pillar)
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			return nil, app.Usagef(c, "--pillar must be a mapping, such as '{nginx: {workers: 4}}'")
		}
		s.Pillar = m
	}
	one := func(at *string) error {
		if len(args) != 1 {
			return app.Usagef(c, "%s takes one argument", action)
		}
		*at = args[0]
		return nil
	}
	switch action {
	case chain.Package, chain.Upgrade:
		s.Packages = value.NewMap(len(args))
		for _, x := range args {
			name, version, _ := strings.Cut(x, "=")
			s.Packages.Set(name, version)
		}
		return s, nil
	case chain.Command:
		return s, one(&s.Command)
	case chain.State, chain.Orchestrate:
		s.SLS = args
		return s, nil
	case chain.Formula:
		s.SLS = make([]string, 1)
		return s, one(&s.SLS[0])
	case chain.Config:
		return s, one(&s.Source)
	case chain.Wait:
		if o.event != "" && len(args) == 0 {
			return s, nil
		}
		var text string
		if err := one(&text); err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, app.Usagef(c, "wait takes a number of seconds, not %q", text)
		}
		s.Seconds = n
		return s, nil
	}
	if len(args) > 0 {
		return nil, app.Usagef(c, "%s takes no arguments", action)
	}
	return s, nil
}

func newList(a *app.App) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the chains", Long: "List the chains: name, number of steps and description." + exitStatus}
	return command(a, c, 0, 0, "no arguments are taken", func(_ context.Context, st *chain.Store, _ []string) error {
		names, err := st.Names()
		if err != nil {
			return err
		}
		if len(names) == 0 {
			fmt.Fprintf(a.Err, "brine: there are no chains in %s\n", printable.Line(st.Dir))
		}
		var faults []error
		w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
		for _, n := range names {
			ch, _, err := st.Read(n)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			fmt.Fprintf(w, "%s\t%d step%s\t%s\n", n, len(ch.Steps), value.Plural(len(ch.Steps)), printable.Line(ch.Description))
		}
		return errors.Join(append([]error{w.Flush()}, faults...)...)
	})
}

func newShow(a *app.App) *cobra.Command {
	c := &cobra.Command{Use: "show <chain>", Short: "Show the steps of a chain", Long: "Show the steps of a chain with their numbers." + exitStatus}
	return command(a, c, 1, 1, "give the name of one chain", func(_ context.Context, st *chain.Store, args []string) error {
		ch, _, err := library.ReadChain(st, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "%s\n", ch.Name)
		if ch.Description != "" {
			fmt.Fprintf(a.Out, "  %s\n", printable.Line(ch.Description))
		}
		for i := range ch.Steps {
			fmt.Fprintf(a.Out, "  %d. %s\n", i+1, printable.Line(ch.Steps[i].Summary()))
		}
		return nil
	})
}

func newMove(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "move <chain> <step> <place>", Short: "Move a step of a chain", Long: "Move a step of a chain to another place." + exitStatus,
		Example: "  brine chain move deploy-friday 3 1",
	}
	return command(a, c, 3, 3, "give a chain, the number of a step, and its new number", func(_ context.Context, st *chain.Store, args []string) error {
		return changeStep(st, args[0], args[1], func(text []byte, step string) ([]byte, error) { return chain.Move(text, step, args[2]) })
	})
}

func newRm(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "rm <chain> <step>", Short: "Remove a step of a chain", Long: "Remove a step of a chain. 'brine chain delete' removes a whole chain." + exitStatus,
		Example: "  brine chain rm deploy-friday 2",
	}
	return command(a, c, 2, 2, "give a chain and the number of a step", func(_ context.Context, st *chain.Store, args []string) error {
		return changeStep(st, args[0], args[1], chain.Remove)
	})
}

func newClone(a *app.App) *cobra.Command {
	c := &cobra.Command{Use: "clone <chain> <new name>", Short: "Copy a chain", Long: "Copy a chain under another name." + exitStatus}
	return command(a, c, 2, 2, "give a chain and the name of the copy", func(_ context.Context, st *chain.Store, args []string) error {
		if err := chain.CheckName(args[1]); err != nil {
			return err
		}
		_, text, err := library.ReadChain(st, args[0])
		if err != nil {
			return err
		}
		return st.Write(args[1], nil, text)
	})
}

func newRename(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "rename <chain> <new name>", Short: "Give a chain another name",
		Long: `Give a chain another name. The records of its executions stay under the old name. A
chain that is scheduled cannot be renamed: cancel its runs first.` + exitStatus,
		Example: "  brine chain rename deploy-friday deploy-weekly",
	}
	return command(a, c, 2, 2, "give a chain and its new name", func(ctx context.Context, st *chain.Store, args []string) error {
		text, err := unscheduled(ctx, a, st, args[0])
		if err != nil {
			return err
		}
		return st.Rename(args[0], args[1], text, text)
	})
}

func newDelete(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "delete <chain>", Short: "Delete a chain",
		Long: `Delete a chain. The records of its executions stay. A chain that is scheduled cannot
be deleted: cancel its runs first.` + exitStatus,
	}
	return command(a, c, 1, 1, "give the name of one chain", func(ctx context.Context, st *chain.Store, args []string) error {
		text, err := unscheduled(ctx, a, st, args[0])
		if err != nil {
			return err
		}
		return st.Delete(args[0], text)
	})
}

// unscheduled returns the text of a chain, right or not. It fails if the chain is to
// run later: the timer has its name.
func unscheduled(ctx context.Context, a *app.App, st *chain.Store, name string) ([]byte, error) {
	_, text, err := library.ReadChain(st, name)
	if err != nil && text == nil {
		return nil, err
	}
	x := library.TimersOf(a.Host)
	_, tree, err := x.Place(st)
	if err != nil {
		return nil, err
	}
	all, err := x.List(ctx, tree)
	if err != nil { // where nobody can be asked, nothing runs later
		fmt.Fprintf(a.Err, "brine: warning: %s\n", printable.Line(err.Error()))
	}
	for _, t := range all {
		if t.Chain == name {
			err = fmt.Errorf("chain %s is scheduled to run at %s", name, t.At.Local().Format(time.DateTime))
			return nil, &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "'brine chain schedule --cancel " + t.ID + "' cancels it"}
		}
	}
	return text, nil
}

// resolve finds the ids of the targets of each step, by its number.
func resolve(ctx context.Context, env *fun.Env, c *chain.Chain) (map[int][]string, error) {
	out := map[int][]string{}
	targets := c.Targets()
	for n := range len(c.Steps) {
		e, ok := targets[n+1]
		if !ok {
			continue
		}
		ids, err := library.MatchAll(ctx, env, e)
		if err == nil && len(ids) == 0 {
			err = library.NothingMatches(ctx, env, e)
		}
		if err != nil {
			return nil, fmt.Errorf("chain %s, step %d: %w", c.Name, n+1, err)
		}
		out[n+1] = ids
		for k := range c.Steps[n].PillarFor.All() {
			if !slices.Contains(ids, value.Str(k)) {
				env.Warn(fun.Warning{Where: c.Steps[n].PillarFor.Pos(k).String(), Text: fmt.Sprintf("pillar_for: %s is not a target of step %d", value.Str(k), n+1)})
			}
		}
	}
	return out, nil
}

// chainSubject is a chain as the history names it.
func chainSubject(c *chain.Chain) *history.Subject {
	return &history.Subject{
		Kind: history.Chain, Name: c.Name, Description: c.Description, Source: c.Hash(), Notify: c.Notify,
		Step: func(id string) (label, target string) {
			if s := c.StepOf(id); s != nil {
				return s.Summary(), s.On
			}
			return "", ""
		},
	}
}
