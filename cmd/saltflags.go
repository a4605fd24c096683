package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/internal/source"
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
	{"module-dirs", "m", "custom functions come from _modules of file_roots", true, forCall},
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

// aliases are further names of flags.
var aliases = [...]struct{ alias, name string }{
	{"auth", "eauth"},
	{"batch-size", "batch"},
	{"documentation", "doc"},
	{"external-auth", "eauth"},
	{"file-roots", "file-root"},
	{"force-colour", "force-color"},
	{"no-colour", "no-color"},
	{"output", "out"},
	{"output-file", "out-file"},
	{"output-file-append", "out-file-append"},
	{"output-indent", "out-indent"},
	{"pillar-roots", "pillar-root"},
	{"raw-shell", "raw"},
	{"refresh", "refresh-grains"},
	{"refresh-cache", "refresh-grains"},
	{"thin", "regen-thin"},
}

// saltSpelling lets flags be spelt in every way that Salt accepts.
func saltSpelling(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	for _, a := range aliases {
		if a.alias == name {
			return pflag.NormalizedName(a.name)
		}
	}
	return pflag.NormalizedName(name)
}

// expandFlags writes flags out that are abbreviated, as Salt's programs let
// them be: --state-out=terse. What is no beginning of one flag alone is left.
func expandFlags(f *pflag.FlagSet, args []string) []string {
	out := append([]string(nil), args...)
	for i, arg := range out {
		if arg == "--" {
			break
		}
		name, isLong := strings.CutPrefix(arg, "--")
		name, value, hasValue := strings.Cut(name, "=")
		if !isLong || f.Lookup(name) != nil {
			continue
		}
		if full := beginsWith(f, strings.ReplaceAll(name, "_", "-")); full != "" {
			out[i] = "--" + full
			if hasValue {
				out[i] += "=" + value
			}
		}
	}
	return out
}

// beginsWith returns the one flag that a name begins with s, or "".
func beginsWith(f *pflag.FlagSet, s string) string {
	found := map[string]bool{}
	f.VisitAll(func(fl *pflag.Flag) {
		if strings.HasPrefix(fl.Name, s) {
			found[fl.Name] = true
		}
	})
	for _, a := range aliases {
		if strings.HasPrefix(a.alias, s) && f.Lookup(a.name) != nil {
			found[a.name] = true
		}
	}
	if len(found) != 1 {
		return ""
	}
	for name := range found {
		return name
	}
	return ""
}

// argsFromStdin replaces --args-stdin by the arguments on stdin, one a line,
// which come last.
func (a *App) argsFromStdin(args []string) ([]string, error) {
	var out []string
	asked := false
	for i, arg := range args {
		if arg == "--" {
			out = append(out, args[i:]...)
			break
		}
		if arg == "--args-stdin" || arg == "--args_stdin" {
			asked = true
			continue
		}
		out = append(out, arg)
	}
	if !asked || a.In == nil {
		return out, nil
	}
	r := bufio.NewScanner(a.In)
	r.Buffer(nil, maxArg)
	for r.Scan() {
		out = append(out, strings.TrimRight(r.Text(), "\r\n"))
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("--args-stdin: %w", err)
	}
	return out, nil
}

// maxArg bounds an argument that is read from stdin.
const maxArg = 1 << 20

// flagError makes an unknown flag a usage fault that names the nearest one and
// the way out.
func flagError(c *cobra.Command, err error) error {
	if errors.Is(err, errHelp) {
		return err
	}
	var ne *pflag.NotExistError
	if !errors.As(err, &ne) || ne.GetSpecifiedShortnames() != "" {
		return usagef(c, "%s", err)
	}
	var names []string
	add := func(fl *pflag.Flag) {
		if !fl.Hidden {
			names = append(names, fl.Name)
		}
	}
	c.Flags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	sort.Strings(names)
	near, ok := source.Nearest(strings.ReplaceAll(ne.GetSpecifiedName(), "_", "-"), names)
	if !ok {
		return usagef(c, "%s", err)
	}
	return usagef(c, "%s (did you mean --%s?)", err, near)
}
