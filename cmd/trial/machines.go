package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/fleet/machine"
	"brine/internal/view/lint"
	"brine/internal/view/trial"
)

func driverNames() []string {
	var names []string
	for _, d := range machine.Drivers() {
		names = append(names, d.Name)
	}
	return names
}

// newLab returns what makes machines.
func (o *options) newLab(a *app.App, w *trial.World) (*trial.Lab, error) {
	exe, err := host.Executable()
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the cache directory: %w", err)
	}
	dir := filepath.Join(cache, "brine", "test")
	l := &trial.Lab{
		World: w, Pool: &machine.Pool{Host: a.Host, Dir: filepath.Join(dir, "machines")}, Driver: o.driver, Jobs: o.jobs, Given: map[string]string{}, Exe: exe, Codename: codename,
		Images: &machine.Images{Host: a.Host, Dir: filepath.Join(dir, "images"), Note: func(format string, args ...any) {
			fmt.Fprintf(a.Err, "brine: %s\n", printable.Line(fmt.Sprintf(format, args...)))
		}},
	}
	for system, path := range o.images {
		if l.Given[system], err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	owners, err := l.Pool.Clean()
	for _, pid := range owners {
		fmt.Fprintf(a.Err, "brine: removed the machines that process %s left when it was killed\n", printable.Line(pid))
	}
	return l, err
}

// codename returns the code name of the release of a system that mmdebstrap can install.
func codename(system string) string {
	s, ok := lint.SystemNamed(system)
	if !ok || s.Grains.Str("os_family") != "Debian" {
		return ""
	}
	return s.Grains.Str("oscodename")
}

// apply tests jobs on machines.
func (o *options) apply(ctx context.Context, a *app.App, w *trial.World, jobs []trial.Job) ([]*trial.Result, error) {
	l, err := o.newLab(a, w)
	if err != nil {
		return nil, err
	}
	n := 0
	l.Done = func(r *trial.Result) {
		n++
		word := "ok"
		if r.Failed() {
			word = "FAILED"
		}
		fmt.Fprintf(a.Err, "brine: %d of %d: %s: %s (%.1f s)\n", n, len(jobs), printable.Line(r.Name()), word, r.Took.Seconds())
	}
	if o.keep {
		l.Hold = func(ctx context.Context, kept []trial.Kept) { o.hold(ctx, a, kept) }
	}
	results, err := trial.Apply(ctx, l, jobs)
	return results, explain(err)
}

// hold prints the report and how to enter the machines, and waits for Ctrl-C.
func (o *options) hold(ctx context.Context, a *app.App, kept []trial.Kept) {
	r := &trial.Report{Name: a.NameOf}
	for _, k := range kept {
		r.Results = append(r.Results, k.Result)
	}
	if err := r.Write(a.Out, o.out); err != nil {
		fmt.Fprintf(a.Err, "brine: %s\n", printable.Line(err.Error()))
	}
	for _, k := range kept {
		if k.Machine != nil {
			fmt.Fprintf(a.Err, "brine: %s is kept until Ctrl-C: %s\n", printable.Line(k.Name()), printable.Line(shellLine(k.Machine.Enter())))
		}
	}
	<-ctx.Done()
}

// shellLine is a command as a person types it.
func shellLine(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = app.ShellWord(w)
	}
	return strings.Join(words, " ")
}

// explain adds what to do to an error of machines.
func explain(err error) error {
	var hint string
	if errors.Is(err, context.Canceled) {
		return &app.StatusError{Status: app.ExitInterrupted, Err: errors.New("interrupted: the machines were removed")}
	}
	if e, ok := errors.AsType[*machine.UnusableError](err); ok {
		hint = e.Hint
	} else if e, ok := errors.AsType[*machine.NoImageError](err); ok {
		hint = e.Hint
	} else {
		return err
	}
	return &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: hint}
}

// newLogin returns "brine test login".
func newLogin(a *app.App) *cobra.Command {
	o := &options{jobs: 1}
	tree := "."
	c := &cobra.Command{
		Use:   "login <case>",
		Short: "Open a shell on a machine that a case was applied to",
		Long: `Apply a case to a fresh machine, with all its checks, and open a shell there. The
machine is thrown away when the shell ends.

Exit status: 0 all checks passed; 1 a check failed or there is no machine; 64 usage
error.`,
		Example: `  brine test login default
  brine test login default --system debian-12`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return app.Usagef(c, "one case is needed, %d were given", len(args))
			}
			o.cases = args
			return o.login(c.Context(), a, tree)
		},
		ValidArgsFunction: app.NoCompletion,
	}
	f := c.Flags()
	f.SetNormalizeFunc(app.SaltSpelling)
	f.StringVar(&tree, "tree", ".", "directory of the tree")
	f.StringSliceVar(&o.systems, "system", nil, "on this system (default: the first of the case)")
	f.StringToStringVar(&o.images, "image", nil, "make the machine of SYSTEM from the directory or archive at PATH")
	f.StringVar(&o.driver, "driver", "", "make the machine by this driver: "+strings.Join(driverNames(), ", "))
	_ = c.RegisterFlagCompletionFunc("driver", cobra.FixedCompletions(driverNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("system", cobra.FixedCompletions(lint.SystemNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// login opens a shell on the machine of the first job that is selected.
func (o *options) login(ctx context.Context, a *app.App, tree string) error {
	tree, err := treeOf([]string{tree})
	if err != nil {
		return err
	}
	w, suite, jobs, err := o.matrix(a, tree)
	if err != nil {
		return err
	}
	l, err := o.newLab(a, w)
	if err != nil {
		return err
	}
	r := &trial.Report{Suite: suite, Name: a.NameOf}
	l.Hold = func(ctx context.Context, kept []trial.Kept) {
		if kept[0].Machine == nil {
			return
		}
		fmt.Fprintf(a.Err, "brine: a shell on %s; the machine is thrown away when it ends\n", printable.Line(kept[0].Name()))
		c := host.Cmd{Argv: kept[0].Machine.Enter(), Foreground: true, Stdin: a.In, Stdout: a.Out, Stderr: a.Err}
		if _, err := a.Host.Run(ctx, c); err != nil {
			fmt.Fprintf(a.Err, "brine: %s\n", printable.Line(err.Error()))
		}
	}
	if r.Results, err = trial.Apply(ctx, l, jobs[:1]); err != nil {
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
