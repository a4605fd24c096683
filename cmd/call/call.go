// Package call is brine call: an execution function on this machine.
package call

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/funcdoc"
	"brine/cmd/internal/progress"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/tee"
	"brine/internal/py/value"
)

type options struct {
	app.RunFlags
	local       bool
	passthrough bool
	showGrains  bool
	doc         bool
	metadata    bool
	setMetadata string
	versions    bool
	schedule    string
	ownTurn     bool
	splay       string
	moduleDirs  []string
	progress    progress.Flags
	jid         string
	async       app.AsyncFlags
}

// New returns "brine call", or the program of Salt that it stands for. runF, which may
// be nil, replaces what runs it.
func New(a *app.App, st app.Style, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "call <function> [<argument>...] [<key>=<value>...]",
		Short: "Call an execution function on this machine",
		Long: `Call an execution function on this machine, as salt-call --local does.

Arguments are parsed as YAML; key=value is a keyword argument.

Exit status: 0 success; 1 a state failed, an SLS is invalid or the function
failed; with --retcode-passthrough 2 if states failed, 5 if the pillar does not
render, or the status of the command; 64 usage error; 130 interrupted; 255
unknown function.`,
		Example: `  brine call state.apply web test=True
  brine call state.highstate --state-output=mixed
  brine call grains.get os
  brine call cmd.run 'uname -a' cwd=/tmp
  brine call pillar.items --out=json`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: complete.Call(a),
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(c.Context(), a, c, o, args)
		},
	}
	if st == app.AsSalt {
		c.Use = strings.Replace(c.Use, "call", "salt-call", 1)
	}
	c.SetFlagErrorFunc(app.FlagError)
	app.GroupFlags(c, app.TargetGroups)
	f := c.Flags()
	o.Register(f)
	f.BoolVar(&o.local, "local", false, "run on this machine (brine always does)")
	f.BoolVar(&o.passthrough, "retcode-passthrough", false, "exit with the function's own return code")
	f.BoolVarP(&o.showGrains, "grains", "g", false, "print the grains of this machine")
	f.BoolVarP(&o.doc, "doc", "d", false, "print the documentation of the function")
	f.BoolVar(&o.metadata, "metadata", false, "print the return with its metadata")
	f.StringVar(&o.setMetadata, "set-metadata", "", "data for --metadata to show, as YAML")
	f.BoolVarP(&o.versions, "versions-report", "V", false, "print the versions of Salt and of the system")
	f.StringVar(&o.schedule, "schedule", "", "run this job of the schedule, or the function as this job, if its ranges and maxrunning allow it")
	f.BoolVar(&o.ownTurn, "own-turn", false, "run the job of --schedule even if another controller has run it")
	f.StringVar(&o.splay, "splay", "", "wait for a random time first, up to this many seconds or within <min>:<max>")
	app.RepeatedVar(f, &o.moduleDirs, "module-dirs", "m", "also use the modules in this directory; may be repeated")
	_ = f.MarkHidden("module-dirs")
	f.StringVar(&o.jid, "jid", "", "run under this jid")
	_ = f.MarkHidden("jid")
	o.async.Register(f)
	o.progress.Register(f, "")
	app.RegisterNoEffect(f, app.ForCall)
	complete.Flags(c)
	return c
}

// over returns the options that flags of the command line set.
func (o *options) over() *value.Map {
	if len(o.moduleDirs) == 0 {
		return nil
	}
	return value.MapOf("module_dirs", value.Strings(o.moduleDirs...))
}

// words returns the function and its arguments, as flags and the command line say them;
// none for a job of the schedule that is called as it stands there.
func (o *options) words(c *cobra.Command, args []string) ([]string, error) {
	switch {
	case o.showGrains && len(args) > 0:
		return nil, app.Usagef(c, "--grains takes no arguments")
	case o.doc:
		return nil, app.Usagef(c, "--doc takes one function or module")
	case o.showGrains:
		return []string{"grains.items"}, nil
	case o.versions:
		if o.Output.Out == "" {
			o.Output.Out = "newline_values_only"
		}
		return []string{"test.versions_report"}, nil
	case len(args) == 0 && o.schedule == "":
		return nil, app.Usagef(c, "no function was given")
	}
	return args, nil
}

func run(ctx context.Context, a *app.App, c *cobra.Command, o *options, args []string) (err error) {
	given := o.Ret // without what a Saltfile says
	if err := a.Saltfile(c, "salt-call", &o.RunFlags); err != nil {
		return err
	}
	if o.doc && len(args) <= 1 {
		return funcdoc.PrintKind(a, fun.Exec, args)
	}
	args, err = o.words(c, args)
	if err != nil {
		return err
	}
	whole := len(args) == 0 // what is called is in the schedule, too
	name := o.schedule
	if !whole {
		name = args[0]
	}
	if o.progress.Misplaced(args) {
		return app.ProgressValue()
	}
	if err := o.checkAsync(c, name); err != nil {
		return err
	}
	o.CanStream = true
	shown, done := a.StartProgress(o.progress, &o.RunFlags, name, false)
	defer done()
	s, err := session.New(a, config.Minion, "salt-call", &o.RunFlags, o.over())
	if err != nil {
		return err
	}
	rep := output.New(s)
	rep.Show(shown)
	defer s.End()
	if err := rep.CheckOutput(); err != nil {
		return err
	}
	if len(rep.ReportTo) > 0 && o.async.Used() {
		return app.ErrAsyncReport
	}
	defer rep.ReportFault(&err)
	if c.Root() == c && !o.local {
		sayLocal(s)
	}
	s.WarnNoEffect(c, app.ForCall)
	if run, err := asJob(ctx, s, c, o); err != nil || !run {
		return err
	}
	var in fun.Args
	if whole {
		name, in = jobCall(s, given)
	} else {
		in = dispatch.ParseInput(args[1:], o.Unparsed())
	}
	if strings.HasPrefix(name, "state.") {
		s.Listen()
	}
	if s.RecordsCalls(name) || o.async.Used() {
		s.OpenJobs()
	}
	if err := s.OpenGit(ctx); err != nil {
		return err
	}
	if o.setMetadata != "" {
		s.Metadata = app.Typed(o.setMetadata)
	}
	return callHere(ctx, rep, o, shown, name, in, args)
}

// VersionsReport prints the versions of Salt and of the system.
func VersionsReport(ctx context.Context, a *app.App, c *cobra.Command) error {
	return run(ctx, a, c, &options{versions: true, local: true}, nil)
}

// callHere calls a function on this machine and prints its return. words are the
// function and its arguments as the command line has them; none for a job of the
// schedule.
func callHere(ctx context.Context, rep *output.Report, o *options, shown *progress.Progress, name string, in fun.Args, words []string) error {
	s := rep.Session
	jid := cmp.Or(o.jid, s.NewJID())
	env := s.Env(ctx, jid)
	if err := s.OpenReturners(env); err != nil {
		return err
	}
	if err := s.PostEvents(env); err != nil {
		return err
	}
	if o.async.Used() {
		return callAsync(ctx, s, o, env, fun.Job{JID: jid, Fun: name, Args: in, Metadata: s.Metadata})
	}
	rep.Reports(jid, name, "", in, fun.Exec)
	env.Watch = rep.WatchRun(shown, "local", name, in)
	heard := name
	if strings.HasPrefix(name, "state.") {
		heard = "" // its states are
	}
	ctx = s.Output.Context(ctx, tee.Place{JID: jid, Host: "local"}, heard)
	res, err := s.Invoke(ctx, env, fun.Exec, name, in, jid)
	if err != nil && !session.CutShort(res, err) {
		return session.CallFault(name, err)
	}
	if rerr := rep.WriteReports(reported(env.ID, name, res), res.Retcode); rerr != nil {
		return rerr
	}
	if res.Retcode != 0 {
		if !slices.Contains(app.SaltPrograms[:], s.App.Program) {
			res.Value = withoutMasterLog(res.Value)
		}
		sayDenied(s.App, res.Value)
	}
	data, wish := called(s, name, res)
	if o.metadata {
		if len(words) == 0 {
			words = append([]string{name}, rep.Info.Args...)
		}
		data, wish = metadata(jid, env.ID, words, res, o.setMetadata), "nested"
	}
	if perr := rep.PrintEnd(data, wish, res.Retcode); perr != nil {
		return perr
	}
	s.SayResume(name, jid)
	s.SayKey(env, name, in)
	if err != nil {
		return app.ErrInterrupted
	}
	status := callStatus(res.Retcode, o.passthrough)
	return app.Silent(s.StrictStatus(status))
}

// reported is what reports are about: of an orchestration, its steps.
func reported(id, name string, res fun.Result) value.Value {
	if m, ok := res.Value.(value.Mapping); ok && session.IsOrchestrate(name) {
		if data, ok := m.Get("data"); ok {
			return data
		}
	}
	return value.MapOf(id, res.Value)
}

// called is what is printed of a return, and the outputter that it wishes.
func called(s *session.Session, name string, res fun.Result) (*value.Map, string) {
	if out := s.Cfg.Opts.Str("output"); !session.IsOrchestrate(name) || out != "" && out != "highstate" {
		return value.MapOf("local", res.Value), res.Out
	}
	// Salt prints the runner's dict with the nested outputter here; its master
	// prints states, which is what people want to read.
	if m, ok := res.Value.(value.Mapping); ok {
		if inner, ok := m.Get("data"); ok {
			data, _ := inner.(*value.Map)
			return data, "highstate"
		}
	}
	return value.MapOf("local", nil), "highstate"
}

// metadata is what --metadata prints instead of the return.
// Salt: salt/cli/caller.py call.
func metadata(jid, id string, args []string, res fun.Result, more string) *value.Map {
	m := value.MapOf("jid", jid, "return", res.Value, "retcode", int64(res.Retcode))
	if res.Out != "" {
		m.Set("out", res.Out)
	}
	m.Set("id", id)
	m.Set("fun", args[0])
	m.Set("fun_args", value.Strings(args[1:]...))
	if more != "" {
		m.Set("metadata", app.Typed(more))
	}
	return value.MapOf("local", m)
}

// callStatus is the exit status of a return code. Salt: salt/cli/call.py.
func callStatus(code int, passthrough bool) int {
	if code != 0 && !passthrough {
		return app.ExitGeneric
	}
	return app.StatusOf(int64(code))
}

// sayLocal says that a salt-call that would ask a master runs here.
func sayLocal(s *session.Session) {
	if s.Cfg.Opts.Str("file_client") != "local" && s.Level <= slog.LevelWarn {
		fmt.Fprintln(s.App.Err, "brine: salt-call without --local: brine has no master and runs on this machine with its own file_roots")
	}
}
