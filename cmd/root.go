// Package cmd is the command line of brine. Start at [Main].
//
// Each command is a package under it, which has its options, its constructor and
// what runs it, and which no other command imports. They stand on cmd/app (the
// process), cmd/session (one run) and small packages for what several commands do.
package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"brine/cmd/agent"
	"brine/cmd/app"
	"brine/cmd/approval"
	"brine/cmd/beacon"
	"brine/cmd/call"
	"brine/cmd/chain"
	"brine/cmd/check"
	"brine/cmd/doc"
	"brine/cmd/docs"
	"brine/cmd/formula"
	"brine/cmd/graph"
	"brine/cmd/history"
	"brine/cmd/kept"
	"brine/cmd/lint"
	"brine/cmd/lsp"
	"brine/cmd/notify"
	"brine/cmd/orchestrate"
	"brine/cmd/plan"
	"brine/cmd/pythonpath"
	"brine/cmd/react"
	"brine/cmd/recurring"
	"brine/cmd/run"
	"brine/cmd/sandbox"
	"brine/cmd/scaffold"
	"brine/cmd/schedule"
	"brine/cmd/ssh"
	"brine/cmd/template"
	"brine/cmd/trial"
	"brine/cmd/ui"
	"brine/cmd/undo"
	"brine/cmd/version"
	"brine/cmd/worker"
	"brine/internal/core/host"
)

// otherPrograms are those of Salt's programs that brine is not.
var otherPrograms = [...]string{
	"salt-api", "salt-cloud", "salt-cp", "salt-extend", "salt-key", "salt-master", "salt-minion", "salt-pip", "salt-proxy",
	"salt-support", "salt-syndic", "salt-unity", "spm",
}

// insteadOf says what brine has instead of some of them.
var insteadOf = map[string]string{
	"salt-api":    "'brine ui' serves pages, and a program can start brine with --out=json",
	"salt-cp":     "brine ssh TARGET cp.get_file SOURCE DESTINATION copies a file of the tree",
	"salt-key":    "targets are reached over SSH: ~/.ssh/known_hosts has their keys, and --host-keys says which are accepted",
	"salt-minion": "'brine call state.apply' applies the states of this machine; 'brine schedule' does so regularly",
	"salt-pip":    "custom modules run with the Python of the machine: install packages there",
	"spm":         "'brine formula' adds formulas of known versions to a tree",
}

// asksJSON reports whether a command line asks for JSON: known before flags
// are parsed, since a fault in them is reported as JSON, too.
func asksJSON(args []string) bool {
	asked := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, v, ok := strings.Cut(arg, "=")
		if name != "--out" && name != "--output" {
			continue
		}
		if !ok && i+1 < len(args) {
			v = args[i+1]
		}
		asked = v // the last one holds
	}
	return asked == "json"
}

// Main runs the command line of the process and returns the exit status.
func Main() int { return MainOn(host.NewLocal()) }

// MainOn is [Main] on a machine, of which tests give another one.
func MainOn(h host.Host) int {
	a := &app.App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Args: os.Args[1:], Program: filepath.Base(os.Args[0]), Getenv: os.Getenv,
		Host:     h,
		Terminal: isatty.IsTerminal(os.Stdout.Fd()) || isatty.IsCygwinTerminal(os.Stdout.Fd()),
	}
	status := execute(a)
	if a.OnExit != nil {
		a.OnExit(status)
	}
	return status
}

// Commands returns brine with all its commands, for what describes them. They are
// not to be run.
func Commands() *cobra.Command {
	return newRootCmd(&app.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }, Host: host.NewLocal()})
}

// execute runs the command line and returns the exit status.
func execute(a *app.App) int {
	ctx, stop := a.Signals(context.Background())
	defer stop()
	a.JSON = asksJSON(a.Args)
	root := rootOf(a)
	c, _, ferr := root.Find(a.Args)
	if ferr != nil {
		c = root
	}
	addVersionFlag(a, root, c)
	if root.Name() == "brine" {
		if err := mistaken(a, root, c); err != nil {
			return a.Report(err)
		}
	}
	var err error
	if ferr == nil && c.Flags().Lookup("args-stdin") != nil {
		if a.Args, err = a.ArgsFromStdin(a.Args); err != nil {
			return a.Report(err)
		}
	}
	if root.Name() != "brine" {
		a.Args = app.ExpandFlags(root.Flags(), a.Args)
	}
	a.JSON = asksJSON(a.Args)
	root.SetArgs(a.Args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err = root.ExecuteContext(ctx)
	if errors.Is(err, errVersion) {
		return app.ExitOK
	}
	if err != nil && root.Name() == "brine" {
		if better := betterFault(a, root, c, err); better != nil {
			err = better
		}
	}
	if err == nil {
		err = a.Late
	}
	if err == nil && a.Intr.Draining() && !a.Intr.Patient.Load() {
		err = app.ErrInterrupted
	}
	return a.Report(err)
}

// mistaken returns the fault of a command line that is not to be run: what it would do is
// not what is meant.
func mistaken(a *app.App, root, c *cobra.Command) error {
	if c == root {
		return misplaced(a, root, a.Args)
	}
	if err := app.CheckHabits(c, a.Args); err != nil {
		return err
	}
	return betterFault(a, root, c, nil)
}

// rootOf returns the command that this process is: brine, or the Salt program
// whose name it was started by. A link is one way to give the name, the first
// argument another: brine salt-call test.ping.
func rootOf(a *app.App) *cobra.Command {
	if len(a.Args) > 0 && (slices.Contains(app.SaltPrograms[:], a.Args[0]) || slices.Contains(otherPrograms[:], a.Args[0])) {
		a.Program, a.Args = a.Args[0], a.Args[1:]
	}
	var c *cobra.Command
	switch strings.TrimSuffix(a.Program, ".exe") {
	case "salt-call":
		c = call.New(a, app.AsSalt, nil)
	case "salt-run":
		c = run.New(a, app.AsSalt, nil)
	case "salt-ssh":
		c = ssh.New(a, app.AsSalt, nil)
	case "salt":
		c = ssh.NewSalt(a, nil)
	}
	if c != nil {
		fitHelp(a, c)
		return c
	}
	if strings.HasPrefix(a.Program, "salt-") || a.Program == "spm" {
		return noSuchProgram(a.Program)
	}
	return newRootWith(a, enough(a.Args))
}

// noSuchProgram is brine started by the name of a Salt program that it is not:
// salt-key, salt-master and the like.
func noSuchProgram(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, SilenceUsage: true, SilenceErrors: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return &app.StatusError{
				Status: app.ExitUsage, Err: fmt.Errorf("brine cannot be %s: it has no masters, minions and keys", name),
				Hint: cmp.Or(insteadOf[name], "it can be "+strings.Join(app.SaltPrograms[:], ", ")),
			}
		},
	}
}

// newRootCmd returns brine with all its commands.
func newRootCmd(a *app.App) *cobra.Command { return newRootWith(a, nil) }

// newRootWith returns brine with the commands of these names; nil are all.
func newRootWith(a *app.App, only []string) *cobra.Command {
	c := &cobra.Command{
		Use:   "brine <command>",
		Short: "Run Salt states and orchestrations without Salt",
		Long: `brine runs Salt's SLS trees on this machine and orchestrates many: no master,
no minion, no daemon. Through a link named salt, salt-call, salt-run or
salt-ssh, it behaves like that program.`,
		Example: `  brine init mytree
  brine call state.apply web test=True
  brine orchestrate orch.webserver
  brine doc file.managed`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          app.UnknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.CompletionOptions.HiddenDefaultCmd = false
	c.SetFlagErrorFunc(app.FlagError)
	c.SetHelpCommand(newHelpCmd(a))
	fitHelp(a, c)
	for _, k := range commands() {
		if only == nil || slices.Contains(only, k.name) {
			app.AddCommands(c, k.make(a))
		}
	}
	c.InitDefaultHelpCmd()
	c.InitDefaultCompletionCmd()
	if comp, _, err := c.Find([]string{"completion"}); err == nil && comp != c {
		comp.Args = app.UnknownCommand
		comp.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	return c
}

// A known command is one of brine's: its name, and what makes it with its flags.
type known struct {
	name string
	make func(*app.App) *cobra.Command
}

// commands returns all commands of brine, none of them made yet.
func commands() []known {
	return []known{
		{"agent", plain(agent.New)},
		{"apply", func(a *app.App) *cobra.Command { return plan.NewApply(a, newRootCmd, planned(), nil) }},
		{"call", func(a *app.App) *cobra.Command { return call.New(a, app.AsBrine, nil) }},
		{"chain", chain.New},
		{"check", plain(check.New)},
		{"doc", plain(doc.New)},
		{"docs", plain(docs.New)},
		{"functions", plain(doc.NewFunctions)},
		{"formula", formula.New},
		{"graph", plain(graph.New)},
		{"history", history.New},
		{kept.Name, func(a *app.App) *cobra.Command { return kept.New(a, newRootCmd) }},
		{"init", scaffold.New},
		{"lint", plain(lint.New)},
		{"lsp", plain(lsp.New)},
		{"notify", plain(notify.New)},
		{"orchestrate", plain(orchestrate.New)},
		{"plan", func(a *app.App) *cobra.Command { return plan.New(a, planned(), nil) }},
		{sandbox.Pongo, sandbox.NewPongo},
		{sandbox.Starlark, sandbox.NewStarlark},
		{sandbox.Keeper, sandbox.NewKeeper},
		{"python-path", plain(pythonpath.New)},
		{"react", plain(react.New)},
		{"run", func(a *app.App) *cobra.Command { return run.New(a, app.AsBrine, nil) }},
		{"recurring", plain(recurring.New)},
		{"approval", plain(approval.New)},
		{"schedule", schedule.New},
		{"beacon", beacon.New},
		{"ssh", func(a *app.App) *cobra.Command { return ssh.New(a, app.AsBrine, nil) }},
		{"template", template.New},
		{"test", plain(trial.New)},
		{"ui", plain(ui.New)},
		{"undo", func(a *app.App) *cobra.Command { return undo.New(a, newRootCmd, nil) }},
		{"version", version.New},
		{"worker", plain(worker.New)},
	}
}

// plain is the constructor of a command whose last argument is for its tests.
func plain[F any](make func(*app.App, F) *cobra.Command) func(*app.App) *cobra.Command {
	return func(a *app.App) *cobra.Command {
		var none F
		return make(a, none)
	}
}

// enough returns the names of the commands that a command line needs, or nil for all of
// them: making a command with its flags costs memory that each start would pay for. What
// is not exactly the name of a command is for help, completion, or a mistake, for which
// all are looked through.
func enough(args []string) []string {
	if len(args) == 0 || !slices.ContainsFunc(commands(), func(k known) bool { return k.name == args[0] }) {
		return nil
	}
	if slices.Contains(commandsOfFunctions, args[0]) {
		return commandsOfFunctions // a mistake in one may be meant for another
	}
	return args[:1]
}

// planned are the definitions that brine plan and brine apply make plans of.
func planned() plan.Definitions {
	return plan.Definitions{Chain: chain.Planned, Template: template.Planned}
}
