package cmd

import (
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

	"brine/internal/core/host"
)

// Main runs the command line of the process and returns the exit status.
func Main() int {
	a := &App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Args: os.Args[1:], Program: filepath.Base(os.Args[0]), Getenv: os.Getenv,
		Host:     host.NewLocal(),
		Terminal: isatty.IsTerminal(os.Stdout.Fd()) || isatty.IsCygwinTerminal(os.Stdout.Fd()),
	}
	return a.Run()
}

// Commands returns brine with all its commands, for what describes them. They are
// not to be run.
func Commands() *cobra.Command {
	return newRootCmd(&App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }, Host: host.NewLocal()})
}

// Run runs the command line and returns the exit status.
func (a *App) Run() int {
	ctx, stop := a.signals(context.Background())
	defer stop()
	a.json = asksJSON(a.Args)
	root := a.root()
	c, _, ferr := root.Find(a.Args)
	if ferr != nil {
		c = root
	}
	a.addVersionFlag(root, c)
	var err error
	if ferr == nil && c.Flags().Lookup("args-stdin") != nil {
		if a.Args, err = a.argsFromStdin(a.Args); err != nil {
			return a.report(err)
		}
	}
	if root.Name() != "brine" {
		a.Args = expandFlags(root.Flags(), a.Args)
	}
	a.json = asksJSON(a.Args)
	root.SetArgs(a.Args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err = root.ExecuteContext(ctx)
	if errors.Is(err, errVersion) {
		return exitOK
	}
	if err == nil {
		err = a.late
	}
	if err == nil && a.intr.draining() && !a.intr.patient.Load() {
		err = errInterrupted
	}
	return a.report(err)
}

// root returns the command that this process is: brine, or the Salt program
// whose name it was started by. A link is one way to give the name, the first
// argument another: brine salt-call test.ping.
func (a *App) root() *cobra.Command {
	if len(a.Args) > 0 && (slices.Contains(saltPrograms[:], a.Args[0]) || slices.Contains(otherPrograms[:], a.Args[0])) {
		a.Program, a.Args = a.Args[0], a.Args[1:]
	}
	switch strings.TrimSuffix(a.Program, ".exe") {
	case "salt-call":
		return newCallCmd(a, asSalt)
	case "salt-run":
		return newRunCmd(a, asSalt)
	case "salt-ssh":
		return newSSHCmd(a, asSalt)
	case "salt":
		return newSaltCmd(a)
	}
	if strings.HasPrefix(a.Program, "salt-") || a.Program == "spm" {
		return noSuchProgram(a.Program)
	}
	return newRootCmd(a)
}

// noSuchProgram is brine started by the name of a Salt program that it is not:
// salt-key, salt-master and the like.
func noSuchProgram(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, SilenceUsage: true, SilenceErrors: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return &statusError{
				status: exitUsage, err: fmt.Errorf("brine cannot be %s: it has no masters, minions and keys", name),
				hint: "it can be " + strings.Join(saltPrograms[:], ", "),
			}
		},
	}
}

// newRootCmd returns brine with all its commands.
func newRootCmd(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "brine <command>",
		Short: "Run Salt states and orchestrations without Salt",
		Long: `brine reads the SLS trees that you have, renders and compiles them as Salt
does, and runs them on this machine or orchestrates many. There is no master,
no minion and no daemon.

If you start it through a link named salt, salt-call, salt-run or salt-ssh, it
behaves like that program.`,
		Example: `  brine init mytree
  brine call state.apply web test=True
  brine orchestrate orch.webserver
  brine doc file.managed`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.CompletionOptions.HiddenDefaultCmd = false
	c.SetFlagErrorFunc(flagError)
	c.SetHelpCommand(newHelpCmd())
	c.AddCommand(
		newAgentCmd(a),
		newApplyCmd(a, newRootCmd),
		newCallCmd(a, asBrine),
		newChainCmd(a),
		newCheckCmd(a),
		newDocCmd(a),
		newDocsCmd(a),
		newFunctionsCmd(a),
		newFormulaCmd(a),
		newGraphCmd(a),
		newInitCmd(a),
		newLintCmd(a),
		newLSPCmd(a),
		newOrchestrateCmd(a),
		newPlanCmd(a),
		newPongoCmd(a), newStarlarkCmd(a),
		newPythonPathCmd(a),
		newRunCmd(a, asBrine),
		newScheduleCmd(a),
		newSSHCmd(a, asBrine),
		newTemplateCmd(a),
		newUICmd(a),
		newVersionCmd(a),
		newWorkerCmd(a),
	)
	for _, sub := range c.Commands() {
		if sub.HasSubCommands() && sub.Args == nil {
			sub.Args = unknownCommand
		}
	}
	c.InitDefaultCompletionCmd()
	if comp, _, err := c.Find([]string{"completion"}); err == nil && comp != c {
		comp.Args = unknownCommand
		comp.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	return c
}

// newHelpCmd returns the command help, for which a name that is none is a fault.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use: "help [<command>...]", Short: "Print the help of a command",
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if at, _, err := c.Root().Find(args); err == nil {
				for _, sub := range at.Commands() {
					if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), prefix) {
						names = append(names, sub.Name())
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			of := c.Root()
			for _, name := range args {
				next, rest, err := of.Find([]string{name})
				if err != nil || next == of || len(rest) > 0 {
					return unknownCommand(of, []string{name})
				}
				of = next
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}
