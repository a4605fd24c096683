package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"brine/cmd/app"
	"brine/internal/core/printable"
	"brine/internal/fleet/machine"
	"brine/internal/py/source"
	"brine/internal/view/casefile"
	"brine/internal/view/lint"
	"brine/internal/view/trial"
)

// newLogin returns "brine test login".
func newLogin(a *app.App) *cobra.Command {
	o := &options{}
	tree := "."
	c := &cobra.Command{
		Use:   "login <case> [<machine>]",
		Short: "Open a shell on a machine that a case was applied to",
		Long: `Apply a case to a fresh machine, with all its checks, and open a shell there. The
machine is thrown away when the shell ends. Of a case with several machines, name the
one that you want; the default is the controller.

Exit status: 0 all checks passed; 1 a check failed or there is no machine; 64 usage
error.`,
		Example: `  brine test login default
  brine test login default --system debian-12
  brine test login deploy web1`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return app.Usagef(c, "a case is needed, and possibly a machine of it; %d arguments were given", len(args))
			}
			if o.driver != "" && !slices.Contains(driverNames(), o.driver) {
				return app.Usagef(c, "--driver: %s", driverFault(o.driver))
			}
			if err := o.checkPackages(c); err != nil {
				return err
			}
			o.cases = args[:1]
			return o.login(c.Context(), a, tree, args[1:])
		},
		ValidArgsFunction: app.NoCompletion,
	}
	f := c.Flags()
	f.SetNormalizeFunc(app.SaltSpelling)
	f.StringVar(&tree, "tree", ".", "directory of the tree")
	f.StringSliceVar(&o.systems, "system", nil, "on this system (default: the first of the case)")
	f.StringToStringVar(&o.images, "image", nil, "make the machine of SYSTEM from the directory or archive at PATH")
	f.StringSliceVar(&o.packages, "package", nil, "let the machine install an empty package of this name; may be repeated")
	f.BoolVar(&o.network, "network", false, "give the machine the network of this one, as network: true in a case does")
	f.StringVar(&o.roster, "hosts", "", "with the driver ssh: the roster of the hosts")
	f.StringVar(&o.driver, "driver", "", "make the machine by this driver: "+strings.Join(driverNames(), ", "))
	_ = c.RegisterFlagCompletionFunc("driver", cobra.FixedCompletions(driverNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("system", cobra.FixedCompletions(lint.SystemNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// login opens a shell on a machine of the first job that is selected.
func (o *options) login(ctx context.Context, a *app.App, tree string, of []string) error {
	tree, err := treeOf([]string{tree})
	if err != nil {
		return err
	}
	w, suite, jobs, err := o.matrix(a, tree)
	if err != nil {
		return err
	}
	name, err := machineOf(jobs[0].Case, of)
	if err != nil {
		return err
	}
	l, err := o.newLab(a, w)
	if err != nil {
		return err
	}
	r := &trial.Report{Suite: suite, Name: a.NameOf}
	l.Hold = func(ctx context.Context, kept []trial.Kept) {
		for _, m := range kept[0].Machines {
			if name == "" || m.Name == name {
				shell(ctx, a, kept[0].Name(), m)
				return
			}
		}
	}
	if r.Results, err = trial.Apply(ctx, l, jobs[:1]); errors.Is(err, context.Canceled) {
		return o.interrupted(r.Results)
	} else if err != nil {
		return explain(err)
	}
	if err := r.Write(a.Err, "text"); err != nil {
		return err
	}
	if r.Failed() {
		return app.Silent(app.ExitGeneric)
	}
	return nil
}

// machineOf returns the name of the machine of a case that the command line names; "" is
// the only one.
func machineOf(c *casefile.Case, of []string) (string, error) {
	names := []string{casefile.Controller}
	for _, n := range c.Nodes {
		names = append(names, n.Name)
	}
	switch {
	case len(c.Nodes) == 0 && len(of) == 0:
		return "", nil
	case len(c.Nodes) == 0:
		return "", &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("the case %s has one machine, without a name: leave %q away", c.Name, of[0])}
	case len(of) == 0:
		return casefile.Controller, nil
	}
	for _, n := range names {
		if n == of[0] {
			return n, nil
		}
	}
	return "", &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("the case %s has no machine %q%s: there are %s",
		c.Name, of[0], source.DidYouMean(of[0], names), strings.Join(names, ", "))}
}

// shell opens a shell on a machine.
func shell(ctx context.Context, a *app.App, job string, m *machine.Machine) {
	fmt.Fprintf(a.Err, "brine: a shell on %s of %s; the machine is thrown away when it ends\n", m.Name, printable.Line(job))
	c := m.Shell(a.Getenv("TERM"))
	c.Foreground, c.Stdin, c.Stdout, c.Stderr = true, a.In, a.Out, a.Err
	defer takeTerminal(a.In)
	if _, err := a.Host.Run(ctx, c); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(a.Err, "brine: %s\n", printable.Line(err.Error()))
	}
}

// takeTerminal makes brine what the terminal sends Ctrl-C to again: a shell with process
// groups of its own leaves it to the last of them. If in is not a terminal, nothing is
// changed.
func takeTerminal(in io.Reader) {
	if f, ok := in.(*os.File); ok {
		signal.Ignore(syscall.SIGTTOU)
		defer signal.Reset(syscall.SIGTTOU)
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCSPGRP, unix.Getpgrp())
	}
}

// shellOnFailure shows what failed of a job, and opens a shell on each of its machines
// on which something failed, else on the first.
func shellOnFailure(ctx context.Context, a *app.App, k trial.Kept) {
	r := &trial.Report{Name: a.NameOf, Results: []*trial.Result{k.Result}}
	if err := r.Write(a.Err, "text"); err != nil || len(k.Machines) == 0 {
		return
	}
	for _, m := range k.Failing() {
		shell(ctx, a, k.Name(), m)
	}
}
