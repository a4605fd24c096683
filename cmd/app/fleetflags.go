package app

import (
	"github.com/spf13/pflag"

	"brine/cmd/internal/progress"
	"brine/internal/py/value"
)

// FleetFlags say which machines there are and how they are reached.
type FleetFlags struct {
	Roster     string
	RosterFile string
	MaxProcs   int
	Timeout    int

	User, Priv    string
	IgnoreKeys    bool
	HostKeys      string
	Askpass       bool
	Retries       int
	NoKeepAlive   bool
	KeepAlive     int // seconds; 0: as ssh_config says
	KeepAliveMax  int
	Persist       int // seconds; negative: as configured
	Wipe          bool
	RefreshGrains bool
	Unreachable   bool // is allowed
	AgentDir      string
	Fleets        string // their names
	Progress      progress.Flags

	Sudo           bool
	IdentitiesOnly bool
	Options        []string // as of ssh -o

	Limit   string // of the targets, as the command line has it: see session.Reach
	Summary bool
	Verbose bool
	Group   GroupMode // of equal results
}

// RegisterTargets registers the flags of commands that run something on targets, or show what
// would run there: which of them it is for, and what is said of them.
func (f *FleetFlags) RegisterTargets(fs *pflag.FlagSet) {
	fs.StringVar(&f.Limit, "limit", "", "only these of the targets: ids or globs separated by commas, a compound expression, @failed (in the last run), @<jid> (failed in that job), @<file> (one id per line)")
	fs.BoolVar(&f.Summary, "summary", false, "print a line for each target, or for several with the same result, at the end: failures last")
	fs.BoolVarP(&f.Verbose, "verbose", "v", false, "print the jid of the job first, and which configuration file holds")
}

// registerSSH registers what Salt has for salt-ssh alone.
func (f *FleetFlags) registerSSH(fs *pflag.FlagSet) {
	fs.BoolVar(&f.Sudo, "sudo", false, "become root with sudo, if the roster does not say")
	fs.BoolVar(&f.IdentitiesOnly, "identities-only", false, "use only the configured keys, not ssh-agent")
	RepeatedVar(fs, &f.Options, "ssh-option", "", "option as of ssh -o; may be repeated")
	fs.IntVar(&f.Persist, "ssh-persist", -1, "seconds that connections stay open for later runs when nobody uses them; 0: they end with the run (default: ssh_persist, else ControlPersist of ssh_config)")
	fs.Lookup("ssh-persist").DefValue = "0" // so that help shows no -1
}

// RegisterAs registers the flags with the shorthands of --timeout and
// --progress, which Salt's programs differ in.
func (f *FleetFlags) RegisterAs(fs *pflag.FlagSet, timeoutShort, progressShort string) {
	f.Progress.Register(fs, progressShort)
	if progressShort == "" { // salt, which has -p, has none of them
		f.registerSSH(fs)
	}
	fs.StringVar(&f.Roster, "roster", "", "type of the roster: flat, dir, sshconfig, ansible, ... (default: flat)")
	fs.StringVar(&f.Fleets, "fleet", "", "use only these fleets (comma-separated); \"roster\" means the roster (default: all)")
	fs.StringVar(&f.RosterFile, "roster-file", "", "file with the targets, - for standard input (default: roster in the configuration directory)")
	fs.IntVar(&f.MaxProcs, "max-procs", 0, "how many targets to work on at once (default: 64)")
	fs.IntVarP(&f.Timeout, "timeout", timeoutShort, 0, "seconds until a silent target is asked whether its job is still running")
	fs.StringVar(&f.User, "user", "", "user to log in as, if the roster does not name one")
	fs.StringVar(&f.Priv, "priv", "", "private key to log in with, if the roster does not name one")
	fs.BoolVarP(&f.IgnoreKeys, "ignore-host-keys", "i", false, "accept any host key: insecure, the host could be an impostor")
	fs.StringVar(&f.HostKeys, "host-keys", "", "which host keys to accept: strict (only known ones), ask (about unknown ones, on a terminal), accept-new, off (default: as in ssh_config, else ask)")
	fs.BoolVar(&f.Askpass, "askpass", false, "ask for a password, once for all targets without one in the roster; further questions, such as codes, are asked once per account")
	fs.BoolVar(&f.Askpass, "ask-pass", false, "same as --askpass")
	_ = fs.MarkHidden("ask-pass") // it is defined in the line above
	fs.IntVar(&f.Retries, "retries", -1, "how often to retry a connection (default: 3, only after a reset)")
	fs.Lookup("retries").DefValue = "0" // so that help shows no -1
	fs.BoolVar(&f.NoKeepAlive, "disable-keepalive", false, "ask no silent target whether it is still there")
	fs.IntVar(&f.KeepAlive, "keepalive-interval", 0, "seconds after which a silent target is asked whether it is still there (default: as in ssh_config, else 15)")
	fs.IntVar(&f.KeepAliveMax, "keepalive-count-max", 0, "how many of these questions may stay unanswered before the connection is closed (default: as in ssh_config, else 3)")
	fs.BoolVarP(&f.Wipe, "wipe", "w", false, "remove the agent from the targets after the run")
	fs.BoolVar(&f.RefreshGrains, "refresh-grains", false, "ask targets for their grains whatever ssh_grains_age says")
	fs.BoolVar(&f.Unreachable, "allow-unreachable", false, "skip targets that cannot be reached to find out whether they match")
	fs.StringVar(&f.AgentDir, "agent-dir", "", "directory of agents for other platforms: brine-<os>-<arch>")
}

// stdinPath is the roster file of --roster-file -.
const stdinPath = "/dev/stdin"

// Override returns what the flags put over the configuration.
func (f *FleetFlags) Override() *value.Map {
	m := value.NewMap(4)
	if f.Roster != "" {
		m.Set("roster", f.Roster)
	}
	switch f.RosterFile {
	case "":
	case "-":
		m.Set("roster_file", stdinPath)
	default:
		m.Set("roster_file", f.RosterFile)
	}
	if f.MaxProcs > 0 {
		m.Set("ssh_max_procs", int64(f.MaxProcs))
	}
	if f.Timeout > 0 {
		m.Set("timeout", int64(f.Timeout))
	}
	text := func(key, v string) {
		if v != "" {
			m.Set(key, v)
		}
	}
	yes := func(key string, on bool) {
		if on {
			m.Set(key, true)
		}
	}
	text("fleet", f.Fleets)
	text("ssh_host_keys", f.HostKeys)
	text("ssh_agent_dir", f.AgentDir)
	yes("ignore_host_keys", f.IgnoreKeys)
	yes("ssh_wipe", f.Wipe)
	yes("ssh_sudo", f.Sudo)
	yes("ssh_identities_only", f.IdentitiesOnly)
	if len(f.Options) > 0 {
		m.Set("ssh_options", value.Strings(f.Options...))
	}
	yes("ssh_refresh_grains", f.RefreshGrains)
	yes("ssh_allow_unreachable", f.Unreachable)
	if f.NoKeepAlive {
		m.Set("ssh_keepalive", false)
	}
	if f.KeepAlive > 0 {
		m.Set("ssh_keepalive_interval", int64(f.KeepAlive))
	}
	if f.KeepAliveMax > 0 {
		m.Set("ssh_keepalive_count_max", int64(f.KeepAliveMax))
	}
	if f.Persist >= 0 {
		m.Set("ssh_persist", int64(f.Persist))
	}
	if f.Retries >= 0 {
		m.Set("ssh_retries", int64(f.Retries))
	}
	return m
}
