package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/internal/core/agents"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/fleet/machine"
	"brine/internal/py/source"
	"brine/internal/view/casefile"
	"brine/internal/view/trial"
)

func driverNames() []string {
	var names []string
	for _, d := range machine.Drivers() {
		names = append(names, d.Name)
	}
	return names
}

// notThere are drivers that somebody may look for, and what to do instead.
var notThere = map[string]string{
	"incus": asGiven, "libvirt": asGiven, "lxc": asGiven, "lxd": asGiven, "qemu": asGiven, "vagrant": asGiven, "virsh": asGiven,
	"chroot": "its name is namespace", "dokken": "use docker", "local": "tests never change this machine: use namespace, or ssh with a machine that you can lose",
}

const asGiven = "make the machines yourself, and use the driver ssh with a reset command"

// driverFault says why a driver is not there.
func driverFault(name string) string {
	if why := notThere[name]; why != "" {
		return fmt.Sprintf("there is no driver %q: %s", name, why)
	}
	return fmt.Sprintf("%q is not one of %s%s", name, strings.Join(driverNames(), ", "), source.DidYouMean(name, driverNames()))
}

// checkDrivers complains of drivers of cases that are not there, also where no machine is
// made now.
func checkDrivers(s *casefile.Suite) error {
	var faults source.Errors
	for _, c := range s.Cases {
		if d := c.Machine.Driver; d != "" && !slices.Contains(driverNames(), d) {
			faults = append(faults, &source.Error{Pos: c.Pos, Err: fmt.Errorf("the driver of the case %s: %s", c.Name, driverFault(d))})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// checkImages complains of images of systems that no selected test has.
func (o *options) checkImages(jobs []trial.Job) error {
	var systems []string
	for _, j := range jobs {
		systems = append(systems, j.System)
		for _, n := range j.Case.Nodes {
			systems = append(systems, n.SystemOf(j.System))
		}
	}
	slices.Sort(systems)
	systems = slices.Compact(systems)
	for system, path := range o.images {
		if path == "" {
			return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--image: %s has no path", system)}
		}
		if !slices.Contains(systems, system) {
			return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--image: no test that is selected has the system %q%s: there are %s",
				system, source.DidYouMean(system, systems), strings.Join(systems, ", "))}
		}
	}
	return nil
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
		World: w, Pool: &machine.Pool{Host: a.Host, Dir: filepath.Join(dir, "machines"), Dial: o.dialer(a, w), ResetDir: w.Tree}, Driver: o.driver, Stubs: o.packages, Jobs: o.jobs, Given: map[string]string{}, Exe: exe, PlaceExe: agents.FS() == nil,
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
	if l.Lock, err = w.ReadLock(); err != nil {
		return nil, err
	}
	owners, err := l.Pool.Clean()
	for _, pid := range owners {
		fmt.Fprintf(a.Err, "brine: removed what process %s left when it was killed\n", printable.Line(pid))
	}
	return l, err
}

// lockImages writes which images the tests use.
func (o *options) lockImages(ctx context.Context, a *app.App, w *trial.World, jobs []trial.Job) error {
	l, err := o.newLab(a, w)
	if err != nil {
		return err
	}
	text, err := trial.UpdateImages(ctx, l, jobs)
	if err != nil {
		return explain(err)
	}
	if err := a.Host.WriteFile(l.Lock.Path, strings.NewReader(text), host.WriteOptions{}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "wrote %s\n", printable.Line(a.NameOf(l.Lock.Path)))
	return err
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
	if errors.Is(err, context.Canceled) {
		return results, o.interrupted(results)
	}
	return results, explain(err)
}

// interrupted says what Ctrl-C means for machines and given hosts.
func (o *options) interrupted(results []*trial.Result) error {
	text, left := "interrupted: the machines were removed", ""
	for _, r := range results {
		if r == nil {
			continue
		}
		if cmp.Or(o.driver, r.Case.Machine.Driver) == "ssh" {
			text = "interrupted: nothing of the tests runs on; given hosts are as the tests left them"
		}
		for _, l := range r.Left() {
			left += "\n" + l
		}
	}
	if left != "" {
		text = "interrupted, and not all is removed:" + left
	}
	return &app.StatusError{Status: app.ExitInterrupted, Err: errors.New(text)}
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
	} else if hint = machine.SpaceHint(err); hint == "" {
		return err
	}
	return &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: hint}
}
