package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/internal/summary"
	"brine/internal/config"
	"brine/internal/dispatch"
	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/value"
)

// exitDeploy says that the agent could not be placed on a target; exitCollection
// that one of the targets failed. Salt: EX_THIN_DEPLOY, EX_AGGREGATE.
const (
	exitDeploy     = 11
	exitCollection = 20
)

// program is which of the commands that take a target this one is; their flags
// and exit statuses differ.
type program int

const (
	brineSSH program = iota
	saltSSH          // salt-ssh
	saltCLI          // salt
)

type sshOpts struct {
	runFlags
	fleetFlags
	targetFlags
	delimiter string // of grain and pillar targets

	prog        program
	raw         bool
	static      bool
	verbose     bool
	batch       string
	batchWait   float64
	subset      int
	failHard    bool
	summary     bool
	failedFile  string
	hosts       bool
	limit       string
	retryFailed string
	keyDeploy   bool
	doc         bool
	passwd      string
	privPasswd  string
	jid         string
	gather      int
	async       asyncFlags
	salt        saltSSHFlags
	published   saltFlags
}

// saltSSHFlags are those of salt-ssh alone, which brine has in its roster and
// configuration.
type saltSSHFlags struct {
	sudo, identitiesOnly, preFlight, noHostKeys bool
	forwards                                    string
	options                                     []string
}

// targetFlags say how the target expression is meant.
type targetFlags struct {
	list, pcre, grain, grainPCRE, pillar, pillarPCRE, nodegroup, compound, ipcidr, rng bool
}

func (t *targetFlags) register(fs *pflag.FlagSet) {
	fs.BoolVarP(&t.list, "list", "L", false, "the target is a comma list of ids")
	fs.BoolVarP(&t.pcre, "pcre", "E", false, "the target is a regular expression")
	fs.BoolVarP(&t.grain, "grain", "G", false, "the target is <grain>:<glob>")
	fs.BoolVarP(&t.grainPCRE, "grain-pcre", "P", false, "the target is <grain>:<regular expression>")
	fs.BoolVarP(&t.pillar, "pillar", "I", false, "the target is <pillar key>:<glob>")
	fs.BoolVarP(&t.pillarPCRE, "pillar-pcre", "J", false, "the target is <pillar key>:<regular expression>")
	fs.BoolVarP(&t.nodegroup, "nodegroup", "N", false, "the target is the name of a nodegroup")
	fs.BoolVarP(&t.compound, "compound", "C", false, "the target is a compound expression")
	fs.BoolVarP(&t.ipcidr, "ipcidr", "S", false, "the target is an address or a network")
	fs.BoolVarP(&t.rng, "range", "R", false, "the target is a range expression")
}

// tgtType returns Salt's name of the target type, and an error where two are
// asked for.
func (t *targetFlags) tgtType() (string, error) {
	name, given := "glob", ""
	for _, x := range []struct {
		on         bool
		flag, name string
	}{
		{t.list, "-L", "list"},
		{t.pcre, "-E", "pcre"},
		{t.grain, "-G", "grain"},
		{t.grainPCRE, "-P", "grain_pcre"},
		{t.pillar, "-I", "pillar"},
		{t.pillarPCRE, "-J", "pillar_pcre"},
		{t.nodegroup, "-N", "nodegroup"},
		{t.compound, "-C", "compound"},
		{t.ipcidr, "-S", "ipcidr"},
		{t.rng, "-R", "range"},
	} {
		if !x.on {
			continue
		}
		if given != "" {
			return "", fmt.Errorf("%s and %s both say what the target is; give one of them", given, x.flag)
		}
		name, given = x.name, x.flag
	}
	return name, nil
}

func newSSHCmd(a *App, st style) *cobra.Command {
	o := &sshOpts{prog: brineSSH}
	c := &cobra.Command{
		Use:   "ssh <target> <function> [<argument>...] [<key>=<value>...]",
		Short: "Run an execution function on targets over SSH",
		Long: `Run an execution function on the targets of the roster over SSH, as salt-ssh
does. Nothing needs to be installed on a target: brine places itself there as
agent, runs what is asked for and leaves no process behind. With --raw the
arguments are a shell command, and not even the agent is needed. With --async
nothing is waited for: 'brine run jobs.lookup_jid' fetches what was returned.

Exit status: 0 all went well; 1 nothing matched the target, or the roster or the
configuration is bad; 11 the agent could not be placed on a target; 20 a target
failed or was not reached; 64 the command line makes no sense; 130 interrupted.`,
		Example: `  brine ssh 'web*' test.ping
  brine ssh -E 'web[0-9]+' state.apply nginx test=True
  brine ssh '*' -r 'uptime'
  brine ssh -G 'role:db' cmd.run 'systemctl is-active mariadb' --out=json
  brine ssh '*' state.apply --failed-file failed.txt
  brine ssh '*' state.apply --limit @failed.txt
  brine ssh --retry-failed 20261121140500123456
  brine ssh '*' state.apply --async`,
	}
	if st == asSalt {
		o.prog = saltSSH
		c.Use = strings.Replace(c.Use, "ssh", "salt-ssh", 1)
	}
	a.initTargetCmd(c, o)
	return c
}

// newSaltCmd returns the command salt: brine ssh with salt's flags and statuses.
func newSaltCmd(a *App) *cobra.Command {
	o := &sshOpts{prog: saltCLI}
	c := &cobra.Command{
		Use:   "salt <target> <function>[,<function>...] [<argument>...] [<key>=<value>...]",
		Short: "Run execution functions on targets over SSH",
		Long: `Run an execution function on the targets of the roster, as salt does on the
minions of a master: brine reaches them over SSH. Several functions, with commas
between them, are called one after the other; a lone comma parts their arguments.

Exit status: 0 all went well; 1 a target failed or was not reached; 2 nothing
matched the target; 42 the arguments of several functions do not fit; with
--batch the highest return code; 64 the command line makes no sense; 130
interrupted.`,
		Example: `  salt 'web*' test.ping
  salt 'web*' cmd.run,test.ping,test.echo 'cat /proc/loadavg' , , foo
  salt -C 'G@role:web and not web1' state.apply nginx`,
	}
	a.initTargetCmd(c, o)
	return c
}

func (a *App) initTargetCmd(c *cobra.Command, o *sshOpts) {
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(flagError)
	c.ValidArgsFunction = a.completeTarget
	c.RunE = func(c *cobra.Command, args []string) error { return a.ssh(c.Context(), c, o, args) }
	f := c.Flags()
	o.runFlags.register(f)
	o.targetFlags.register(f)
	if o.prog == saltCLI {
		o.fleetFlags.registerAs(f, "t", "p")
		o.published.register(f)
		registerNoEffect(f, forSalt)
	} else {
		o.fleetFlags.registerAs(f, "", "")
	}
	if o.prog != saltCLI {
		f.BoolVarP(&o.raw, "raw", "r", false, "the arguments are a shell command; nothing is needed on the target")
		f.BoolVarP(&o.hosts, "hosts", "H", false, "list the targets of the roster and their hosts, and do nothing else")
		f.BoolVar(&o.keyDeploy, "key-deploy", false, "add --priv's public key to the authorized_keys of the targets first")
	}
	f.StringVar(&o.delimiter, "delimiter", ":", "what separates the parts of grain and pillar targets")
	f.BoolVarP(&o.static, "static", "s", false, "print all results at the end, sorted, instead of as they come")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print the jid of the job first")
	f.StringVarP(&o.batch, "batch", "b", "", "targets at once: a number or a percentage")
	f.Float64Var(&o.batchWait, "batch-wait", 0, "seconds to wait after each return before the next target begins")
	f.IntVar(&o.subset, "subset", 0, "only this many of the targets, chosen at random")
	f.BoolVar(&o.failHard, "failhard", false, "begin no further target after one failed")
	f.BoolVar(&o.summary, "summary", false, "print a summary at the end: equal results together, failures last")
	f.StringVar(&o.failedFile, "failed-file", "", "write the ids of the targets that failed to this file, one a line")
	f.StringVar(&o.limit, "limit", "", "only these ids of the targets: a comma list, or @<file> with one a line")
	f.StringVar(&o.retryFailed, "retry-failed", "", "only the targets that failed in this job, a jid; without target and function, what it ran")
	f.BoolVarP(&o.doc, "doc", "d", false, "print the documentation of the function")
	f.StringVar(&o.passwd, "passwd", "", "refused: see --askpass")
	f.StringVar(&o.privPasswd, "priv-passwd", "", "refused: see priv_passwd of the roster")
	f.StringVar(&o.jid, "jid", "", "run under this jid")
	o.async.register(f)
	f.IntVar(&o.gather, "gather-job-timeout", 0, "seconds that a target has to say whether it still works")
	for _, n := range []string{"passwd", "priv-passwd", "jid", "gather-job-timeout"} {
		_ = f.MarkHidden(n)
	}
	if o.prog != saltCLI {
		f.BoolVar(&o.salt.sudo, "sudo", false, "work as root by sudo, where the roster does not say")
		f.BoolVar(&o.salt.identitiesOnly, "identities-only", false, "offer the named keys alone, none of the ssh-agent")
		f.BoolVar(&o.salt.preFlight, "pre-flight", false, "run ssh_pre_flight also where the agent is there already")
		f.StringArrayVar(&o.salt.options, "ssh-option", nil, "option as of ssh -o; may be repeated")
		f.StringVar(&o.salt.forwards, "remote-port-forwards", "", "refused: brine forwards no ports of targets")
		_ = f.MarkHidden("remote-port-forwards")
		f.BoolVar(&o.salt.noHostKeys, "no-host-keys", false, "as --ignore-host-keys")
		_ = f.MarkHidden("no-host-keys")
	}
	o.registerNoEffect(f)
	completeFlags(c)
}

// override returns what the flags put over the configuration.
func (o *sshOpts) override() *value.Map {
	m := o.fleetFlags.override()
	for key, on := range map[string]bool{
		"ssh_sudo": o.salt.sudo, "ssh_identities_only": o.salt.identitiesOnly, "ssh_run_pre_flight": o.salt.preFlight,
		"ignore_host_keys": o.salt.noHostKeys,
	} {
		if on {
			m.Set(key, true)
		}
	}
	if len(o.salt.options) > 0 {
		m.Set("ssh_options", value.Strings(o.salt.options...))
	}
	if o.gather > 0 {
		m.Set("gather_job_timeout", int64(o.gather))
	}
	return m
}

// registerNoEffect takes the flags of Salt's that have nothing to act on.
func (o *sshOpts) registerNoEffect(f *pflag.FlagSet) {
	hidden := func(name, short string) {
		f.BoolP(name, short, false, "no effect")
		_ = f.MarkHidden(name)
	}
	withValue := func(names ...string) {
		for _, n := range names {
			f.String(n, "", "no effect")
			_ = f.MarkHidden(n)
		}
	}
	switch o.prog {
	case saltSSH:
		hidden("hard-crash", "")
		hidden("regen-thin", "t")
		hidden("rand-thin-dir", "W")
		hidden("update-roster", "")
		hidden("skip-roster", "")
		withValue("extra-filerefs", "min-extra-modules", "thin-extra-modules", "python2-bin", "python3-bin", "scan-ports", "scan-timeout")
	case saltCLI:
		hidden("show-timeout", "")
		hidden("ssh", "")
	}
}

// job makes the job of a command line.
func (o *sshOpts) job(c *cobra.Command, args []string) (fun.Job, error) {
	typ, err := o.tgtType()
	if err != nil {
		return fun.Job{}, usagef(c, "%s", err)
	}
	switch {
	case o.passwd != "" || c.Flags().Changed("passwd"):
		return fun.Job{}, &statusError{
			status: exitUsage, err: fmt.Errorf("--passwd would show the password to every user of this machine"),
			hint: "use --askpass, or passwd in the roster (a file that only you can read), or keys",
		}
	case c.Flags().Changed("priv-passwd"):
		return fun.Job{}, &statusError{
			status: exitUsage, err: fmt.Errorf("--priv-passwd would show the passphrase to every user of this machine"),
			hint: "use ssh-agent, or priv_passwd in the roster; on a terminal brine asks for it",
		}
	case o.subset < 0 || o.maxProcs < 0 || o.timeout < 0 || o.batchWait < 0:
		return fun.Job{}, usagef(c, "--subset, --max-procs, --timeout and --batch-wait cannot be negative")
	case o.jid != "" && !jobs.IsJID(o.jid):
		return fun.Job{}, usagef(c, "--jid: %q is no jid", o.jid)
	case o.fromRecord(args):
		if o.raw || typ != "glob" {
			return fun.Job{}, usagef(c, "--retry-failed without a target takes target and function from the job: give both, or leave the other flags out")
		}
		args = []string{"*", ""}
	case len(args) == 0:
		return fun.Job{}, usagef(c, "no target was given")
	case len(args) == 1 && o.raw:
		return fun.Job{}, usagef(c, "no command was given")
	case len(args) == 1:
		return fun.Job{}, usagef(c, "no function was given")
	}
	if err := o.async.check(c, o); err != nil {
		return fun.Job{}, err
	}
	tgt := args[0]
	if o.delimiter != ":" {
		if tgt, typ, err = delimited(tgt, typ, o.delimiter); err != nil {
			return fun.Job{}, usagef(c, "--delimiter: %s", err)
		}
	}
	job := fun.Job{
		Metadata: o.published.jobMetadata(),
		Async:    o.async.on, Tgt: tgt, TgtType: typ, Batch: o.batch, Subset: o.subset, FailHard: o.failHard,
		BatchWait: time.Duration(o.batchWait * float64(time.Second)), Published: o.prog == saltCLI,
	}
	if o.raw {
		job.Shell = strings.Join(args[1:], " ")
	} else if job.Fun = args[1]; strings.Contains(job.Fun, ",") {
		if job.Args, err = o.compound(job.Fun, args[2:]); err != nil {
			return fun.Job{}, err
		}
	} else {
		job.Args = dispatch.ParseInput(args[2:], o.unparsed())
	}
	if o.limit != "" {
		if job.Only, err = readLimit(o.limit); err != nil {
			return fun.Job{}, err
		}
	}
	return job, nil
}

// readLimit returns the ids of --limit: a comma list, or @file with one a line.
func readLimit(s string) ([]string, error) {
	path, isFile := strings.CutPrefix(s, "@")
	if isFile {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, &statusError{status: exitUsage, err: fmt.Errorf("--limit: %w", err)}
		}
		s = string(b)
	}
	ids := []string{}
	for _, id := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		if id = strings.TrimSpace(id); id != "" && !strings.HasPrefix(id, "#") {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ssh runs the command.
func (a *App) ssh(ctx context.Context, c *cobra.Command, o *sshOpts, args []string) error {
	section := "salt-ssh"
	if o.prog == saltCLI {
		section = "salt"
	}
	if err := a.saltfile(c, section, &o.runFlags); err != nil {
		return err
	}
	if o.doc {
		// salt takes a target before the function, or none.
		if len(args) > 1 {
			args = args[1:]
		}
		return a.printKindDoc(fun.Exec, args)
	}
	if o.salt.forwards != "" {
		return &statusError{
			status: exitUsage, err: errors.New("--remote-port-forwards: brine forwards no ports of targets"),
			hint: "ssh -R beside the run does",
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
	job, err := o.job(c, args)
	if err != nil {
		return err
	}
	watch, done := a.startProgress(o.progress)
	defer done()
	s, err := a.newSession(config.Master, section, &o.runFlags, o.override())
	if err != nil {
		return err
	}
	s.watch = watch
	defer s.end()
	s.warnNoEffect(c, o.effectless())
	if err := s.checkOutput(); err != nil {
		return err
	}
	if s.ssh, err = a.sshOptions(&o.fleetFlags); err != nil {
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
	job.Timeout = time.Duration(o.timeout) * time.Second
	a.intr.setJID(job.JID)
	env, err := s.controller(ctx, job.JID)
	if err != nil {
		return err
	}
	if o.published.preview {
		ids, err := env.Fleet.Match(ctx, job.Tgt, job.TgtType)
		if err != nil {
			return err
		}
		return s.print(value.Strings(ids...), "", exitOK)
	}
	if err := o.published.safeBatch(ctx, env, &job); err != nil {
		return err
	}
	r := newReport(s, o, job)
	if job.Async || o.async.background != "" {
		return s.async(ctx, o, env, job)
	}
	sum, err := env.Fleet.Run(ctx, job, r.add)
	if len(sum.Targets) == 0 {
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
			return s.noTargets()
		}
		if o.prog == saltCLI {
			return s.saltNoMatch(o.noMatch(job))
		}
		return o.noMatch(job)
	}
	s.warnUnmet(o, job, sum)
	if ferr := r.finish(); err == nil {
		err = ferr
	}
	if err != nil {
		return err
	}
	return silent(s.strictStatus(r.status()))
}

// rosterPath is where the roster is looked for.
func (s *session) rosterPath() string {
	if p := value.Str(s.cfg.Opts.At("roster_file")); s.cfg.Opts.At("roster_file") != nil && p != "" {
		return p
	}
	return filepath.Join(s.cfg.Dir, "roster")
}

// exitNoReturn is salt's status where no target matched.
const exitNoReturn = 2

// saltNoMatch reports as salt does that no target matched: in words, or as an
// empty document.
// Salt: salt/client/__init__.py _check_pub_data, salt/cli/salt.py _output_ret.
func (s *session) saltNoMatch(err error) error {
	if !s.app.json {
		fmt.Fprintln(s.app.Out, "No minions matched the target. No command was sent, no jid was assigned.")
	} else if perr := s.print(value.NewMap(0), "", exitNoReturn); perr != nil {
		return perr
	}
	_, hint := classify(err)
	return &statusError{status: exitNoReturn, err: err, hint: hint}
}

func (o *sshOpts) noMatch(job fun.Job) error {
	switch {
	case o.retryFailed != "" && o.limit != "":
		return fmt.Errorf("no target that failed in job %s is in --limit and matches %q", o.retryFailed, value.Str(job.Tgt))
	case o.retryFailed != "":
		return fmt.Errorf("no target that failed in job %s matches %q (%s)", o.retryFailed, value.Str(job.Tgt), job.TgtType)
	case job.Only != nil && len(job.Only) == 0:
		return &statusError{status: exitGeneric, err: fmt.Errorf("--limit %s names no target", o.limit), hint: "the file of --failed-file is empty where no target failed"}
	case job.Only != nil:
		return fmt.Errorf("no target of the roster matches %q within --limit", value.Str(job.Tgt))
	}
	return &statusError{
		status: exitGeneric, err: fmt.Errorf("no target of the roster matches %q (%s)", value.Str(job.Tgt), job.TgtType),
		hint: "'brine ssh --hosts' lists the targets there are; --roster-file names the roster",
	}
}

// warnUnmet names the ids of --limit that the target does not match.
func (s *session) warnUnmet(o *sshOpts, job fun.Job, sum fun.Summary) {
	if o.limit == "" || o.retryFailed != "" || job.Subset > 0 {
		return
	}
	var unmet []string
	for _, id := range job.Only {
		if _, ok := slices.BinarySearch(sum.Targets, id); !ok && !slices.Contains(unmet, id) {
			unmet = append(unmet, id)
		}
	}
	if len(unmet) == 0 {
		return
	}
	slices.SortFunc(unmet, summary.CompareIDs)
	s.warn(fun.Warning{Text: fmt.Sprintf("--limit names %s, which the target does not match", summary.FoldIDs(unmet))})
}

// printNothing is the report of a command that had nothing to do: JSON is a
// document all the same.
func (s *session) printNothing() error {
	if s.app.json {
		return s.print(value.NewMap(0), "", exitOK)
	}
	return nil
}

// completeTarget offers roster ids, then functions and SLS names.
func (a *App) completeTarget(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return a.completeCall(c, args[1:], prefix)
	}
	f := &runFlags{}
	f.configDir, _ = c.Flags().GetString("config-dir")
	ff := &fleetFlags{}
	ff.roster, _ = c.Flags().GetString("roster")
	ff.rosterFile, _ = c.Flags().GetString("roster-file")
	s, err := a.newSession(config.Master, "salt-ssh", f, ff.override())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer s.end()
	env, err := s.controller(c.Context(), s.newJID())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ids, err := env.Fleet.Match(c.Context(), prefix+"*", "glob")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
