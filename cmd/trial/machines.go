package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
		World: w, Pool: &machine.Pool{Host: a.Host, Dir: filepath.Join(dir, "machines"), Dial: o.dialer(a, w), ResetDir: w.Tree}, Driver: o.driver, Stubs: o.packages, Jobs: o.jobs, Given: map[string]string{}, Exe: exe, Codename: codename,
		Images: &machine.Images{Host: a.Host, Dir: filepath.Join(dir, "images"), Note: func(format string, args ...any) {
			fmt.Fprintf(a.Err, "brine: %s\n", printable.Line(fmt.Sprintf(format, args...)))
		}},
	}
	for system, path := range o.images {
		if strings.HasPrefix(path, machine.ReferencePrefix) {
			l.Given[system] = path
			continue
		}
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
	if o.shell {
		l.OnFailure = func(ctx context.Context, k trial.Kept) { shellOnFailure(ctx, a, k) }
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
	a.Printed = true
	if err := r.Write(a.Out, o.out); err != nil {
		fmt.Fprintf(a.Err, "brine: %s\n", printable.Line(err.Error()))
	}
	for _, k := range kept {
		for _, m := range k.Machines {
			fmt.Fprintf(a.Err, "brine: %s is kept until Ctrl-C: %s: %s\n", printable.Line(k.Name()), m.Name, printable.Line(shellLine(m.Enter())))
		}
	}
	<-ctx.Done()
	a.Intr.Drain.Store(false) // this Ctrl-C interrupts nothing: the status is that of the tests
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
