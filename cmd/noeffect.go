package cmd

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/internal/py/value"
)

// saltProgs is a set of Salt's programs.
type saltProgs uint8

const (
	forCall saltProgs = 1 << iota // salt-call
	forRun                        // salt-run
	forSalt                       // salt
)

// noEffect are flags of Salt's programs that have nothing to act on in brine,
// with the reason. They are taken, so that scripts go on working, and named in
// a message.
var noEffect = [...]struct {
	name, short, why string
	value            bool // the flag has one
	progs            saltProgs
}{
	{"eauth", "a", "there is no master to log in to", true, forRun | forSalt},
	{"enable-profiling", "", "brine does not profile itself", false, forCall | forRun},
	{"executor-opts", "", "functions are called directly", true, forCall | forSalt},
	{"file-client", "", "files come from file_roots", true, forCall},
	{"hard-crash", "", "an error shows its cause, not a traceback", false, forCall | forRun | forSalt},
	{"make-token", "T", "there is no master to log in to", false, forRun | forSalt},
	{"master", "", "brine has no master", true, forCall},
	{"module-executors", "", "functions are called directly", true, forCall | forSalt},
	{"no-return-event", "", "nothing is told to a master", false, forCall},
	{"password", "", "there is no master to log in to", true, forRun | forSalt},
	{"priv", "", "brine runs as who starts it", true, forCall},
	{"profiling-path", "", "brine does not profile itself", true, forCall | forRun},
	{"proxyid", "", "brine has no proxy minions", true, forCall},
	{"refresh-grains-cache", "", "grains are gathered when they are read", false, forCall},
	{"skip-grains", "", "grains are gathered when they are read", false, forCall | forRun},
	{"states-dir", "", "states are built in", true, forCall},
	{"timeout", "t", "nothing is waited for", true, forCall},
	{"user", "u", "brine runs as who starts it", true, forCall},
	{"username", "", "there is no master to log in to", true, forRun | forSalt},
}

// registerNoEffect takes the flags that have no effect in a program.
func registerNoEffect(f *pflag.FlagSet, p saltProgs) {
	for _, x := range noEffect {
		if x.progs&p == 0 {
			continue
		}
		if x.value {
			f.StringP(x.name, x.short, "", "no effect: "+x.why)
		} else {
			f.BoolP(x.name, x.short, false, "no effect: "+x.why)
		}
		_ = f.MarkHidden(x.name)
	}
}

// refuseLogin refuses --eauth where external_auth is set: brine has no login, and the
// permissions of that user would not hold.
func (s *session) refuseLogin(c *cobra.Command) error {
	for _, name := range [...]string{"eauth", "make-token"} {
		if f := c.Flags().Lookup(name); f != nil && f.Changed && value.Truth(s.cfg.Opts.At("external_auth")) {
			return &statusError{
				status: exitUsage, err: fmt.Errorf("--%s: external_auth says what those may do who log in to a master, which brine does not have", name),
				hint: "run without it, with the permissions of who starts brine, or let people use brine ui: see docs/ui.md",
			}
		}
	}
	return nil
}

// warnNoEffect names the given flags that have no effect, unless the log level
// hides warnings.
func (s *session) warnNoEffect(c *cobra.Command, p saltProgs) {
	if s.level > slog.LevelWarn {
		return
	}
	for _, x := range noEffect {
		if x.progs&p != 0 && c.Flags().Changed(x.name) {
			fmt.Fprintf(s.app.Err, "brine: --%s has no effect: %s\n", x.name, x.why)
		}
	}
}
