package dpkg

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

// Environ returns the environment of dpkg and apt: no questions, messages in
// English, and more, which goes before all.
func Environ(h host.Host, more *value.Map) []string {
	set := value.MapOf(
		"APT_LISTBUGS_FRONTEND", "none", "APT_LISTCHANGES_FRONTEND", "none", "DEBIAN_FRONTEND", "noninteractive",
		"UCF_FORCE_CONFFOLD", "1", "LC_ALL", "C", "LANGUAGE", "C",
	)
	own := value.NewMap(0)
	own.Update(more)
	for k, v := range set.All() {
		own.Set(k, v)
	}
	env := slices.DeleteFunc(h.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return own.Has(name)
	})
	for k, v := range own.All() {
		if v != nil && v != false {
			env = append(env, value.Str(k)+"="+value.Str(v))
		}
	}
	return env
}

// An Output is what a program of dpkg or apt said, without blanks at the ends.
type Output struct {
	Status         int
	Stdout, Stderr string
}

// Map returns the output as cmd.run_all does.
func (o *Output) Map() *value.Map {
	return value.MapOf("retcode", int64(o.Status), "stdout", o.Stdout, "stderr", o.Stderr)
}

// Run runs a program of dpkg or apt.
func Run(ctx context.Context, h host.Host, env *value.Map, stdin string, argv ...string) (Output, error) {
	c := host.Cmd{Argv: argv, Env: Environ(h, env), Dir: "/"}
	if stdin != "" {
		c.Stdin = strings.NewReader(stdin)
	}
	out, err := h.Run(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return Output{}, ctx.Err()
		}
		return Output{}, fun.Errorf("%s cannot be run: %v", argv[0], err)
	}
	if ctx.Err() != nil {
		return Output{}, ctx.Err()
	}
	trim := func(b []byte) string { return strings.TrimRight(value.DecodeReplace(b), " \t\r\n\v\f") }
	return Output{out.Status, trim(out.Stdout), trim(out.Stderr)}, nil
}

// The waits for a lock: each is twice the one before, up to the longest.
const (
	firstWait   = 2 * time.Second
	longestWait = 8 * time.Second
	lockLimit   = 15 * time.Minute
)

// Locked runs a program that may change the machine, and waits while another one
// has dpkg's or apt's lock. After 15 minutes it fails with the program's own
// message, which names the holder.
func Locked(ctx context.Context, env *fun.Env, more *value.Map, stdin string, argv ...string) (Output, error) {
	wait, waited := firstWait, time.Duration(0)
	for {
		out, err := Run(ctx, env.Host, more, stdin, argv...)
		if err != nil || out.Status == 0 {
			return out, err
		}
		held := lockLine(out.Stderr)
		if held == "" {
			return out, nil
		}
		if waited >= lockLimit {
			out.Stderr += fmt.Sprintf("\nE: Gave up after %s", waited)
			return out, nil
		}
		if waited == 0 {
			env.Warn(fun.Warning{Text: strings.TrimPrefix(held, "E: ") + "; waiting for up to " + lockLimit.String()})
		}
		if err := env.Host.Sleep(ctx, wait); err != nil {
			return out, err
		}
		waited += wait
		wait = min(2*wait, longestWait)
	}
}

// lockLine returns the line of apt or dpkg that says that another program has a
// lock, and which one; "" where there is none.
func lockLine(stderr string) string {
	for l := range strings.SplitSeq(stderr, "\n") {
		if strings.Contains(l, "Could not get lock") || strings.Contains(l, "locked by another process") {
			return l
		}
	}
	return ""
}
