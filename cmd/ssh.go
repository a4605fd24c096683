package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/value"
)

func newSSHCmd(a *app.App, st app.Style) *cobra.Command {
	o := &sshOpts{prog: brineSSH}
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
  brine ssh '*' state.apply --waves 1,10%,100% --wave-check 'state.apply health'`,
	}
	if st == app.AsSalt {
		o.prog = saltSSH
		c.Use = strings.Replace(c.Use, "ssh", "salt-ssh", 1)
	}
	initTargetCmd(a, c, o)
	return c
}

// newSaltCmd returns the command salt: brine ssh with salt's flags and statuses.
func newSaltCmd(a *app.App) *cobra.Command {
	o := &sshOpts{prog: saltCLI}
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
	initTargetCmd(a, c, o)
	return c
}

func initTargetCmd(a *app.App, c *cobra.Command, o *sshOpts) {
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(app.FlagError)
	c.ValidArgsFunction = completeTarget(a)
	c.RunE = func(c *cobra.Command, args []string) error { return runSSH(c.Context(), a, c, o, args) }
	o.register(c.Flags())
	completeFlags(c)
	app.GroupFlags(c, app.TargetGroups)
}

// runSSH runs the command.
func runSSH(ctx context.Context, a *app.App, c *cobra.Command, o *sshOpts, args []string) (err error) {
	section := "salt-ssh"
	if o.prog == saltCLI {
		section = "salt"
	}
	if err := a.Saltfile(c, section, &o.RunFlags); err != nil {
		return err
	}
	if done, err := sshInfo(a, o, args); done {
		return err
	}
	args, err = o.targetArgs(a, args)
	if err != nil {
		return err
	}
	job, err := o.job(c, args)
	if err != nil {
		return err
	}
	shown, done := a.StartProgress(o.Progress, &o.RunFlags, job.Fun)
	defer done()
	s, err := newSession(a, config.Master, section, &o.RunFlags, o.override())
	if err != nil {
		return err
	}
	s.leaves = true
	var r *jobReport // from the time on when the job runs
	s.show(shown)
	o.count.Watcher = fleet.OnBegin(s.watch, func(job fun.Job, _ []string) { r.began(job, shown) })
	s.watch = &o.count
	defer s.end()
	s.warnNoEffect(c, o.effectless())
	if err := s.refuseLogin(c); err != nil {
		return err
	}
	if err := s.checkOutput(); err != nil {
		return err
	}
	if len(s.reportTo) > 0 && o.async.Used() {
		return app.ErrAsyncReport
	}
	defer s.reportFault(&err)
	if s.ssh, err = sshOptions(a, &o.FleetFlags); err != nil {
		return err
	}
	s.ssh.Once = true
	if job, err = s.nameTargets(o, job); err != nil {
		return err
	}
	if o.hosts {
		return s.listHosts(ctx)
	}
	if err := o.checkFailedFile(); err != nil {
		return err
	}
	s.ssh.Deploy = o.keyDeploy
	if o.retryFailed != "" {
		job, err = s.retry(ctx, c, o, args, job)
		if errors.Is(err, errNothingToDo) {
			return s.printNothing()
		}
		if err != nil {
			return err
		}
	}
	s.listen()
	job.JID, job.User = o.jid, s.userName()
	if job.JID == "" {
		job.JID = s.newJID()
	}
	job.Timeout = time.Duration(o.Timeout) * time.Second
	if args, given := dispatch.TakeMetadata(s.table.Spec(fun.Exec, job.Fun), job.Args); given != nil {
		job.Args, job.Metadata = args, cmp.Or(job.Metadata, given)
	}
	a.Intr.SetJID(job.JID)
	if err := s.openGit(ctx); err != nil {
		return err
	}
	env, err := s.controller(ctx, job.JID)
	if err != nil {
		return err
	}
	if job, err = s.preferIDs(ctx, env, job); err != nil {
		return err
	}
	if o.published.preview {
		ids, err := env.Fleet.Match(ctx, job.Tgt, job.TgtType)
		if err != nil {
			return err
		}
		return s.print(value.Strings(ids...), "", app.ExitOK)
	}
	if err := o.published.safeBatch(ctx, env, &job); err != nil {
		return err
	}
	job.WaveCheck = o.waves.checker(s, env, job)
	s.reports(job.JID, job.Fun, value.Str(job.Tgt), job.Args, fun.Exec)
	r = newReport(s, o, job)
	if job.Async || o.async.Background != "" {
		return s.async(ctx, o, env, job)
	}
	return s.runJob(ctx, env, o, job, r)
}

// runJob runs a job on its targets and reports it.
func (s *session) runJob(ctx context.Context, env *fun.Env, o *sshOpts, job fun.Job, r *jobReport) error {
	sum, err := env.Fleet.Run(ctx, job, r.add)
	if len(sum.Targets) == 0 {
		return s.noneMatched(ctx, env, o, job, err)
	}
	s.warnUnmet(o, job, sum)
	if o.updates && err == nil {
		err = s.updateRoster(sum)
	}
	if ferr := r.finish(); err == nil {
		err = ferr
	}
	if err != nil {
		return err
	}
	return app.Silent(s.strictStatus(r.status()))
}

// sshInfo answers what needs no target: documentation.
func sshInfo(a *app.App, o *sshOpts, args []string) (done bool, err error) {
	switch {
	case o.doc:
		// salt takes a target before the function, or none.
		if len(args) > 1 {
			args = args[1:]
		}
		return true, printKindDoc(a, fun.Exec, args)
	}
	return false, nil
}

// targetArgs completes the arguments of a call that runs no function.
func (o *sshOpts) targetArgs(a *app.App, args []string) ([]string, error) {
	if o.Progress.Misplaced(args) {
		return nil, app.ProgressValue()
	}
	if o.salt.forwards != "" {
		return nil, &app.StatusError{
			Status: app.ExitUsage, Err: errors.New("--remote-port-forwards: brine forwards no ports of targets"),
			Hint: "ssh -R beside the run does",
		}
	}
	if o.published.preview && len(args) > 0 {
		args = append(args, "none") // the function, which is not run
	}
	if o.hosts {
		if len(args) > 0 {
			fmt.Fprintf(a.Err, "brine: --hosts lists all of the roster: %s is not looked at\n", strings.Join(args, " "))
		}
		args = []string{"*", "none"}
	}
	return args, nil
}

// noneMatched reports that a job has no targets; err is that of the run.
func (s *session) noneMatched(ctx context.Context, env *fun.Env, o *sshOpts, job fun.Job, err error) error {
	var bad *fun.TargetError
	if o.prog == saltCLI && job.TgtType != "nodegroup" && errors.As(err, &bad) {
		return s.saltNoMatch(err) // to a master it matches nothing
	}
	if group := value.Str(job.Tgt); o.prog == saltCLI && err != nil && job.TgtType == "nodegroup" && !s.cfg.Opts.Map("nodegroups").Has(group) {
		return told(s, fmt.Sprintf("Node group %s unavailable in %s", group, s.cfg.Opts.Str("conf_file")), err)
	}
	if err != nil {
		return err
	}
	if all, err := env.Fleet.Match(ctx, "*", "glob"); err == nil && len(all) == 0 {
		return s.noTargets(job)
	}
	if o.prog == saltCLI {
		return s.saltNoMatch(o.noMatch(job))
	}
	return o.noMatch(job)
}

// printNothing is the report of a command that had nothing to do: JSON is a
// document all the same.
func (s *session) printNothing() error {
	if s.app.JSON {
		return s.print(value.NewMap(0), "", app.ExitOK)
	}
	return nil
}
