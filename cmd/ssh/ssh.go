// Package ssh is brine ssh, and salt-ssh and salt: an execution function on targets.
package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/funcdoc"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/cmd/target"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

// New returns "brine ssh", or the program of Salt that it stands for. runF, which may
// be nil, replaces what runs it.
func New(a *app.App, st app.Style, runF func(context.Context, *target.Options, []string) error) *cobra.Command {
	o := &target.Options{Prog: target.BrineSSH}
	c := &cobra.Command{
		Use:   "ssh <target> <function> [<argument>...] [<key>=<value>...]",
		Short: "Run an execution function on targets over SSH",
		Long: `Run an execution function on targets of the roster over SSH, as salt-ssh does.
You do not need to install anything on a target: brine copies itself there as an
agent, runs the function and leaves no process behind. With --raw the arguments
are a shell command, and no agent is needed. With --async the command does not
wait: 'brine run jobs.lookup_jid' fetches the returns later.

Exit status: 0 success; 1 no target matched, or the roster or the configuration is
invalid; 11 the agent could not be copied to a target; 20 a target failed or could
not be reached; 64 usage error; 130 interrupted.`,
		Example: `  brine ssh 'web*' test.ping
  brine ssh -E 'web[0-9]+' state.apply nginx test=True
  brine ssh '*' -r 'uptime'
  brine ssh admin@web9.example.com:2222 test.ping
  brine ssh -G 'role:db' cmd.run 'systemctl is-active mariadb' --out=json
  brine ssh '*' state.apply --failed-file failed.txt
  brine ssh '*' state.apply --limit @failed.txt
  brine ssh --retry-failed 20261121140500123456
  brine ssh '*' state.apply --async
  brine ssh '*' state.apply --ssh-persist 600
  brine ssh --connections=close 'web*'
  brine ssh '*' state.apply --waves 1,10%,100% --wave-check 'state.apply health'`,
	}
	if st == app.AsSalt {
		o.Prog = target.SaltSSH
		c.Use = strings.Replace(c.Use, "ssh", "salt-ssh", 1)
	}
	initTargetCmd(a, c, o, runF)
	return c
}

// NewSalt returns the command salt: brine ssh with salt's flags and statuses.
func NewSalt(a *app.App, runF func(context.Context, *target.Options, []string) error) *cobra.Command {
	o := &target.Options{Prog: target.SaltCLI}
	c := &cobra.Command{
		Use:   "salt <target> <function>[,<function>...] [<argument>...] [<key>=<value>...]",
		Short: "Run execution functions on targets over SSH",
		Long: `Run an execution function on targets of the roster over SSH, as salt does on the
minions of a master. Several functions, separated by commas, run one after the
other; a single comma separates their arguments.

Exit status: 0 success; 1 a target failed or could not be reached; 2 no target
matched; 42 the numbers of functions and arguments differ; with --batch the
highest return code; 64 usage error; 130 interrupted.`,
		Example: `  salt 'web*' test.ping
  salt 'web*' cmd.run,test.ping,test.echo 'cat /proc/loadavg' , , foo
  salt -C 'G@role:web and not web1' state.apply nginx`,
	}
	initTargetCmd(a, c, o, runF)
	return c
}

func initTargetCmd(a *app.App, c *cobra.Command, o *target.Options, runF func(context.Context, *target.Options, []string) error) {
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(app.FlagError)
	c.ValidArgsFunction = complete.Targets(a)
	c.RunE = func(c *cobra.Command, args []string) error {
		if runF != nil {
			return runF(c.Context(), o, args)
		}
		return run(c.Context(), a, c, o, args)
	}
	o.Register(c.Flags())
	complete.Flags(c)
	app.GroupFlags(c, app.TargetGroups)
}

// run runs the command.
func run(ctx context.Context, a *app.App, c *cobra.Command, o *target.Options, args []string) (err error) {
	section := "salt-ssh"
	if o.Prog == target.SaltCLI {
		section = "salt"
	}
	if err := a.Saltfile(c, section, &o.RunFlags); err != nil {
		return err
	}
	if done, err := sshInfo(a, o, args); done {
		return err
	}
	given := args
	args, err = targetArgs(o, a, args)
	if err != nil {
		return err
	}
	job, err := o.Job(c, args)
	if err != nil {
		return err
	}
	if err := answers(a, o, &job); err != nil {
		return err
	}
	o.CanStream = true
	shown, done := a.StartProgress(o.Progress, &o.RunFlags, job.Fun, true)
	defer done()
	s, err := session.New(a, config.Master, section, &o.RunFlags, o.Override())
	if err != nil {
		return err
	}
	s.Leaves = true
	var r *jobReport // from the time on when the job runs
	rep := output.New(s)
	rep.Show(shown)
	o.Count.Watcher = fleet.OnBegin(s.Watch, func(job fun.Job, _ []string) { r.began(job, shown) })
	s.Watch = &o.Count
	defer s.End()
	s.WarnNoEffect(c, o.Effectless())
	if err := s.RefuseLogin(c); err != nil {
		return err
	}
	if err := rep.CheckOutput(); err != nil {
		return err
	}
	if len(rep.ReportTo) > 0 && o.Async.Used() {
		return app.ErrAsyncReport
	}
	defer rep.ReportFault(&err)
	if err := s.Reach(&o.FleetFlags); err != nil {
		return err
	}
	if o.Connections != "" {
		return connections(ctx, rep, o, given)
	}
	s.SSH.Once = true
	if job, err = nameTargets(s, o, job); err != nil {
		return err
	}
	if o.Hosts {
		return listHosts(ctx, rep)
	}
	if err := o.CheckFailedFile(); err != nil {
		return err
	}
	s.SSH.Deploy = o.KeyDeploy
	if o.RetryFailed != "" {
		job, err = retry(ctx, s, c, o, args, job)
		if errors.Is(err, errNothingToDo) {
			return printNothing(rep)
		}
		if err != nil {
			return err
		}
	}
	s.Listen()
	job.JID, job.User = o.JID, s.UserName()
	if job.JID == "" {
		job.JID = s.NewJID()
	}
	job.Timeout = time.Duration(o.Timeout) * time.Second
	if args, given := dispatch.TakeMetadata(s.Table.Spec(fun.Exec, job.Fun), job.Args); given != nil {
		job.Args, job.Metadata = args, cmp.Or(job.Metadata, given)
	}
	a.Intr.SetJID(job.JID)
	if err := s.OpenGit(ctx); err != nil {
		return err
	}
	env, err := s.Controller(ctx, job.JID)
	if err != nil {
		return err
	}
	if job, err = preferIDs(ctx, s, env, job); err != nil {
		return err
	}
	if o.Published.Preview {
		return preview(ctx, rep, env, job)
	}
	if err := o.Published.SafeBatch(ctx, env, &job); err != nil {
		return err
	}
	job.WaveCheck = o.Waves.Checker(s, env, job)
	rep.Reports(job.JID, job.Fun, value.Str(job.Tgt), job.Args, fun.Exec)
	r = newReport(rep, o, job)
	if job.Async || o.Async.Background != "" {
		return async(ctx, s, o, env, job)
	}
	rep.KeepRun(shown, kept.Spec{JID: job.JID, Kind: kept.Functions, Name: job.Fun + " on " + value.Str(job.Tgt), Test: value.Truth(job.Args.Kw.At("test"))})
	return runJob(ctx, rep, env, o, job, r)
}

// answers takes the arguments of a call that brine ui hands over in a file, since they
// may be secrets.
func answers(a *app.App, o *target.Options, job *fun.Job) error {
	if o.Answers == "" {
		return nil
	}
	text, err := a.Host.ReadFile(o.Answers)
	if err != nil {
		return fmt.Errorf("--answers: %w", err)
	}
	const maxMemory = 64 << 20
	v, _, err := value.ParseJSONWithin(string(text), maxMemory)
	m, _ := v.(*value.Map)
	pos, kw := m.List("arg"), m.Map("kwarg")
	if err != nil || pos == nil || kw == nil {
		return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--answers: %s has no arg and kwarg: it is for brine ui", o.Answers)}
	}
	job.Args = fun.Args{Pos: pos.Items, Kw: kw}
	return nil
}

// preview prints the targets of a job.
func preview(ctx context.Context, rep *output.Report, env *fun.Env, job fun.Job) error {
	ids, err := target.Match(ctx, env, job.Tgt, job.TgtType)
	if err != nil {
		return err
	}
	return rep.Print(value.Strings(ids...), "", app.ExitOK)
}

// runJob runs a job on its targets and reports it.
func runJob(ctx context.Context, rep *output.Report, env *fun.Env, o *target.Options, job fun.Job, r *jobReport) error {
	s := rep.Session
	sum, err := env.Fleet.Run(ctx, job, r.add)
	if len(sum.Targets) == 0 {
		return noneMatched(ctx, rep, env, o, job, err)
	}
	warnUnmet(s, o, job, sum)
	if o.Updates && err == nil {
		err = updateRoster(s, sum)
	}
	if ferr := r.finish(); err == nil {
		err = ferr
	}
	if err != nil {
		return err
	}
	return app.Silent(s.StrictStatus(r.status()))
}

// sshInfo answers what needs no target: documentation.
func sshInfo(a *app.App, o *target.Options, args []string) (done bool, err error) {
	switch {
	case o.Doc:
		// salt takes a target before the function, or none.
		if len(args) > 1 {
			args = args[1:]
		}
		return true, funcdoc.PrintKind(a, fun.Exec, args)
	}
	return false, nil
}

// targetArgs completes the arguments of a call that runs no function. What goes on with a job
// in the background has no limit: its ids are what was left of it, and @failed would be this
// very job now.
func targetArgs(o *target.Options, a *app.App, args []string) ([]string, error) {
	if o.Async.Background != "" {
		o.Limit = ""
	}
	if o.Progress.Misplaced(args) {
		return nil, app.ProgressValue()
	}
	if err := o.Group.Misplaced(args); err != nil {
		return nil, err
	}
	if o.Salt.Forwards != "" {
		return nil, &app.StatusError{
			Status: app.ExitUsage, Err: errors.New("--remote-port-forwards: brine forwards no ports of targets"),
			Hint: "ssh -R beside the run does",
		}
	}
	if o.Published.Preview && len(args) > 0 {
		args = append(args, "none") // the function, which is not run
	}
	if o.Connections != "" {
		if len(args) == 1 && args[0] == string(target.CloseConnections) {
			return nil, &app.StatusError{Status: app.ExitUsage, Err: errors.New("--connections takes its value behind =: close would be a target"), Hint: "brine ssh --connections=close"}
		}
		return []string{"*", "none"}, nil // nothing is run
	}
	if o.Hosts {
		if len(args) > 0 {
			fmt.Fprintf(a.Err, "brine: --hosts lists all of the roster: %s is not looked at\n", strings.Join(args, " "))
		}
		args = []string{"*", "none"}
	}
	return args, nil
}

// noneMatched reports that a job has no targets; err is that of the run.
func noneMatched(ctx context.Context, rep *output.Report, env *fun.Env, o *target.Options, job fun.Job, err error) error {
	s := rep.Session
	var bad *fun.TargetError
	if o.Prog == target.SaltCLI && job.TgtType != "nodegroup" && errors.As(err, &bad) {
		return saltNoMatch(rep, err) // to a master it matches nothing
	}
	if group := value.Str(job.Tgt); o.Prog == target.SaltCLI && err != nil && job.TgtType == "nodegroup" && !s.Cfg.Opts.Map("nodegroups").Has(group) {
		return rep.Failed(fmt.Sprintf("Node group %s unavailable in %s", group, s.Cfg.Opts.Str("conf_file")), err)
	}
	if err != nil {
		return err
	}
	if all, err := env.Fleet.Match(ctx, "*", "glob"); err == nil && len(all) == 0 {
		return noTargets(s, job)
	}
	if o.Prog == target.SaltCLI {
		return saltNoMatch(rep, o.NoMatch(job))
	}
	return o.NoMatch(job)
}

// printNothing is the report of a command that had nothing to do: JSON is a
// document all the same.
func printNothing(rep *output.Report) error {
	s := rep.Session
	if s.App.JSON {
		return rep.Print(value.NewMap(0), "", app.ExitOK)
	}
	return nil
}
