// Package tool runs the programs of the system that modules drive: by their
// arguments, without a shell, and in the C locale, so that what they print can
// be read.
package tool

import (
	"context"
	"io"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// An Out is how a program ended.
type Out struct {
	PID            int
	Status         int // -N where signal N ended it
	Stdout, Stderr string
}

// OK reports whether the program ended with status 0.
func (o Out) OK() bool { return o.Status == 0 }

// Text returns what the program printed on stdout, without blanks and line ends
// at its end.
func (o Out) Text() string { return strings.TrimRight(o.Stdout, " \t\r\n\v\f") }

// Fault returns what the program printed on stderr, else on stdout, without
// blanks and line ends at the end.
func (o Out) Fault() string {
	if s := strings.TrimRight(o.Stderr, " \t\r\n\v\f"); s != "" {
		return s
	}
	return o.Text()
}

// All returns the mapping of cmd.run_all.
func (o Out) All() *value.Map {
	return value.MapOf("pid", int64(o.PID), "retcode", int64(o.Status), "stdout", o.Text(), "stderr", strings.TrimRight(o.Stderr, " \t\r\n\v\f"))
}

// Options are how a program is run; the zero Options are the usual ones.
type Options struct {
	Stdin   io.Reader
	User    *host.Account // run as this account; nil: as oneself
	Timeout time.Duration // 0 is none
}

// Run runs a program to its end. A program that is missing or cannot be started
// is a *fun.CommandError; a status other than 0 is no error.
func Run(ctx context.Context, h host.Host, argv ...string) (Out, error) {
	return RunWith(ctx, h, Options{}, argv...)
}

// RunWith is Run with options.
func RunWith(ctx context.Context, h host.Host, o Options, argv ...string) (Out, error) {
	out, err := h.Run(ctx, host.Cmd{Argv: argv, Env: locale(h.Environ()), Stdin: o.Stdin, User: o.User, Timeout: o.Timeout})
	if err != nil {
		return Out{}, fun.Errorf("Unable to run command '%s': %s", strings.Join(argv, " "), host.OSError(err))
	}
	if err := ctx.Err(); err != nil {
		return Out{}, err
	}
	if out.TimedOut {
		return Out{}, fun.Errorf("Command '%s' timed out after %s", strings.Join(argv, " "), o.Timeout)
	}
	return Out{PID: out.PID, Status: out.Status, Stdout: value.DecodeReplace(out.Stdout), Stderr: value.DecodeReplace(out.Stderr)}, nil
}

// locale returns an environment with the C locale.
func locale(env []string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANG") {
			out = append(out, kv)
		}
	}
	return append(out, "LC_ALL=C", "LANG=C")
}
