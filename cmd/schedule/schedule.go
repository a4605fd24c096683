// Package schedule is brine schedule: the schedule of this machine, as timers of systemd or
// lines of a crontab.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/core/redact"
	"brine/internal/core/schedule"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// New returns "brine schedule".
func New(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "schedule <command>",
		Short: "Run the schedule of this machine with systemd or cron",
		Long: `Install the jobs of schedule, in the configuration and the pillar, as timers of
systemd, or in the crontab if systemd is not running or you are not root. There is
no daemon: each job is a 'brine call'.

Exit status: 0 success; 1 a job is invalid or cannot be installed; 64 usage error.`,
		Example: `  brine schedule install
  brine schedule list
  brine schedule show highstate
  brine schedule run`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newSub(a, "install", "Install the jobs, and remove those that no longer exist", "", (*planned).install),
		newSub(a, "list", "List the jobs, their next run and whether they are installed", "", (*planned).list),
		newSub(a, "remove [<job>...]", "Remove jobs from systemd or cron (default: all)", "remove", (*planned).remove),
		newSub(a, "run [<job>...]", "Run jobs now, or without a name all of them when due, in the foreground", "run", (*planned).run),
		newSub(a, "show <job>...", "Print the units or crontab lines of jobs", "show", (*planned).show),
	)
	c.SetFlagErrorFunc(app.FlagError)
	return c
}

// A planned is the schedule of a session.
type planned struct {
	*schedule.Schedule
	s   *session.Session
	rep *output.Report
	env *fun.Env
	in  *schedule.Installer
}

func newSub(a *app.App, use, short, names string, run func(*planned, context.Context, []string) error) *cobra.Command {
	o := &app.RunFlags{}
	c := &cobra.Command{Use: use, Short: short, SilenceUsage: true, SilenceErrors: true}
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case names == "" && len(args) > 0:
			return app.Usagef(c, "%s takes no arguments", c.Name())
		case names == "show" && len(args) == 0:
			return app.Usagef(c, "no job was given")
		}
		s, err := session.New(a, config.Minion, "salt-call", o, nil)
		if err != nil {
			return err
		}
		defer s.End()
		rep := output.New(s)
		if err := rep.CheckOutput(); err != nil {
			return err
		}
		p, err := readSchedule(c.Context(), rep)
		if err != nil {
			return err
		}
		for _, name := range args {
			if p.Job(name) == nil && names != "remove" {
				return &app.StatusError{Status: app.ExitGeneric, Err: p.noJob(name)}
			}
		}
		if err := run(p, c.Context(), args); err != nil {
			return err
		}
		if len(p.Faults) > 0 {
			return app.Silent(app.ExitGeneric)
		}
		return app.Silent(s.StrictStatus(app.ExitOK))
	}
	c.SetFlagErrorFunc(app.FlagError)
	o.RegisterConfig(c.Flags())
	o.Output.Register(c.Flags())
	return c
}

// readSchedule reads the schedule of this machine. What is wrong with a job is printed.
func readSchedule(ctx context.Context, rep *output.Report) (*planned, error) {
	s := rep.Session
	env := s.Env(ctx, s.NewJID())
	exe, err := host.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the running program: %w", err)
	}
	p := &planned{s: s, rep: rep, env: env, in: &schedule.Installer{Host: s.App.Host, Exe: exe, Config: s.Cfg.Dir}}
	p.Schedule = schedule.ReaderOf(env).Read(schedule.Merge(s.Cfg.Opts.At("schedule"), schedule.OfPillar(env)))
	for _, f := range p.Faults {
		s.Fault(f)
	}
	return p, nil
}

func (p *planned) noJob(name string) error {
	names := make([]string, len(p.Jobs))
	for i, j := range p.Jobs {
		names[i] = j.Name
	}
	return fmt.Errorf("no scheduled job %q%s", name, source.DidYouMean(name, names))
}

func (p *planned) install(ctx context.Context, _ []string) error {
	a := p.s.App
	jobs := p.Jobs
	if !p.Enabled {
		jobs = nil
	}
	for _, j := range jobs {
		p.sayReadable(j)
	}
	changes, err := p.in.Install(ctx, jobs)
	p.printChanges(changes)
	if err == nil && len(changes) == 0 && len(p.Faults) == 0 {
		fmt.Fprintf(a.Err, "brine: the %d job(s) of the schedule are installed already\n", len(jobs))
	}
	return err
}

func (p *planned) printChanges(changes []schedule.Change) {
	for _, c := range changes {
		fmt.Fprintf(p.s.App.Out, "%s: %s\n", printable.Line(c.Name), c.What)
	}
}

func (p *planned) remove(ctx context.Context, names []string) error {
	p.Faults = nil
	if len(names) == 0 {
		changes, err := p.in.Install(ctx, nil)
		p.printChanges(changes)
		return err
	}
	changes, err := p.in.Remove(ctx, names)
	p.printChanges(changes)
	if err == nil && len(changes) < len(names) {
		return &app.StatusError{Status: app.ExitGeneric, Err: errors.New("not all of these jobs were installed")}
	}
	return err
}

func (p *planned) show(_ context.Context, names []string) error {
	a := p.s.App
	for _, name := range names {
		text, err := p.in.Show(p.Job(name))
		if err != nil {
			return err
		}
		fmt.Fprint(a.Out, printable.Text(text))
		p.sayReadable(p.Job(name))
	}
	return nil
}

// sayReadable tells of a job with secrets whose file is not for its owner alone: the
// run reads them from there.
func (p *planned) sayReadable(j *schedule.Job) {
	_, spec, err := p.env.Find(fun.Exec, j.Function)
	if err != nil {
		return
	}
	secret := slices.DeleteFunc(redact.LeftOut(spec.ArgNames(), j.Args, j.Kwargs, spec.SecretArgs()...), func(name string) bool {
		return name == "pillar" && !redact.Hides(name, j.Kwargs.At(name)) // which records leave out whole
	})
	if redact.Hides("return_kwargs", j.ReturnKwargs) {
		secret = append(secret, "return_kwargs")
	}
	st, err := p.s.App.Host.Stat(j.At.File)
	if err != nil || len(secret) == 0 || st.Perm()&0o044 == 0 {
		return
	}
	p.s.Note(fmt.Sprintf("scheduled job %q has secrets (%s), and %s has the mode %04o: chmod 600 keeps them from other users", j.Name, strings.Join(secret, ", "), j.At.File, st.Perm()))
}

func (p *planned) list(ctx context.Context, _ []string) error {
	a := p.s.App
	installed, err := p.in.Installed(ctx)
	if err != nil {
		p.s.Note(err.Error())
	}
	now := a.Host.Now()
	out := value.NewMap(len(p.Jobs))
	for _, j := range p.Jobs {
		state := "not installed"
		if s := p.in.State(installed, j); s != "" {
			state = s
		}
		switch {
		case !j.Enabled || !p.Enabled:
			state = "disabled"
		case len(j.Unserved) > 0:
			state = "refused: " + j.Unserved[0]
		}
		row := value.MapOf("function", j.Function, "state", state)
		if t, ok := j.Next(now, schedule.LastRun(a.Host, p.env.CacheDir, j.Name)); ok && state != "disabled" {
			row.Set("next", t.Format("2006-01-02T15:04:05"))
		}
		if !j.At.IsZero() {
			row.Set("written", j.At.String())
		}
		out.Set(j.Name, row)
	}
	return p.rep.Print(out, "nested", 0)
}

// run runs jobs now, or all of them when they are due.
func (p *planned) run(ctx context.Context, names []string) error {
	if len(names) > 0 {
		status := app.ExitOK
		for _, name := range names {
			if st := p.start(ctx, p.Job(name), false, "--own-turn"); st != app.ExitOK {
				status = st
			}
		}
		return app.Silent(status)
	}
	if !p.Enabled {
		return &app.StatusError{Status: app.ExitGeneric, Err: errors.New("the schedule is disabled")}
	}
	return p.foreground(ctx)
}

// start runs a job in a process of its own and returns its exit status.
// more are flags of brine call besides those of the job.
func (p *planned) start(ctx context.Context, j *schedule.Job, putOff bool, more ...string) int {
	args := slices.Insert(j.Command(p.in.Config, putOff), 1, more...)
	a := p.s.App
	out, err := a.Host.Run(ctx, host.Cmd{Argv: append([]string{p.in.Exe}, args...), Stdout: a.Out, Stderr: a.Err})
	switch {
	case ctx.Err() != nil:
		return app.ExitInterrupted
	case err != nil:
		p.s.Warn(fun.Warning{Text: fmt.Sprintf("scheduled job %q: %v", j.Name, err)})
		return app.ExitGeneric
	}
	return app.StatusOf(int64(out.Status))
}

// foreground runs the jobs when they are due until the process is told to end;
// then it waits for those that run.
func (p *planned) foreground(ctx context.Context) error {
	a := p.s.App
	var running sync.WaitGroup
	defer running.Wait()
	next := map[*schedule.Job]time.Time{}
	now := a.Host.Now()
	for _, j := range p.Jobs {
		switch t, ok := j.Next(now, time.Time{}); {
		case len(j.Unserved) > 0:
			p.s.Warn(fun.Warning{Text: fmt.Sprintf("scheduled job %q does not run: %s is not supported", j.Name, j.Unserved[0])})
		case !j.Enabled:
		case j.RunOnStart:
			next[j] = now
		case ok:
			next[j] = t
		}
	}
	if len(next) == 0 {
		return &app.StatusError{Status: app.ExitGeneric, Err: errors.New("no job of the schedule will be due")}
	}
	p.s.Note(fmt.Sprintf("%d scheduled job(s) run in the foreground", len(next)))
	for len(next) > 0 {
		const look = 200 * time.Millisecond // for a signal that ends the process
		now = a.Host.Now()
		wait := look
		for j, t := range next {
			if t.After(now) {
				wait = min(wait, t.Sub(now))
				continue
			}
			running.Go(func() { p.start(ctx, j, true) })
			if t, ok := j.Next(now, now); ok {
				next[j] = t
			} else {
				delete(next, j)
			}
		}
		if a.Intr.Draining() || a.Host.Sleep(ctx, wait) != nil {
			return nil
		}
	}
	return nil
}
