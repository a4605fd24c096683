package cmd

import (
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/internal/py/value"
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
	app.RunFlags
	app.FleetFlags
	targetFlags
	delimiter string // of grain and pillar targets

	prog        program
	raw         bool
	static      bool
	metadata    string
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
	async       app.AsyncFlags
	waves       waveFlags
	salt        saltSSHFlags
	published   saltFlags
	updates     bool // the roster, by new addresses
	group       bool
	noGroup     bool
	count       counter // of the job's targets
}

// saltSSHFlags are those of salt-ssh alone, which brine has in its roster and
// configuration.
type saltSSHFlags struct {
	sudo, identitiesOnly, preFlight, noHostKeys bool
	forwards, scanPorts                         string
	scanTimeout                                 float64
	options                                     []string
}

func (o *sshOpts) register(f *pflag.FlagSet) {
	o.RunFlags.Register(f)
	o.targetFlags.register(f)
	if o.prog == saltCLI {
		o.RegisterAs(f, "t", "p")
		o.published.register(f)
		app.RegisterNoEffect(f, app.ForSalt)
	} else {
		o.RegisterAs(f, "", "")
	}
	if o.prog != saltCLI {
		f.BoolVarP(&o.raw, "raw", "r", false, "the arguments are a shell command; no agent is copied to the target")
		f.BoolVarP(&o.hosts, "hosts", "H", false, "list the targets of the roster and their hosts, and exit")
		f.BoolVar(&o.updates, "update-roster", false, "add targets given as user@host to the roster file once they have answered")
		if o.prog == brineSSH {
			f.BoolP("version", "V", false, "print the version") // see addVersionFlag
			f.BoolVar(&o.group, "group", false, "print equal results together at the end (default on a terminal with more than 20 targets)")
			f.BoolVar(&o.noGroup, "no-group", false, "print the result of each target separately")
		}
		f.BoolVar(&o.keyDeploy, "key-deploy", false, "add --priv's public key to the authorized_keys of the targets first")
	}
	f.StringVar(&o.delimiter, "delimiter", ":", "separator of the parts of grain and pillar targets")
	f.BoolVarP(&o.static, "static", "s", false, "print all results at the end, sorted, instead of as they arrive")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print the jid of the job first")
	f.StringVarP(&o.batch, "batch", "b", "", "how many targets run at once: a number or a percentage")
	f.Float64Var(&o.batchWait, "batch-wait", 0, "seconds to wait after each return before the next target starts")
	f.IntVar(&o.subset, "subset", 0, "run on this many of the targets, chosen at random")
	f.BoolVar(&o.failHard, "failhard", false, "start no further targets after one has failed")
	o.waves.register(f)
	f.BoolVar(&o.summary, "summary", false, "print a summary at the end: equal results together, failures last")
	f.StringVar(&o.failedFile, "failed-file", "", "write the ids of failed targets to this file, one per line")
	f.StringVar(&o.limit, "limit", "", "only these of the targets: ids separated by commas, or @<file> with one id per line")
	f.StringVar(&o.retryFailed, "retry-failed", "", "run only on the targets that failed in the job with this jid; without target and function, repeat what it ran")
	f.BoolVarP(&o.doc, "doc", "d", false, "print the documentation of the function")
	f.StringVar(&o.passwd, "passwd", "", "refused: see --askpass")
	f.StringVar(&o.privPasswd, "priv-passwd", "", "refused: see priv_passwd of the roster")
	f.StringVar(&o.jid, "jid", "", "run under this jid")
	f.StringVar(&o.metadata, "metadata", "", "data to store with the job, as YAML")
	f.StringVar(&o.metadata, "meta", "", "short for --metadata")
	o.async.Register(f)
	f.IntVar(&o.gather, "gather-job-timeout", 0, "seconds to wait for a target to report whether its job is still running")
	for _, n := range []string{"passwd", "priv-passwd", "jid", "meta", "gather-job-timeout"} {
		_ = f.MarkHidden(n)
	}
	if o.prog != saltCLI {
		f.BoolVar(&o.salt.sudo, "sudo", false, "become root with sudo, if the roster does not say")
		f.BoolVar(&o.salt.identitiesOnly, "identities-only", false, "use only the configured keys, not ssh-agent")
		f.BoolVar(&o.salt.preFlight, "pre-flight", false, "run ssh_pre_flight also where the agent is there already")
		f.StringArrayVar(&o.salt.options, "ssh-option", nil, "option as of ssh -o; may be repeated")
		f.StringVar(&o.salt.forwards, "remote-port-forwards", "", "refused: brine forwards no ports of targets")
		_ = f.MarkHidden("remote-port-forwards")
		f.StringVar(&o.salt.scanPorts, "scan-ports", "", "ports that the rosters scan and clustershell try, with commas between them (default: 22)")
		f.Float64Var(&o.salt.scanTimeout, "scan-timeout", 0, "seconds that these rosters wait for a port (default: 0.01)")
		f.BoolVar(&o.salt.noHostKeys, "no-host-keys", false, "as --ignore-host-keys")
		_ = f.MarkHidden("no-host-keys")
	}
	o.registerNoEffect(f)
}

// override returns what the flags put over the configuration.
func (o *sshOpts) override() *value.Map {
	m := o.FleetFlags.Override()
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
	if o.salt.scanPorts != "" {
		m.Set("ssh_scan_ports", o.salt.scanPorts)
	}
	if o.salt.scanTimeout > 0 {
		m.Set("ssh_scan_timeout", o.salt.scanTimeout)
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
		hidden("skip-roster", "")
		withValue("extra-filerefs", "min-extra-modules", "thin-extra-modules", "python2-bin", "python3-bin")
	case saltCLI:
		hidden("show-timeout", "")
		hidden("ssh", "")
	case brineSSH: // has no hidden flags
	}
}

// saltFlags are those of salt alone.
type saltFlags struct {
	preview   bool
	safeLimit int
	safeSize  int
	separator string
	showJID   bool
	hideTime  bool
}

func (o *saltFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.separator, "args-separator", ",", "what stands alone between the arguments of several functions")
	f.BoolVar(&o.showJID, "show-jid", false, "print the jid of the job first")
	f.BoolVar(&o.hideTime, "hide-timeout", false, "print nothing of targets that did not return")
	f.BoolVar(&o.preview, "preview-target", false, "print the targets that match and run nothing")
	f.IntVar(&o.safeLimit, "batch-safe-limit", 0, "work in batches where this many targets match, or more")
	f.IntVar(&o.safeSize, "batch-safe-size", 8, "targets at once, with --batch-safe-limit")
}

// effectless are the flags of the program that have no effect.
func (o *sshOpts) effectless() app.SaltProgs {
	if o.prog == saltCLI {
		return app.ForSalt
	}
	return 0
}
