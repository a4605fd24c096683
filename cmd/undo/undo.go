// Package undo is brine undo: it brings back what a job has changed.
package undo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/fleet/jobs"
)

type options struct {
	app.RunFlags
	app.FleetFlags
	yes   bool
	test  bool
	force bool
}

// own are the flags of brine undo that the commands do not have which it runs.
var own = []string{"yes", "test", "force"}

// groups are the flags of brine undo in its help.
var groups = append([]app.FlagGroup{{Title: "Undo", Names: "yes test force"}}, app.TargetGroups...)

// New returns "brine undo". commands returns brine with all its commands, of which it runs
// ssh and call. runF, which may be nil, replaces what runs it.
func New(a *app.App, commands func(*app.App) *cobra.Command, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "undo <jid> [<target>...]",
		Short: "Bring back what a job has changed",
		Long: `Bring back what a job has changed, if it ran with --undo or the option undo: True.
First it shows what would be brought back, what cannot be, and what was changed since
the job and is therefore left as it is. On a terminal it then asks; without one it does
it only with --yes. An orchestration is undone step by step, the last one first. With
targets, only those of the job are looked at. An undo is a job of its own, which can be
undone. See 'brine docs undo'.

Exit status: 0 all is as it was before the job; 1 or 20 something is not, or was left
as it is; 64 usage error; 130 interrupted.`,
		Example: `  brine undo 20261121140500123456 --test
  brine undo 20261121140500123456 web1 web2 --yes
  brine run jobs.list_jobs`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(c.Context(), a, c, o, commands, args)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	o.RegisterRun(f)
	o.RegisterAs(f, "", "")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.BoolVar(&o.test, "test", false, "only show what would be brought back")
	f.BoolVar(&o.force, "force", false, "also bring back what was changed since the job")
	complete.Flags(c)
	app.GroupFlags(c, groups)
	return c
}

// A part is a job that is undone: one on targets, or, without them, one on this machine.
type part struct {
	jid     string
	targets []string
}

func run(ctx context.Context, a *app.App, c *cobra.Command, o *options, commands func(*app.App) *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return noJob(c, "no jid was given")
	case !jobs.IsJID(args[0]):
		return noJob(c, "%q is not a jid, such as 20261121140500123456", args[0])
	case c.Flags().Changed("undo"):
		return app.Usagef(c, "--undo: what an undo changes is always kept, so that it can be undone: leave it out")
	case o.test && o.yes:
		return app.Usagef(c, "--test only shows what would be brought back: there is nothing that --yes could answer")
	}
	parts, err := partsOf(ctx, a, c, o, args[0], args[1:])
	if err != nil {
		return err
	}
	in := a.TTY()
	ask := !o.yes && !o.test
	if ask && (in == nil || !a.Terminal) {
		return &app.StatusError{
			Status: app.ExitUsage, Err: errors.New("there is no terminal on which could be asked whether to bring back what the job changed"),
			Hint: "--test shows what that is, --yes does it without asking",
		}
	}
	if !o.yes {
		err := perform(ctx, a, c, o, commands, parts, true)
		failed, only := errors.AsType[*app.StatusError](err)
		only = only && failed.Err == nil // it has said why
		if o.test || ctx.Err() != nil || err != nil && !only {
			return err
		}
		a.Printed = false
		if err := a.Confirm(ctx, in, "\n", false); err != nil {
			return err
		}
	}
	return perform(ctx, a, c, o, commands, parts, false)
}

// noJob is a usage fault that says where jobs are found.
func noJob(c *cobra.Command, format string, args ...any) error {
	return &app.StatusError{
		Status: app.ExitUsage, Err: fmt.Errorf(format, args...),
		Hint: "'brine run jobs.list_jobs' lists the jobs; write '" + c.CommandPath() + " JID'",
	}
}

// partsOf finds what a job ran where. Of an orchestration these are its steps, the last
// one first.
func partsOf(ctx context.Context, a *app.App, c *cobra.Command, o *options, jid string, only []string) (parts []part, err error) {
	if err := a.Saltfile(c, "salt-ssh", &o.RunFlags); err != nil {
		return nil, err
	}
	s, err := session.New(a, config.Master, "salt-ssh", &o.RunFlags, nil)
	if err != nil {
		return nil, err
	}
	defer s.End()
	files := jobs.NewFiles(s.Cfg.CacheDir, 0, a.Host.Now)
	defer files.Close()
	j, err := files.Job(ctx, jid)
	if err != nil {
		return nil, err
	}
	if j == nil {
		return []part{{jid: jid}}, here(s, jid, only)
	}
	if j.State == jobs.Active {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("job %s is still running", jid), Hint: "'brine run jobs.active' shows how far it is; saltutil.kill_job ends it"}
	}
	add := func(jid string, minions []string) {
		if len(only) > 0 {
			minions = slices.DeleteFunc(slices.Clone(minions), func(id string) bool { return !slices.Contains(only, id) })
		}
		if len(minions) > 0 {
			parts = append(parts, part{jid, minions})
		}
	}
	ran := j.Load.Str("fun")
	if !strings.HasPrefix(ran, "runner.") {
		add(jid, minionsOf(j))
	} else {
		var steps []string
		err := files.Walk(ctx, jid, "", func(r *jobs.Row) bool {
			if r.Brief(false).Load.Str("orchestration_jid") == jid {
				steps = append(steps, r.JID)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		slices.Sort(steps)
		for _, step := range slices.Backward(steps) {
			sj, err := files.Job(ctx, step)
			if err != nil {
				return nil, err
			}
			if sj != nil && strings.HasPrefix(sj.Load.Str("fun"), "state.") {
				add(step, minionsOf(sj))
			}
		}
	}
	if len(parts) == 0 {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("job %s (%s) has run states on none of these targets: there is nothing to undo", jid, ran), Hint: "'brine run jobs.print_job " + jid + "' shows what it ran where"}
	}
	return parts, nil
}

// here returns an error where this machine keeps nothing of a job that is in no record.
func here(s *session.Session, jid string, only []string) error {
	err := &app.StatusError{
		Status: app.ExitGeneric, Err: fmt.Errorf("there is no job %s in the cache of this machine", jid),
		Hint: "'brine run jobs.list_jobs' lists the jobs, 'brine call undo.kept' those of brine call of which is kept what they changed",
	}
	if len(only) > 0 {
		return err
	}
	for _, dir := range []string{s.Cfg.CacheDir, minionCache(s)} {
		if found, _ := filepath.Glob(filepath.Join(dir, "undo", "*", jid)); len(found) > 0 {
			return nil
		}
	}
	return err
}

// minionCache is where brine call keeps what it changes.
func minionCache(s *session.Session) string {
	cfg, err := config.Load(config.Options{
		Kind: config.Minion, Host: s.App.Host, Dir: s.Flags.ConfigDir, Section: "salt-call", Saltfile: s.Flags.Saltfile, Upwards: s.App.Upwards(),
	})
	if err != nil {
		return os.DevNull
	}
	return cfg.CacheDir
}

func minionsOf(j *jobs.Job) []string {
	var out []string
	if l := j.Load.List("Minions"); l != nil {
		for _, v := range l.Items {
			if id, ok := v.(string); ok {
				out = append(out, id)
			}
		}
	}
	return out
}

// perform undoes the parts, or shows what would be undone. What comes after a part that
// could not be undone whole is undone all the same: each says for itself what is left.
func perform(ctx context.Context, a *app.App, c *cobra.Command, o *options, commands func(*app.App) *cobra.Command, parts []part, test bool) error {
	var last error
	for _, p := range parts {
		if ctx.Err() != nil || a.Intr.Draining() {
			return app.ErrInterrupted
		}
		kind := "ssh"
		if p.targets == nil {
			kind = "call"
		}
		root := commands(a)
		sub, _, err := root.Find([]string{kind})
		if err != nil {
			return err
		}
		argv := append([]string{kind}, given(c, sub)...)
		if p.targets != nil {
			argv = append(argv, "--list")
		}
		argv = append(argv, "--")
		if p.targets != nil {
			argv = append(argv, strings.Join(p.targets, ","))
		}
		argv = append(argv, "undo.run", p.jid)
		if test {
			argv = append(argv, "test=True")
		}
		if o.force {
			argv = append(argv, "force=True")
		}
		a.Args = argv
		root.SetArgs(argv)
		root.SetIn(a.In)
		root.SetOut(a.Out)
		root.SetErr(a.Err)
		a.Printed = false
		err = root.ExecuteContext(ctx)
		var status *app.StatusError
		if err != nil && !errors.As(err, &status) {
			return err
		}
		if err != nil {
			last = err
		}
	}
	return last
}

// given returns the flags of the command line that a command has as well.
func given(c, sub *cobra.Command) []string {
	hidden := slices.Clone(own)
	c.Flags().Visit(func(f *pflag.Flag) {
		if sub.Flags().Lookup(f.Name) == nil {
			hidden = append(hidden, f.Name)
		}
	})
	return app.GivenFlags(c, hidden)
}
