package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
)

// An Installer hands jobs to systemd or to cron.
type Installer struct {
	Host host.Host
	// Exe is the brine that the jobs run, Config the configuration that it reads.
	Exe, Config string
	// UnitDir is where units are; "" is /etc/systemd/system.
	UnitDir string
}

// Which of the two an Installer uses.
const (
	Systemd = "systemd"
	Crontab = "cron"
)

// toolTime is how long systemctl and crontab may take.
const toolTime = time.Minute

// Kind returns Systemd or Crontab, or an error where this machine has neither.
// Timers of the system are root's; others have lines in their crontab.
func (in *Installer) Kind() (string, error) {
	if HasSystemd(in.Host) {
		return Systemd, nil
	}
	if _, err := in.Host.LookPath("crontab", ""); err == nil {
		return Crontab, nil
	}
	return "", fun.Errorf("this machine has neither systemd, for root, nor crontab: 'brine schedule run' runs the jobs in the foreground")
}

// A Change is what Install or Remove did with a job.
type Change struct{ Name, What string } // installed, updated, removed

// Install makes the timers or lines of the jobs those of this machine, and removes
// those of other jobs. A job that cannot be had is an error; the others are
// installed.
func (in *Installer) Install(ctx context.Context, jobs []*Job) ([]Change, error) {
	kind, err := in.Kind()
	if err != nil {
		return nil, err
	}
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j *Job) bool { return !j.Enabled })
	if kind == Systemd {
		return in.installUnits(ctx, jobs)
	}
	return in.installLines(ctx, jobs)
}

// Remove removes the timers or lines of jobs, by their names; others stay. It
// returns those that were there.
func (in *Installer) Remove(ctx context.Context, names []string) ([]Change, error) {
	kind, err := in.Kind()
	if err != nil {
		return nil, err
	}
	have, err := in.Installed(ctx)
	if err != nil {
		return nil, err
	}
	var changes []Change
	var units []string
	for _, name := range names {
		key := name
		if kind == Systemd {
			key = unitName(name)
		}
		if _, ok := have[key]; ok {
			changes, units = append(changes, Change{name, "removed"}), append(units, key)
			delete(have, key)
		}
	}
	switch {
	case len(changes) == 0:
		return nil, nil
	case kind == Systemd:
		if err := in.dropUnits(ctx, units); err != nil {
			return nil, err
		}
		return changes, in.files().Systemctl(ctx, "daemon-reload")
	}
	lines, _, err := in.crontab(ctx)
	if err != nil {
		return nil, err
	}
	rest := make([]string, 0, len(have))
	for name := range have {
		rest = append(rest, name)
	}
	slices.Sort(rest)
	for _, name := range rest {
		lines = append(lines, strings.TrimSuffix(have[name], "\n"))
	}
	return changes, in.writeCrontab(ctx, lines)
}

// Installed returns what is installed: the text of the units, or of the lines, by
// the name of the unit or the job.
func (in *Installer) Installed(ctx context.Context) (map[string]string, error) {
	kind, err := in.Kind()
	if err != nil {
		return nil, err
	}
	if kind == Systemd {
		return in.unitFiles()
	}
	_, lines, err := in.crontab(ctx)
	return lines, err
}

// State says how a job stands with what is installed: "", "installed" or
// "outdated".
func (in *Installer) State(installed map[string]string, j *Job) string {
	name, want := j.Name, ""
	if kind, _ := in.Kind(); kind == Systemd {
		name = unitName(j.Name)
		service, timer, err := j.units(in.Exe, in.Config)
		if err != nil {
			return ""
		}
		want = service + timer
	} else {
		lines, err := j.cronLines(in.Exe, in.Config)
		if err != nil {
			return ""
		}
		want = strings.Join(lines, "\n") + "\n"
	}
	switch have, ok := installed[name]; {
	case !ok:
		return ""
	case have == want:
		return "installed"
	}
	return "outdated"
}

// Show returns what a job is installed as: its units, or its lines.
func (in *Installer) Show(j *Job) (string, error) {
	kind, err := in.Kind()
	if err != nil {
		return "", err
	}
	if kind == Systemd {
		service, timer, err := j.units(in.Exe, in.Config)
		if err != nil {
			return "", err
		}
		at := filepath.Join(in.unitDir(), unitName(j.Name))
		return "# " + at + ".service\n" + service + "\n# " + at + ".timer\n" + timer, nil
	}
	lines, err := j.cronLines(in.Exe, in.Config)
	if err != nil {
		return "", err
	}
	return strings.Join(lines, "\n") + "\n", nil
}

func (in *Installer) unitDir() string {
	return cmp.Or(in.UnitDir, UnitDir)
}

// unitFiles returns the units of jobs: service and timer of each in one text.
func (in *Installer) unitFiles() (map[string]string, error) {
	names, err := in.Host.ReadDir(in.unitDir())
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, n := range names {
		name, ok := strings.CutSuffix(n, ".timer")
		if !ok || !strings.HasPrefix(name, unitPrefix) {
			continue
		}
		var text []byte
		for _, suffix := range []string{".service", ".timer"} {
			b, err := in.Host.ReadFile(filepath.Join(in.unitDir(), name+suffix))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			text = append(text, b...)
		}
		out[name] = string(text)
	}
	return out, nil
}

func (in *Installer) installUnits(ctx context.Context, jobs []*Job) ([]Change, error) {
	have, err := in.unitFiles()
	if err != nil {
		return nil, err
	}
	var (
		changes []Change
		errs    []error
		started []string
	)
	wanted := map[string]bool{}
	for _, j := range jobs {
		name := unitName(j.Name)
		service, timer, err := j.units(in.Exe, in.Config)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		wanted[name] = true
		what := "installed"
		if old, ok := have[name]; ok {
			if old == service+timer {
				continue
			}
			what = "updated"
		}
		if err := in.files().Write(map[string]string{name + ".service": service, name + ".timer": timer}); err != nil {
			return changes, fun.Errorf("scheduled job %q: %v", j.Name, err)
		}
		started = append(started, name+".timer")
		changes = append(changes, Change{j.Name, what})
	}
	var gone []string
	for name := range have {
		if !wanted[name] {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	if err := in.dropUnits(ctx, gone); err != nil {
		errs = append(errs, err)
	}
	for _, name := range gone {
		changes = append(changes, Change{strings.TrimPrefix(name, unitPrefix), "removed"})
	}
	if len(changes) > 0 {
		errs = append(errs, in.files().Systemctl(ctx, "daemon-reload"))
	}
	if len(started) > 0 {
		errs = append(errs, in.files().Start(ctx, started))
	}
	return changes, errors.Join(errs...)
}

// dropUnits stops timers and removes their files. A job that runs goes on.
func (in *Installer) dropUnits(ctx context.Context, names []string) error {
	var timers, services []string
	for _, n := range names {
		timers, services = append(timers, n+".timer"), append(services, n+".service")
	}
	return in.files().Drop(ctx, timers, services)
}

func (in *Installer) files() *Units { return &Units{Host: in.Host, Dir: in.unitDir()} }

// crontab returns the lines of the user's crontab that are not of jobs, and those
// of each job.
func (in *Installer) crontab(ctx context.Context) (others []string, jobs map[string]string, err error) {
	out, err := in.Host.Run(ctx, host.Cmd{Argv: []string{"crontab", "-l"}, Timeout: toolTime, ReadOnly: true})
	if err != nil {
		return nil, nil, err
	}
	if out.Status != 0 && !strings.Contains(string(out.Stderr), "no crontab for") {
		return nil, nil, fun.Errorf("crontab -l: %s", strings.TrimSpace(string(out.Stderr)))
	}
	jobs = map[string]string{}
	if len(out.Stdout) == 0 {
		return nil, jobs, nil
	}
	lines := strings.Split(strings.TrimSuffix(string(out.Stdout), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		name, ok := strings.CutPrefix(lines[i], cronMark)
		if !ok {
			others = append(others, lines[i])
			continue
		}
		jobs[name] += lines[i] + "\n"
		if i+1 < len(lines) {
			i++
			jobs[name] += lines[i] + "\n"
		}
	}
	return others, jobs, nil
}

func (in *Installer) installLines(ctx context.Context, jobs []*Job) ([]Change, error) {
	lines, have, err := in.crontab(ctx)
	if err != nil {
		return nil, err
	}
	var (
		changes []Change
		errs    []error
	)
	for _, j := range jobs {
		own, err := j.cronLines(in.Exe, in.Config)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		lines = append(lines, own...)
		key := strings.Join(strings.Fields(j.Name), " ")
		old, ok := have[key]
		switch {
		case !ok:
			changes = append(changes, Change{j.Name, "installed"})
		case old != strings.Join(own, "\n")+"\n":
			changes = append(changes, Change{j.Name, "updated"})
		}
		delete(have, key)
	}
	gone := make([]string, 0, len(have))
	for name := range have {
		gone = append(gone, name)
	}
	slices.Sort(gone)
	for _, name := range gone {
		changes = append(changes, Change{name, "removed"})
	}
	if len(changes) > 0 {
		if err := in.writeCrontab(ctx, lines); err != nil {
			return nil, errors.Join(append(errs, err)...)
		}
	}
	return changes, errors.Join(errs...)
}

func (in *Installer) writeCrontab(ctx context.Context, lines []string) error {
	text := ""
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	out, err := in.Host.Run(ctx, host.Cmd{Argv: []string{"crontab", "-"}, Stdin: strings.NewReader(text), Timeout: toolTime})
	if err == nil && out.Status != 0 {
		err = fmt.Errorf("crontab: %s", strings.TrimSpace(string(out.Stderr)))
	}
	return err
}
