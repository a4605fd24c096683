package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type runOpts struct {
	app.RunFlags
	app.FleetFlags
	doc    bool
	quiet  bool
	async  bool
	resume string // jid of an orchestration
	queue  string // to put the orchestration into
	queued bool   // the orchestration is one of a queue
}

func newRunCmd(a *app.App, st app.Style) *cobra.Command {
	o := &runOpts{}
	c := &cobra.Command{
		Use:   "run <function> [<argument>...] [<key>=<value>...]",
		Short: "Run a runner function on this controller",
		Long: `Run a runner function, such as state.orchestrate, on this controller, as salt-run
does. Targets are those of the roster.

Exit status: 0 success; 1 a step failed, an SLS is invalid or the function failed;
the "retcode" of the return if it has one; 64 usage error; 130 interrupted; 255
unknown function.`,
		Example: `  brine run state.orchestrate orch.webserver
  brine run state.orch orch.deploy pillar='{"servers": "newsystem1"}'
  brine run pillar.show_pillar web1`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: completeCall(a),
		RunE:              func(c *cobra.Command, args []string) error { return runRunner(c.Context(), a, c, o, args) },
	}
	if st == app.AsSalt {
		c.Use = strings.Replace(c.Use, "run", "salt-run", 1)
	}
	c.SetFlagErrorFunc(app.FlagError)
	app.GroupFlags(c, app.TargetGroups)
	o.Register(c.Flags())
	o.RegisterAs(c.Flags(), "t", "")
	c.Flags().BoolVarP(&o.doc, "doc", "d", false, "print the documentation of the function")
	c.Flags().BoolVar(&o.quiet, "quiet", false, "print no report")
	c.Flags().BoolVar(&o.async, "async", false, "refused: a runner function ends with its command")
	_ = c.Flags().MarkHidden("async")
	app.RegisterNoEffect(c.Flags(), app.ForRun)
	completeFlags(c)
	return c
}

func runRunner(ctx context.Context, a *app.App, c *cobra.Command, o *runOpts, args []string) error {
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	switch {
	case o.doc && len(args) > 1:
		return app.Usagef(c, "--doc takes one function or module")
	case o.doc:
		return printKindDoc(a, fun.Runner, args)
	case o.async:
		return &app.StatusError{
			Status: app.ExitUsage, Err: errors.New("--async: a runner function ends with its command"),
			Hint: "start it in the background of the shell; 'brine run jobs.list_jobs' shows what ran",
		}
	case len(args) == 0:
		return app.Usagef(c, "no function was given")
	}
	if o.quiet {
		o.Output.Out = "quiet"
	}
	if o.Progress.Misplaced(args) || o.Progress.Misplaced(args[1:]) {
		return app.ProgressValue()
	}
	return runner(ctx, a, c, o, args[0], nil, func(s *session, env *fun.Env) (in fun.Args, err error) {
		in = dispatch.ParseInput(args[1:], o.Unparsed())
		if o.resume != "" {
			in, err = s.resumed(ctx, env, o.resume, in)
		}
		return in, err
	})
}

// runner runs a runner function with the arguments that choose returns, and
// reports it. prepare, which may be nil, can change the configuration before
// anything is made of it.
func runner(ctx context.Context, a *app.App, c *cobra.Command, o *runOpts, name string,
	prepare func(*session) error, choose func(*session, *fun.Env) (fun.Args, error),
) (err error) {
	shown, done := a.StartProgress(o.Progress, &o.RunFlags, name)
	defer done()
	s, err := newSession(a, config.Master, "salt-run", &o.RunFlags, o.Override())
	if err != nil {
		return err
	}
	s.show(shown)
	defer s.end()
	s.runner = true
	s.warnNoEffect(c, app.ForRun)
	if err := s.refuseLogin(c); err != nil {
		return err
	}
	if err := s.checkOutput(); err != nil {
		return err
	}
	defer s.reportFault(&err)
	if s.ssh, err = sshOptions(a, &o.FleetFlags); err != nil {
		return err
	}
	s.listen()
	if err := s.openGit(ctx); err != nil {
		return err
	}
	if prepare != nil {
		if err := prepare(s); err != nil {
			return err
		}
	}
	jid := s.newJID()
	env, err := s.controller(ctx, jid)
	if err != nil {
		return err
	}
	in, err := choose(s, env)
	if err != nil {
		return err
	}
	s.reports(jid, name, "", in, fun.Runner)
	env.Watch = s.watchRun(shown, env.ID, name, in)
	res, err := s.invoke(ctx, env, fun.Runner, name, in, jid)
	if err != nil && !cutShort(res, err) {
		return runFault(s, name, err)
	}
	data, wish := returned(res)
	if wish == reportWish {
		data, wish = s.recorded(data), "markdown"
		s.rec, s.exporter = nil, nil // the times are not those of this run
	}
	if rerr := s.writeReports(data, res.Retcode); rerr != nil {
		return rerr
	}
	if perr := s.printEnd(data, wish, res.Retcode); perr != nil {
		return perr
	}
	s.sayResume(name, jid)
	s.sayTest(name, in)
	if err != nil {
		return app.ErrInterrupted
	}
	return app.Silent(s.strictStatus(app.StatusOf(int64(res.Retcode))))
}

// returned is what is printed of a runner's return, and the outputter that it
// wishes: a dict names its own, and with nothing but that and data it is data
// that is printed.
// Salt: salt/client/mixins.py AsyncClientMixin.print_async_event.
func returned(res fun.Result) (data value.Value, wish string) {
	m, ok := res.Value.(value.Mapping)
	if !ok {
		return res.Value, res.Out
	}
	name, _ := m.Get("outputter")
	wish, ok = name.(string)
	if !ok || wish == "" {
		return res.Value, res.Out
	}
	if data, ok := m.Get("data"); ok && m.Len() == 2 {
		return data, wish
	}
	return res.Value, wish
}

func runFault(s *session, name string, err error) error {
	var nf *fun.NotFoundError
	switch {
	case errors.As(err, &nf):
		return told(s, nf.Error(), err)
	case dispatch.IsArgError(err):
		return app.UsageOf(name, err)
	case errors.Is(err, context.Canceled):
		return app.ErrInterrupted
	}
	return told(s, fmt.Sprintf("Exception occurred in runner %s: %v", name, err), fmt.Errorf("exception occurred in runner %s: %w", name, err))
}
