package dpkg

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// Environ returns the environment of dpkg and apt: no questions, messages in
// English, and more, which goes before all.
func Environ(h host.Host, more *value.Map) []string {
	set := value.NewMap(8)
	set.Update(more)
	set.Update(value.MapOf(
		"APT_LISTBUGS_FRONTEND", "none", "APT_LISTCHANGES_FRONTEND", "none", "DEBIAN_FRONTEND", "noninteractive",
		"UCF_FORCE_CONFFOLD", "1", "LC_ALL", "C", "LANGUAGE", "C",
	))
	return pkg.Environ(h, set)
}

// An Output is what a program of dpkg or apt said.
type Output = pkg.Output

// Run runs a program of dpkg or apt.
func Run(ctx context.Context, h host.Host, env *value.Map, stdin string, argv ...string) (Output, error) {
	return pkg.Run(ctx, h, pkg.Command{Argv: argv, Env: Environ(h, env), Stdin: stdin})
}

// Look is Run for a program that changes nothing.
func Look(ctx context.Context, h host.Host, env *value.Map, argv ...string) (Output, error) {
	return pkg.Run(ctx, h, pkg.Command{Argv: argv, Env: Environ(h, env), ReadOnly: true})
}

// Locked runs a program that may change the machine, and waits while another one
// has dpkg's or apt's lock; see [pkg.Locked]. The program's own message names the
// holder.
func Locked(ctx context.Context, env *fun.Env, more *value.Map, stdin string, argv ...string) (Output, error) {
	return pkg.Locked(ctx, env, func() (Output, error) { return Run(ctx, env.Host, more, stdin, argv...) }, func(out *Output) string {
		return strings.TrimPrefix(lockLine(out.Stderr), "E: ")
	})
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
