// Package target has the flags of the commands that run functions on targets, and makes
// jobs of them.
package target

import (
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/internal/py/value"
)

// Program is which of the commands that take a target this one is; their flags
// and exit statuses differ.
type Program int

// The commands.
const (
	BrineSSH Program = iota
	SaltSSH          // salt-ssh
	SaltCLI          // salt
)

// Options are the flags of brine ssh and of the programs of Salt that take a target.
type Options struct {
	app.RunFlags
	app.FleetFlags
	Matching
	Delimiter string // of grain and pillar targets

	Prog        Program
	Raw         bool
	Static      bool
	Metadata    string
	Batch       string
	BatchWait   float64
	Subset      int
	FailHard    bool
	FailedFile  string
	Hosts       bool
	Answers     string // a file with the arguments, from brine ui
	Connections ConnectionsMode
	RetryFailed string
	KeyDeploy   bool
	Doc         bool
	passwd      string
	privPasswd  string
	JID         string
	gather      int
	Async       app.AsyncFlags
	Waves       waveFlags
	Salt        saltSSHFlags
	Published   saltFlags
	Updates     bool    // the roster, by new addresses
	Count       counter // of the job's targets
}

// saltSSHFlags are those of salt-ssh alone, which brine has in its roster and
// configuration.
type saltSSHFlags struct {
	preFlight, noHostKeys bool
	Forwards, scanPorts   string
	scanTimeout           float64
}

// Register adds the flags, which depend on Prog.
func (o *Options) Register(f *pflag.FlagSet) {
	o.RunFlags.Register(f)
	o.Matching.Register(f)
	if o.Prog == SaltCLI {
		o.RegisterAs(f, "t", "p")
		o.Published.register(f)
		app.RegisterNoEffect(f, app.ForSalt)
	} else {
		o.RegisterAs(f, "", "")
	}
	if o.Prog != SaltCLI {
		f.BoolVarP(&o.Raw, "raw", "r", false, "the arguments are a shell command; no agent is copied to the target")
		f.StringVar(&o.Answers, "answers", "", "the arguments of the function, in a file of brine ui")
		_ = f.MarkHidden("answers")
		f.BoolVarP(&o.Hosts, "hosts", "H", false, "list the targets of the roster and their hosts, and exit")
		f.BoolVar(&o.Updates, "update-roster", false, "add targets given as user@host to the roster file once they have answered")
		if o.Prog == BrineSSH {
			f.BoolP("version", "V", false, "print the version") // see addVersionFlag
			o.Group.Register(f)
			f.Var(&o.Connections, "connections", "list the connections that are kept between runs (see --ssh-persist), of all targets or of those that a glob means; --connections=close ends them")
			f.Lookup("connections").NoOptDefVal = string(ListConnections)
		}
		f.BoolVar(&o.KeyDeploy, "key-deploy", false, "add --priv's public key to the authorized_keys of the targets first")
	}
	f.StringVar(&o.Delimiter, "delimiter", ":", "separator of the parts of grain and pillar targets")
	f.BoolVarP(&o.Static, "static", "s", false, "print all results at the end, sorted, instead of as they arrive")
	o.RegisterTargets(f)
	f.StringVarP(&o.Batch, "batch", "b", "", "how many targets run at once: a number or a percentage")
	f.Float64Var(&o.BatchWait, "batch-wait", 0, "seconds to wait after each return before the next target starts")
	f.IntVar(&o.Subset, "subset", 0, "run on this many of the targets, chosen at random")
	f.BoolVar(&o.FailHard, "failhard", false, "start no further targets after one has failed")
	o.Waves.register(f)
	f.StringVar(&o.FailedFile, "failed-file", "", "write the ids of failed targets to this file, one per line")
	f.StringVar(&o.RetryFailed, "retry-failed", "", "run only on the targets that failed in the job with this jid; without target and function, repeat what it ran")
	f.BoolVarP(&o.Doc, "doc", "d", false, "print the documentation of the function")
	f.StringVar(&o.passwd, "passwd", "", "refused: see --askpass")
	f.StringVar(&o.privPasswd, "priv-passwd", "", "refused: see priv_passwd of the roster")
	f.StringVar(&o.JID, "jid", "", "run under this jid")
	f.StringVar(&o.Metadata, "metadata", "", "data to store with the job, as YAML")
	f.StringVar(&o.Metadata, "meta", "", "short for --metadata")
	o.Async.Register(f)
	f.IntVar(&o.gather, "gather-job-timeout", 0, "seconds to wait for a target to report whether its job is still running")
	for _, n := range []string{"passwd", "priv-passwd", "jid", "meta", "gather-job-timeout"} {
		_ = f.MarkHidden(n)
	}
	if o.Prog != SaltCLI {
		f.BoolVar(&o.Salt.preFlight, "pre-flight", false, "run ssh_pre_flight also where the agent is there already")
		f.StringVar(&o.Salt.Forwards, "remote-port-forwards", "", "refused: brine forwards no ports of targets")
		_ = f.MarkHidden("remote-port-forwards")
		f.StringVar(&o.Salt.scanPorts, "scan-ports", "", "ports that the rosters scan and clustershell try, with commas between them (default: 22)")
		f.Float64Var(&o.Salt.scanTimeout, "scan-timeout", 0, "seconds that these rosters wait for a port (default: 0.01)")
		f.BoolVar(&o.Salt.noHostKeys, "no-host-keys", false, "as --ignore-host-keys")
		_ = f.MarkHidden("no-host-keys")
	}
	o.registerNoEffect(f)
}

// Override returns what the flags put over the configuration.
func (o *Options) Override() *value.Map {
	m := o.FleetFlags.Override()
	for key, on := range map[string]bool{
		"ssh_run_pre_flight": o.Salt.preFlight, "ignore_host_keys": o.Salt.noHostKeys,
	} {
		if on {
			m.Set(key, true)
		}
	}
	if o.Salt.scanPorts != "" {
		m.Set("ssh_scan_ports", o.Salt.scanPorts)
	}
	if o.Salt.scanTimeout > 0 {
		m.Set("ssh_scan_timeout", o.Salt.scanTimeout)
	}
	if o.gather > 0 {
		m.Set("gather_job_timeout", int64(o.gather))
	}
	return m
}

// registerNoEffect takes the flags of Salt's that have nothing to act on.
func (o *Options) registerNoEffect(f *pflag.FlagSet) {
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
	switch o.Prog {
	case SaltSSH:
		hidden("hard-crash", "")
		hidden("regen-thin", "t")
		hidden("rand-thin-dir", "W")
		hidden("skip-roster", "")
		withValue("extra-filerefs", "min-extra-modules", "thin-extra-modules", "python2-bin", "python3-bin")
	case SaltCLI:
		hidden("show-timeout", "")
		hidden("ssh", "")
	case BrineSSH: // has no hidden flags
	}
}

// saltFlags are those of salt alone.
type saltFlags struct {
	Preview   bool
	safeLimit int
	safeSize  int
	separator string
	ShowJID   bool
	HideTime  bool
}

func (o *saltFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.separator, "args-separator", ",", "what stands alone between the arguments of several functions")
	f.BoolVar(&o.ShowJID, "show-jid", false, "print the jid of the job first")
	f.BoolVar(&o.HideTime, "hide-timeout", false, "print nothing of targets that did not return")
	f.BoolVar(&o.Preview, "preview-target", false, "print the targets that match and run nothing")
	f.IntVar(&o.safeLimit, "batch-safe-limit", 0, "work in batches where this many targets match, or more")
	f.IntVar(&o.safeSize, "batch-safe-size", 8, "targets at once, with --batch-safe-limit")
}

// Effectless are the flags of the program that have no effect.
func (o *Options) Effectless() app.SaltProgs {
	if o.Prog == SaltCLI {
		return app.ForSalt
	}
	return 0
}
