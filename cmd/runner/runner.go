// Package runner runs a runner function on this controller, for the commands that
// orchestrate.
package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/funcdoc"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/tee"
	"brine/internal/fleet/history"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

// Options are the flags of commands that run a runner function.
type Options struct {
	app.RunFlags
	app.FleetFlags
	Doc    bool
	Quiet  bool
	Async  bool
	Resume string // jid of an orchestration
	Queue  string // to put the orchestration into
	Queued bool   // the orchestration is one of a queue
}

// Command runs the runner function that args name, as brine run does.
func Command(ctx context.Context, a *app.App, c *cobra.Command, o *Options, args []string) error {
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	switch {
	case o.Doc && len(args) > 1:
		return app.Usagef(c, "--doc takes one function or module")
	case o.Doc:
		return funcdoc.PrintKind(a, fun.Runner, args)
	case o.Async:
		return &app.StatusError{
			Status: app.ExitUsage, Err: errors.New("--async: a runner function ends with its command"),
			Hint: "start it in the background of the shell; 'brine run jobs.list_jobs' shows what ran",
		}
	case len(args) == 0:
		return app.Usagef(c, "no function was given")
	}
	if o.Quiet {
		o.Output.Out = "quiet"
	}
	if o.Progress.Misplaced(args) || o.Progress.Misplaced(args[1:]) {
		return app.ProgressValue()
	}
	if err := o.Group.Misplaced(args); err != nil {
		return err
	}
	return Run(ctx, a, c, o, args[0], nil, func(s *session.Session, env *fun.Env) (in fun.Args, err error) {
		in = dispatch.ParseInput(args[1:], o.Unparsed())
		if o.Resume != "" {
			in, err = s.Resumed(ctx, env, o.Resume, in)
		}
		return in, err
	})
}

// Run runs a runner function with the arguments that choose returns, and
// reports it. prepare, which may be nil, can change the configuration before
// anything is made of it.
func Run(ctx context.Context, a *app.App, c *cobra.Command, o *Options, name string,
	prepare func(*session.Session) error, choose func(*session.Session, *fun.Env) (fun.Args, error),
) (err error) {
	o.CanStream = true
	shown, done := a.StartProgress(o.Progress, &o.RunFlags, name, session.IsOrchestrate(name))
	defer done()
	s, err := session.New(a, config.Master, "salt-run", &o.RunFlags, o.Override())
	if err != nil {
		return err
	}
	rep := output.New(s)
	rep.Show(shown)
	defer s.End()
	rep.Runner = true
	s.WarnNoEffect(c, app.ForRun)
	if err := s.RefuseLogin(c); err != nil {
		return err
	}
	if err := rep.CheckOutput(); err != nil {
		return err
	}
	defer rep.ReportFault(&err)
	if err := s.Reach(&o.FleetFlags); err != nil {
		return err
	}
	s.Listen()
	if err := s.OpenGit(ctx); err != nil {
		return err
	}
	if prepare != nil {
		if err := prepare(s); err != nil {
			return err
		}
	}
	jid := s.NewJID()
	env, err := s.Controller(ctx, jid)
	if err != nil {
		return err
	}
	in, err := choose(s, env)
	if err != nil {
		return err
	}
	s.AskApproval(jid, s.Entry, inTest(s, in))
	rep.Reports(jid, name, "", in, fun.Runner)
	s.SayJID(jid)
	if session.IsOrchestrate(name) {
		rep.KeepRun(shown, keptSpec(s, in, jid, o.Resume))
	}
	env.Watch = rep.WatchRun(shown, env.ID, name, in)
	heard := name
	if session.IsOrchestrate(name) {
		heard = "" // its steps are
	}
	ctx = s.Output.Context(ctx, tee.Place{JID: jid, Host: env.ID}, heard)
	res, err := s.Invoke(ctx, env, fun.Runner, name, in, jid)
	if err != nil && !session.CutShort(res, err) {
		return runFault(rep, name, err)
	}
	data, out := returned(res)
	if out == output.ReportOut {
		data, out = rep.Recorded(data), "markdown"
		rep.Rec, rep.Exporter = nil, nil // the times are not those of this run
	}
	if rerr := rep.WriteReports(data, res.Retcode); rerr != nil {
		return rerr
	}
	if perr := rep.PrintEnd(data, out, res.Retcode); perr != nil {
		return perr
	}
	s.PrintTally(rep.Beside())
	s.SayResume(name, jid)
	s.SayTest(name, in)
	left := s.SayLeftOut(env)
	if status, why := s.AskedEnd(); status == history.Refused {
		return &app.StatusError{Status: app.ExitRefused, Err: fmt.Errorf("the run has ended: %s", why)}
	}
	switch {
	case err != nil:
		return app.ErrInterrupted
	case left != nil:
		return left
	}
	return app.Silent(s.StrictStatus(app.StatusOf(int64(res.Retcode))))
}

// inTest reports whether an orchestration changes nothing.
func inTest(s *session.Session, in fun.Args) bool {
	return value.Truth(in.Kw.At("test")) || value.Truth(s.Cfg.Opts.At("test"))
}

// keptSpec is what an orchestration is for who looks at its run.
func keptSpec(s *session.Session, in fun.Args, jid, resume string) kept.Spec {
	spec := kept.Spec{JID: jid, Kind: kept.Orchestrations, Resume: resume, Test: inTest(s, in)}
	switch subject := s.ShownSubject(); {
	case subject != nil:
		spec.Kind, spec.Name = subject.Kind+"s", subject.Name
	case len(in.Pos) > 0:
		spec.Name = value.Str(in.Pos[0])
	}
	return spec
}

// returned is what is printed of a runner's return, and the outputter that it
// wishes: a dict names its own, and with nothing but that and data it is data
// that is printed.
// Salt: salt/client/mixins.py AsyncClientMixin.print_async_event.
func returned(res fun.Result) (data value.Value, out string) {
	m, ok := res.Value.(value.Mapping)
	if !ok {
		return res.Value, res.Out
	}
	name, _ := m.Get("outputter")
	out, ok = name.(string)
	if !ok || out == "" {
		return res.Value, res.Out
	}
	if data, ok := m.Get("data"); ok && m.Len() == 2 {
		return data, out
	}
	return res.Value, out
}

func runFault(rep *output.Report, name string, err error) error {
	var nf *fun.NotFoundError
	switch {
	case errors.As(err, &nf):
		return rep.Failed(nf.Error(), err)
	case dispatch.IsArgError(err):
		return app.UsageOf(name, err)
	case errors.Is(err, context.Canceled):
		return app.ErrInterrupted
	}
	return rep.Failed(fmt.Sprintf("Exception occurred in runner %s: %v", name, err), fmt.Errorf("exception occurred in runner %s: %w", name, err))
}
