package chain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/complete"
	"brine/cmd/library"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/internal/view/chain"
)

// chainSLS is the directory of the SLS of a chain, apart from those of the tree
// that its steps apply.
const chainSLS = "chains"

type runOptions struct {
	runner.Options
	yes, test, noCheck bool
}

// flags adds the flags of a command that looks at the targets of a chain; register
// adds those of the configuration, and of reports where there is one.
func (o *runOptions) flags(c *cobra.Command, register func(*pflag.FlagSet)) {
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(app.FlagError)
	register(c.Flags())
	o.RegisterAs(c.Flags(), "t", "")
	complete.Flags(c)
	c.Args = func(c *cobra.Command, args []string) error {
		return app.Arguments(c, args, 1, 1, "give the name of one chain")
	}
}

func newRun(a *app.App, runF func(context.Context, *runOptions, []string) error) *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "run <chain>",
		Short: "Run a chain",
		Long: `Run a chain: each action runs only if the previous one succeeded on all of its
targets. On a terminal, brine shows the steps with their targets and asks once.

Before the first step, the chain is checked as 'brine chain check' does. The
targets are those that match when the run starts. A run does not change the
chain; the record of the run has the hash of the chain.

Exit status: 0 all steps succeeded; 1 a step failed, or the chain is invalid; 64
usage error; 130 interrupted.`,
		Example: `  brine chain run deploy-friday
  brine chain run deploy-friday --yes --report friday.html
  brine chain run deploy-friday --resume 20261127020000123456`,
		ValidArgsFunction: completeNames(a),
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			r := &chainRun{app: a, o: o}
			if o.Queued {
				return r.queued(c.Context(), c)
			}
			r.name = args[0]
			return r.run(c.Context(), c)
		},
	}
	o.flags(c, o.RegisterRun)
	named := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if err := o.Lock.Check(c); err != nil || o.Queued && len(args) == 0 {
			return err
		}
		return named(c, args)
	}
	o.Lock.Register(c)
	f := c.Flags()
	f.BoolVar(&o.Queued, "queued", false, "run what a worker hands over on stdin") // see queued
	_ = f.MarkHidden("queued")
	o.RegisterTargets(f)
	o.Group.Register(f)
	f.StringVar(&o.Resume, "resume", "", "continue the run with this jid at the first step that did not succeed")
	complete.Resume(a, c)
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask before the run")
	f.BoolVar(&o.test, "test", false, "change nothing, show what would change")
	f.BoolVar(&o.noCheck, "no-check", false, "run the chain also if 'brine chain check' finds faults in it")
	return c
}

// A chainRun is one run of a chain.
type chainRun struct {
	app   *app.App
	o     *runOptions
	name  string
	chain *chain.Chain
	dir   string // of its SLS
}

// run renders a chain to an orchestration and runs it.
func (r *chainRun) run(ctx context.Context, c *cobra.Command) error {
	if err := r.app.Saltfile(c, "salt-run", &r.o.RunFlags); err != nil {
		return err
	}
	return runner.Run(ctx, r.app, c, &r.o.Options, session.OrchestrateName, r.prepare, func(s *session.Session, env *fun.Env) (fun.Args, error) {
		in, err := r.render(ctx, s, env, r.o.Resume != "")
		if err == nil && r.o.Resume != "" {
			in, err = s.Resumed(ctx, env, r.o.Resume, in)
		}
		return in, err
	})
}

// queued runs the chain of a queue for a worker.
func (r *chainRun) queued(ctx context.Context, c *cobra.Command) error {
	r.o.yes = true
	return runner.Queued(ctx, r.app, c, &r.o.Options, runner.Queue{
		Function: session.OrchestrateName,
		Set:      func(q *runner.QueuedRun) { r.name = q.Work.Chain },
		Prepare:  r.prepare,
		Choose: func(q *runner.QueuedRun, s *session.Session, env *fun.Env) (fun.Args, error) {
			in, err := r.render(ctx, s, env, len(q.Earlier) > 0)
			if err == nil {
				err = s.Furthest(ctx, q.Earlier)
			}
			return in, err
		},
	})
}

// prepare reads the chain, and makes a directory for its SLS.
func (r *chainRun) prepare(s *session.Session) (err error) {
	if r.chain, _, err = library.ReadChain(library.Chains(s), r.name); err != nil {
		return err
	}
	if len(r.chain.Steps) == 0 {
		return fmt.Errorf("chain %s has no steps: 'brine chain add' adds some", r.name)
	}
	files := r.app.Host
	if err := files.MkdirAll(s.Cfg.CacheDir, 0o755); err != nil {
		return err
	}
	if r.dir, err = files.MkdirTemp(s.Cfg.CacheDir, "chain-"); err != nil {
		return err
	}
	s.OnEnd(func() { _ = files.RemoveAll(r.dir) })
	s.Cfg.Opts.Set(assembly.TemplateRoots, value.Strings(r.dir))
	s.Cfg.Opts.Set("orchestrate_no_targets", true)
	s.Again = "brine chain run " + r.name
	s.Subject = chainSubject(r.chain)
	if s.Metadata == nil {
		s.Metadata = value.MapOf("chain", r.name, "definition", r.chain.Hash())
	}
	return nil
}

// render writes the SLS of the chain, and returns the arguments of its orchestration. The
// run goes on with an earlier one where resumed is set.
func (r *chainRun) render(ctx context.Context, s *session.Session, env *fun.Env, resumed bool) (fun.Args, error) {
	ids, err := r.admit(ctx, s, env, resumed)
	if err != nil {
		return fun.Args{}, err
	}
	sls, err := r.chain.Render(ids)
	if err != nil {
		return fun.Args{}, err
	}
	s.Approvals = approvalsOf(r.chain, strings.Split(strings.TrimSpace(describeChain(r.chain, ids, env)), "\n")[1:])
	path := filepath.Join(r.dir, chainSLS, r.name+".sls")
	if err := errors.Join(r.app.Host.MkdirAll(filepath.Dir(path), 0o700), r.app.Host.WriteFile(path, strings.NewReader(sls), host.WriteOptions{Mode: new(fs.FileMode(0o600))})); err != nil {
		return fun.Args{}, err
	}
	in := fun.Args{Pos: []value.Value{chainSLS + "." + r.name}, Kw: value.NewMap(1)}
	if r.o.test {
		in.Kw.Set("test", true)
	}
	return in, nil
}

// admit returns the targets of the chain: it is checked, and a person agrees where there is
// one.
func (r *chainRun) admit(ctx context.Context, s *session.Session, env *fun.Env, resumed bool) (map[int][]string, error) {
	ids, err := resolve(ctx, env, r.chain)
	if err == nil && !r.o.noCheck {
		err = refuse(ctx, s, env, r.chain, resumed)
	}
	if in := r.app.TTY(); err == nil && in != nil && !r.o.yes {
		err = r.app.Confirm(ctx, in, describeChain(r.chain, ids, env), r.o.test)
	}
	return ids, err
}

// approvalsOf are the points of a chain at which a second person is asked. what are its
// steps and targets in words.
func approvalsOf(c *chain.Chain, what []string) *session.Approvals {
	out := &session.Approvals{Kind: history.Chain, Name: c.Name, Definition: c.Hash(), What: what}
	if c.Approve != nil {
		out.Points = append(out.Points, session.ApprovalPoint{Key: approval.Start, Rule: c.Approve})
	}
	for i := range c.Steps {
		if x := &c.Steps[i]; x.Approve != nil {
			out.Points = append(out.Points, session.ApprovalPoint{
				Key: fmt.Sprintf("step%d", x.ID), Rule: x.Approve, Step: fmt.Sprintf("step %d: %s", i+1, x.Summary()),
				Covers: func(id string) bool { return c.NumberOf(id) == i+1 },
			})
		}
	}
	return out
}

// describeChain is a chain with its targets, in words.
func describeChain(c *chain.Chain, ids map[int][]string, env *fun.Env) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.Name)
	for i := range c.Steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, c.Steps[i].Summary())
		if c.Steps[i].On != "" {
			fmt.Fprintf(&b, "     %s\n", library.Within(env, ids[i+1]))
		}
	}
	return b.String()
}

func newRender(a *app.App) *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "render <chain>",
		Short: "Print the orchestration of a chain",
		Long: `Print the orchestration of a chain, an SLS file with the targets that
match now.

Exit status: 0 success; 1 the chain is invalid, or a step has no targets; 64 usage
error.`,
		Example:           "  brine chain render deploy-friday",
		ValidArgsFunction: completeNames(a),
	}
	o.flags(c, o.RegisterConfig)
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		s, err := session.New(a, config.Master, "salt-run", &o.RunFlags, o.Override())
		if err != nil {
			return err
		}
		defer s.End()
		ch, _, err := library.ReadChain(library.Chains(s), args[0])
		if err != nil {
			return err
		}
		if err := s.Reach(&o.FleetFlags); err != nil {
			return err
		}
		if err := s.OpenGit(ctx); err != nil {
			return err
		}
		env, err := s.Controller(ctx, s.NewJID())
		if err != nil {
			return err
		}
		ids, err := resolve(ctx, env, ch)
		if err != nil {
			return err
		}
		sls, err := ch.Render(ids)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(a.Out, printable.Text(sls))
		return err
	}
	return c
}

type scheduleOptions struct {
	app.RunFlags
	app.FleetFlags
	at, cancel  string
	print, list bool
}

func newSchedule(a *app.App, runF func(context.Context, *scheduleOptions, []string) error) *cobra.Command {
	o := &scheduleOptions{}
	c := &cobra.Command{
		Use:   "schedule <chain>",
		Short: "Run a chain once, later",
		Long: `Run a chain once at the given time, with systemd, or with at if systemd is not
running. The chain runs as it is at that time, with the flags for targets and
connections that are given now. It cannot ask for anything: keys must not need
passphrases.

Exit status: 0 success; 1 failure; 64 usage error.`,
		Example: `  brine chain schedule deploy-friday --at '2026-12-01 02:00'
  brine chain schedule --list
  brine chain schedule --cancel brine-chain-deploy-friday-20261201-020000.timer`,
		SilenceUsage: true, SilenceErrors: true, ValidArgsFunction: completeNames(a),
	}
	c.SetFlagErrorFunc(app.FlagError)
	o.RegisterPlaces(c.Flags())
	o.RegisterTargets(c.Flags())
	o.RegisterAs(c.Flags(), "t", "")
	complete.Flags(c)
	c.Flags().StringVar(&o.at, "at", "", "when: a date and time such as '2026-12-01 02:00', in the time zone of this machine")
	c.Flags().BoolVar(&o.print, "print", false, "print the command that would schedule it, and do nothing")
	c.Flags().BoolVar(&o.list, "list", false, "list the runs that are scheduled, of all chains or of one")
	c.Flags().StringVar(&o.cancel, "cancel", "", "cancel a run; --list shows its name or number")
	c.RunE = func(c *cobra.Command, args []string) error {
		if runF != nil {
			return runF(c.Context(), o, args)
		}
		return schedule(a, c, o, args)
	}
	return c
}

func schedule(a *app.App, c *cobra.Command, o *scheduleOptions, args []string) error {
	look := o.list || o.cancel != ""
	flags, err := fleetFlags(c)
	if err != nil {
		return err
	}
	var when time.Time
	switch {
	case look && len(flags) > 0:
		return app.Usagef(c, "%s is for a run, and --list and --cancel run nothing", flags[0])
	case look && (o.at != "" || o.print || o.list && o.cancel != ""):
		return app.Usagef(c, "--list, --cancel and --at exclude each other")
	case o.cancel != "" && len(args) > 0:
		return app.Usagef(c, "--cancel takes no chain: give what --list shows")
	case o.list && len(args) > 1:
		return app.Arguments(c, args, 0, 1, "give the name of one chain, or none")
	case !look:
		if err := app.Arguments(c, args, 1, 1, "give the name of one chain, and the time with --at"); err != nil {
			return err
		}
		if when, err = library.ParseWhen(o.at, a.Host.Now()); err != nil {
			return app.Usagef(c, "--at: %s", err)
		}
	}
	s, err := session.New(a, config.Master, "salt-run", &o.RunFlags, nil)
	if err != nil {
		return err
	}
	defer s.End()
	x := library.TimersOf(a.Host)
	work, tree, err := x.Place(library.Chains(s))
	if err != nil {
		return err
	}
	switch {
	case o.cancel != "":
		return x.Cancel(c.Context(), tree, o.cancel)
	case o.list:
		return listTimers(c.Context(), a, x, tree, args)
	}
	if _, _, err := library.ReadChain(library.Chains(s), args[0]); err != nil {
		return err
	}
	argv, err := runLater(&o.RunFlags, args[0])
	if err != nil {
		return err
	}
	argv = append(argv, flags...)
	t := &library.Timer{Chain: args[0], At: when, User: a.Getenv(app.OnBehalf), Hosts: library.HostsOf(a), Tree: tree, Work: work, Argv: argv}
	if o.print {
		fmt.Fprintln(a.Out, printable.Line(x.Shell(t)))
		return nil
	}
	if err := x.Add(c.Context(), t); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s runs at %s; 'brine chain schedule --list' shows how to cancel it\n", t.Chain, when.Format(time.DateTime))
	return nil
}

// fleetFlags returns the flags of [app.FleetFlags] that were given, for a run elsewhere
// that nobody is there to answer.
func fleetFlags(c *cobra.Command) (argv []string, err error) {
	known, f := pflag.NewFlagSet("", pflag.ContinueOnError), &app.FleetFlags{}
	f.RegisterTargets(known)
	f.RegisterAs(known, "", "")
	c.Flags().Visit(func(fl *pflag.Flag) {
		if known.Lookup(fl.Name) == nil || err != nil {
			return
		}
		values := []string{fl.Value.String()}
		if many, ok := fl.Value.(pflag.SliceValue); ok {
			values = many.GetSlice()
		}
		for _, v := range values {
			var why string
			if v, why = later(fl.Name, v); why != "" {
				err = app.Usagef(c, "--%s=%s: %s", fl.Name, v, why)
				return
			}
			argv = append(argv, "--"+fl.Name+"="+v)
		}
	})
	return argv, err
}

// later returns the value of a flag for a run elsewhere, or why it cannot have it.
func later(name, v string) (value, why string) {
	switch {
	case (name == "askpass" || name == "ask-pass") && v == "true", name == "host-keys" && v == "ask":
		return v, "nobody can be asked when the chain runs"
	case name == "roster-file" && v == "-":
		return v, "there is no standard input when the chain runs"
	case name == "limit":
		if file, isFile := strings.CutPrefix(v, "@"); isFile && file != "failed" && !jobs.IsJID(file) {
			return "@" + absolute(file), ""
		}
	case name == "roster-file" || name == "priv" || name == "agent-dir":
		return absolute(v), ""
	}
	return v, ""
}

// absolute returns the absolute path of a file; one that has none stays as it is.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// listTimers prints the runs of chains that are scheduled, a line each.
func listTimers(ctx context.Context, a *app.App, x *library.Timers, tree string, chains []string) error {
	all, err := x.List(ctx, tree)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	for _, t := range all {
		if len(chains) == 0 || t.Chain == chains[0] {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", printable.Line(t.ID), t.At.Format(time.DateTime), printable.Line(t.Chain), printable.Line(t.User))
		}
	}
	return w.Flush()
}

// runLater is the command line that runs a chain, with absolute paths.
func runLater(o *app.RunFlags, name string) ([]string, error) {
	exe, err := host.Executable()
	if err != nil {
		return nil, err
	}
	argv := []string{exe, "chain", "run", name, "--yes"}
	for _, x := range []struct {
		flag   string
		values []string
	}{{"--config-dir", []string{o.ConfigDir}}, {"--cachedir", []string{o.CacheDir}}, {"--file-root", o.FileRoots}} {
		for _, v := range x.values {
			if v == "" {
				continue
			}
			if v, err = filepath.Abs(v); err != nil {
				return nil, err
			}
			argv = append(argv, x.flag, v)
		}
	}
	return argv, nil
}
