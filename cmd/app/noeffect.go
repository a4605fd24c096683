package app

import "github.com/spf13/pflag"

// SaltProgs is a set of Salt's programs.
type SaltProgs uint8

// The programs.
const (
	ForCall SaltProgs = 1 << iota // salt-call
	ForRun                        // salt-run
	ForSalt                       // salt
)

// NoEffect are flags of Salt's programs that have nothing to act on in brine,
// with the reason. They are taken, so that scripts go on working, and named in
// a message.
var NoEffect = [...]struct {
	Name, short, Why string
	value            bool // the flag has one
	Progs            SaltProgs
}{
	{"eauth", "a", "there is no master to log in to", true, ForRun | ForSalt},
	{"enable-profiling", "", "brine does not profile itself", false, ForCall | ForRun},
	{"executor-opts", "", "functions are called directly", true, ForCall | ForSalt},
	{"file-client", "", "files come from file_roots", true, ForCall},
	{"hard-crash", "", "an error shows its cause, not a traceback", false, ForCall | ForRun | ForSalt},
	{"make-token", "T", "there is no master to log in to", false, ForRun | ForSalt},
	{"master", "", "brine has no master", true, ForCall},
	{"module-executors", "", "functions are called directly", true, ForCall | ForSalt},
	{"no-return-event", "", "nothing is told to a master", false, ForCall},
	{"password", "", "there is no master to log in to", true, ForRun | ForSalt},
	{"priv", "", "brine runs as who starts it", true, ForCall},
	{"profiling-path", "", "brine does not profile itself", true, ForCall | ForRun},
	{"proxyid", "", "brine has no proxy minions", true, ForCall},
	{"refresh-grains-cache", "", "grains are gathered when they are read", false, ForCall},
	{"skip-grains", "", "grains are gathered when they are read", false, ForCall | ForRun},
	{"states-dir", "", "states are built in", true, ForCall},
	{"timeout", "t", "nothing is waited for", true, ForCall},
	{"user", "u", "brine runs as who starts it", true, ForCall},
	{"username", "", "there is no master to log in to", true, ForRun | ForSalt},
}

// RegisterNoEffect takes the flags that have no effect in a program.
func RegisterNoEffect(f *pflag.FlagSet, p SaltProgs) {
	for _, x := range NoEffect {
		if x.Progs&p == 0 {
			continue
		}
		if x.value {
			f.StringP(x.Name, x.short, "", "no effect: "+x.Why)
		} else {
			f.BoolP(x.Name, x.short, false, "no effect: "+x.Why)
		}
		_ = f.MarkHidden(x.Name)
	}
}
