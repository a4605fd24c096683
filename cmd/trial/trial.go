// Package trial is brine test: it tests the states of a tree by cases, with and without
// machines.
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
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/linter"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/core/version"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
	"brine/internal/view/lint"
	"brine/internal/view/trial"
	"brine/outputter/report"
)

type options struct {
	tree    linter.Flags
	cases   []string
	systems []string
	compile bool
	update  bool
	list    bool
	init    bool
	out     string
	reports []string
	driver  string
	roster  string // file
	ci      string // what the workflow is for
	lock    bool   // write the lock of images
	images  map[string]string
	// packages are names of empty packages.
	packages []string
	network  bool
	jobs     int
	keep     bool
	shell    bool // on failure
	watched  bool
	covers   bool
	began    time.Time
}

// New returns "brine test". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "test [<tree>]",
		Short: "Test the states of a tree",
		Long: `Test the states of a tree or formula by its cases: the files tests/*.yml, else the
suites of a kitchen.yml. A case says what is applied, with which pillar and on which
systems, and what is expected.

Each test is made on a fresh machine that is thrown away: a run with test=True, which
must not change anything; the run itself; a second run, which must find nothing to
change; what the case expects; and a plan, which must be empty. Drivers make the
machines: nspawn (containers with systemd; needs root), namespace (no services; as
root or as a user), podman and docker (containers of images that these have), ssh
(hosts that the case file gives). A case with machines runs an orchestration over
several of them.

With --compile, no machine is used: each case is rendered and compiled for each of
its systems by recorded grains, and compared with its golden files if it has some.
See 'brine docs test'.

Exit status: 0 all tests passed; 1 a test failed, or the cases cannot be read; 64
usage error.`,
		Example: `  brine test --init
  brine test --compile
  brine test --compile --update
  brine test --list
  brine test
  brine test --driver namespace --jobs 4
  brine test --watch --shell-on-failure
  brine test login default --system debian-12
  brine test myformula -k default --system 'debian*' --report junit.xml`,
		Args: linter.MaxOneTree,
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(a, c, o, args)
		},
	}
	f := c.Flags()
	f.SetNormalizeFunc(app.SaltSpelling)
	f.StringVarP(&o.tree.ConfigDir, "config-dir", "c", "", "directory of the configuration (default: the tree)")
	app.RepeatedVar(f, &o.tree.FileRoots, "file-root", "", "directory of the SLS tree, for the environment base; may be repeated")
	app.RepeatedVar(f, &o.tree.PillarRoots, "pillar-root", "", "directory of the pillar tree, for the environment base; may be repeated")
	f.StringSliceVarP(&o.cases, "case", "k", nil, "test these cases (globs)")
	f.StringSliceVar(&o.systems, "system", nil, "test on these systems (globs)")
	f.BoolVar(&o.compile, "compile", false, "compile the cases by recorded grains; use no machines")
	f.BoolVar(&o.update, "update", false, "with --compile, write the golden files instead of comparing")
	f.BoolVar(&o.list, "list", false, "list the cases and their systems")
	f.BoolVar(&o.init, "init", false, "write a first case and a workflow")
	f.StringVar(&o.ci, "ci", "github", "with --init, write the workflow for: github, gitlab")
	f.StringVar(&o.out, "out", "text", "format: "+strings.Join(trial.Formats(), ", "))
	app.RepeatedVar(f, &o.reports, "report", "", "also write the results to this file, in the format of its suffix; may be repeated")
	f.StringVar(&o.driver, "driver", "", "make machines by this driver: "+strings.Join(driverNames(), ", ")+" (default: that of the case, else the first that can be used)")
	f.BoolVar(&o.lock, "update-images", false, "fetch or make the images, and write which they are to tests/images.lock; test nothing")
	f.StringVar(&o.roster, "hosts", "", "with the driver ssh: the roster of the hosts (default: roster in the directory of the configuration)")
	f.StringToStringVar(&o.images, "image", nil, "make machines of SYSTEM from the directory, archive or file of repositories at PATH, or of oci:REFERENCE, which podman or docker has; may be repeated")
	f.StringSliceVar(&o.packages, "package", nil, "let machines install an empty package of this name; may be repeated")
	f.BoolVar(&o.network, "network", false, "give machines the network of this one, as network: true in a case does")
	f.IntVar(&o.jobs, "jobs", 0, "run at most this many tests at a time (default: as many as there are cores); memory bounds them too")
	f.BoolVar(&o.keep, "keep", false, "keep each machine until Ctrl-C, and print how to enter it")
	f.BoolVar(&o.shell, "shell-on-failure", false, "open a shell on the machine of each test that fails, before it is removed")
	f.BoolVar(&o.watched, "watch", false, "when files change, test the cases that use them again, until Ctrl-C")
	f.BoolVar(&o.covers, "coverage", false, "also show the states, branches of Jinja and pillar keys that no case touches")
	c.AddCommand(newLogin(a), newConnect(a))
	_ = c.RegisterFlagCompletionFunc("driver", cobra.FixedCompletions(driverNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("ci", cobra.FixedCompletions([]string{"github", "gitlab"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("out", cobra.FixedCompletions(trial.Formats(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("system", cobra.FixedCompletions(lint.SystemNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("case", app.NoCompletion)
	return c
}

// check returns the fault of flags that do not go together.
func (o *options) check(c *cobra.Command) error {
	switch {
	case !slices.Contains(trial.Formats(), o.out):
		return app.Usagef(c, "--out: %q is not one of %s", o.out, strings.Join(trial.Formats(), ", "))
	case o.ci != "github" && workflows[o.ci].from == "":
		return app.Usagef(c, "--ci: %q is not one of github, gitlab", o.ci)
	case c.Flags().Changed("ci") && !o.init:
		return app.Usagef(c, "--ci is for --init")
	case o.init && (o.list || o.compile || o.update):
		return app.Usagef(c, "--init excludes --list, --compile and --update")
	case o.list && (o.compile || o.update):
		return app.Usagef(c, "--list excludes --compile and --update")
	case o.lock && (o.init || o.list || o.compile || o.watched || o.covers || o.keep || o.shell || len(o.reports) > 0):
		return app.Usagef(c, "--update-images tests nothing: it excludes --compile, --coverage, --init, --keep, --list, --report, --shell-on-failure and --watch")
	case o.update && !o.compile:
		return app.Usagef(c, "--update is for --compile")
	case o.compile && (o.driver+o.roster != "" || o.keep || o.shell || o.network || len(o.images)+len(o.packages) > 0 || c.Flags().Changed("jobs")):
		return app.Usagef(c, "--compile uses no machines: --driver, --image, --jobs, --keep, --hosts, --network, --package and --shell-on-failure have no effect")
	case o.watched && (o.covers || o.keep || o.list || o.init || o.update):
		return app.Usagef(c, "--watch excludes --coverage, --init, --keep, --list and --update")
	case o.covers && (o.keep || o.list || o.init):
		return app.Usagef(c, "--coverage excludes --init, --keep and --list")
	case o.keep && o.shell:
		return app.Usagef(c, "--keep excludes --shell-on-failure: a kept machine is entered by the command that is printed")
	case o.jobs < 1 && c.Flags().Changed("jobs"):
		return app.Usagef(c, "--jobs: %d is less than 1", o.jobs)
	case o.driver != "" && !slices.Contains(driverNames(), o.driver):
		return app.Usagef(c, "--driver: %s", driverFault(o.driver))
	}
	if err := o.checkPackages(c); err != nil {
		return err
	}
	for _, path := range o.reports {
		if _, err := report.ForFile(path); err != nil {
			return app.Usagef(c, "--report: %v", err)
		}
	}
	return nil
}

// checkPackages returns the fault of a name that no package can have.
func (o *options) checkPackages(c *cobra.Command) error {
	for _, name := range o.packages {
		if !casefile.IsPackageName(name) {
			return app.Usagef(c, "--package: %q: names of packages have lower-case letters, digits, '+', '-' and '.'", name)
		}
	}
	return nil
}

func run(a *app.App, c *cobra.Command, o *options, args []string) error {
	if err := o.check(c); err != nil {
		return err
	}
	tree, err := treeOf(args)
	if err != nil {
		return err
	}
	if o.init {
		return initCases(a, tree, o.ci)
	}
	o.began = a.Host.Now()
	if o.watched {
		return o.watch(c.Context(), a, tree)
	}
	w, suite, jobs, err := o.matrix(a, tree)
	if err != nil {
		return err
	}
	if o.list {
		return list(a, jobs)
	}
	if o.lock {
		return o.lockImages(c.Context(), a, w, jobs)
	}
	r := &trial.Report{Suite: suite, Name: a.NameOf}
	if err := o.test(c.Context(), a, w, jobs, r); err != nil {
		return err
	}
	return o.report(a, r)
}

// matrix reads the cases of a tree and selects those of the command line.
func (o *options) matrix(a *app.App, tree string) (*trial.World, *casefile.Suite, []trial.Job, error) {
	suite, err := casefile.Find(a.Host, tree, a.NameOf)
	if errors.Is(err, casefile.ErrNone) {
		err = &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "'brine test --init' writes a first one"}
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for _, n := range suite.Notes {
		fmt.Fprintf(a.Err, "brine: note: %s: %s\n", printable.Line(n.Pos.String()), printable.Line(n.Text))
	}
	jobs, err := trial.Jobs(suite, o.cases, o.systems)
	if err != nil {
		return nil, nil, nil, &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "'brine test --list' lists all"}
	}
	if err := cmp.Or(checkDrivers(suite), o.checkImages(jobs), o.connectAll(jobs)); err != nil {
		return nil, nil, nil, err
	}
	w, err := newWorld(a, o, tree)
	return w, suite, jobs, err
}

// connectAll gives all machines the network of this one, if the command line says so.
func (o *options) connectAll(jobs []trial.Job) error {
	if !o.network {
		return nil
	}
	for _, j := range jobs {
		if len(j.Case.Nodes) > 0 {
			return &app.StatusError{
				Status: app.ExitUsage, Err: fmt.Errorf("--network: the case %s is an orchestration, whose machines have a network of their own", j.Case.Name),
				Hint: "select other cases with --case",
			}
		}
		j.Case.Machine.Network = true
	}
	return nil
}

// treeOf returns the directory that the command line names.
func treeOf(args []string) (string, error) {
	tree := "."
	if len(args) > 0 {
		tree = args[0]
	}
	abs, err := filepath.Abs(tree)
	if err != nil {
		return "", err
	}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return "", &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s is not a directory", tree), Hint: "name the directory of the tree or formula"}
	}
	return abs, nil
}

// list prints the matrix.
func list(a *app.App, jobs []trial.Job) error {
	wide := 0
	for _, j := range jobs {
		wide = max(wide, len(j.Case.Name))
	}
	for _, j := range jobs {
		what := "highstate"
		if len(j.Case.SLS) > 0 {
			what = strings.Join(j.Case.SLS, ", ")
		}
		if len(j.Case.Nodes) > 0 {
			what = fmt.Sprintf("orchestrate %s, %d machines", strings.Join(j.Case.Orchestrate, ", "), len(j.Case.Nodes))
		}
		if _, err := fmt.Fprintf(a.Out, "%-*s  %-16s  %s\n", wide, j.Case.Name, j.System, printable.Line(what)); err != nil {
			return err
		}
	}
	return nil
}

// newWorld returns what the cases of a tree are tested with.
func newWorld(a *app.App, o *options, tree string) (*trial.World, error) {
	cfg, err := linter.TreeConfig(a, tree, &o.tree)
	if err != nil {
		return nil, err
	}
	w := &trial.World{Tree: tree, Opts: cfg.Opts, Settings: cfg.Settings(), Host: a.Host, Name: a.NameOf, Covers: o.covers}
	w.Grains = func(system string) (*value.Map, error) { return grainsOf(tree, system) }
	w.Invoker = func(e *fun.Env) fun.Invoker { return dispatch.New(e) }
	warn := warnOnce(a)
	w.NewEnv = func(ctx context.Context, h host.Host, opts *value.Map, fault func(error)) *fun.Env {
		return assembly.NewStillEnv(ctx, assembly.EnvOptions{
			Host: h, Config: &config.Config{Kind: config.Minion, Opts: opts, CacheDir: opts.Str("cachedir")}, Table: assembly.Table(),
			Bus: event.NewRing(0, a.Host.Now), Fault: fault, Warn: warn,
		}, mayCall)
	}
	return w, nil
}

// mayCall reports whether a template may call a function where there is no machine: one
// that only computes, or that writes to the log.
func mayCall(name string) bool { return lint.IsPure(name) || strings.HasPrefix(name, "log.") }

// grainsOf returns the grains of a system: those that the tree has recorded, else the
// built-in ones.
func grainsOf(tree, system string) (*value.Map, error) {
	recorded := filepath.Join(tree, casefile.Systems, system+".yml")
	if _, err := os.Stat(recorded); err == nil {
		s, err := linter.ReadGrains(recorded)
		return s.Grains, err
	}
	s, ok := lint.SystemNamed(system)
	if !ok {
		return nil, fmt.Errorf("unknown system %q%s: there are %s, each also with a release such as debian-12; others have their grains in %s/%s.yml",
			system, source.DidYouMean(system, lint.SystemNames()), strings.Join(lint.SystemNames(), ", "), casefile.Systems, system)
	}
	return s.Grains, nil
}

// test runs the jobs and puts what comes of them into the report.
func (o *options) test(ctx context.Context, a *app.App, w *trial.World, jobs []trial.Job, r *trial.Report) (err error) {
	if !o.compile {
		if o.covers {
			compiled, err := trial.Compile(ctx, w, jobs, false)
			if err != nil {
				return interrupted(err)
			}
			r.Coverage = w.Coverage(ctx, compiled)
		}
		r.Results, err = o.apply(ctx, a, w, jobs)
		return err
	}
	if r.Results, err = trial.Compile(ctx, w, jobs, o.update); err != nil {
		return interrupted(err)
	}
	if o.covers {
		r.Coverage = w.Coverage(ctx, r.Results)
	}
	if len(o.cases)+len(o.systems) == 0 {
		r.Stale, r.Untested = w.Stale(r.Suite), w.Untested(r.Results)
	}
	return nil
}

// interrupted says what Ctrl-C means where there are no machines.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return &app.StatusError{Status: app.ExitInterrupted, Err: errors.New("interrupted: nothing was compared")}
	}
	return err
}

// report prints the report and writes its files.
func (o *options) report(a *app.App, r *trial.Report) error {
	if !a.Printed { // --keep printed it already
		a.Printed = true
		if err := r.Write(a.Out, o.out); err != nil {
			return err
		}
	}
	info := report.Info{End: a.Host.Now(), Start: o.began, Fun: "test", Version: version.Number(), Ended: true}
	if r.Failed() {
		info.Retcode = app.ExitGeneric
	}
	for _, path := range o.reports {
		if err := writeReport(path, r, info); err != nil {
			return fmt.Errorf("--report %s: %w", path, err)
		}
	}
	if r.Failed() {
		return app.Silent(app.ExitGeneric)
	}
	return nil
}

func writeReport(path string, r *trial.Report, info report.Info) error {
	format, err := report.ForFile(path)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	run := trial.Run{Version: info.Version, Start: info.Start, End: info.End}
	switch format.Name {
	case "html":
		err = r.HTML(f, run)
	case "sarif":
		err = r.SARIF(f, run)
	default:
		err = format.Write(f, r.Data(), info)
	}
	return errors.Join(err, f.Close())
}
