package app

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

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

// SaltSpelling lets flags be spelt in every way that Salt accepts.
func SaltSpelling(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	for _, a := range aliases {
		if a.alias == name {
			return pflag.NormalizedName(a.name)
		}
	}
	return pflag.NormalizedName(name)
}

// ExpandFlags writes flags out that are abbreviated, as Salt's programs let
// them be: --state-out=terse. What begins no flag, or several, stays.
func ExpandFlags(f *pflag.FlagSet, args []string) []string {
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

// ArgsFromStdin replaces --args-stdin by the arguments on stdin, one a line,
// which come last.
func (a *App) ArgsFromStdin(args []string) ([]string, error) {
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
	if err := r.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("--args-stdin: line %d is longer than %d MiB", len(out)+1, maxArg>>20)
	} else if err != nil {
		return nil, fmt.Errorf("--args-stdin: %w", err)
	}
	return out, nil
}

// maxArg bounds an argument that is read from stdin.
const maxArg = 64 << 20
