// Package machine is what the modules that drive the tools of a system share:
// running them, keeping what they told, and looking at files.
package machine

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

// Run runs a tool in the C locale and waits for it. A tool that is not there is
// an error, one that fails is not.
func Run(ctx context.Context, h host.Host, argv ...string) (host.Output, error) {
	return run(ctx, h, host.Cmd{Argv: argv})
}

// Look is Run for a tool that changes nothing.
func Look(ctx context.Context, h host.Host, argv ...string) (host.Output, error) {
	return run(ctx, h, host.Cmd{Argv: argv, ReadOnly: true})
}

func run(ctx context.Context, h host.Host, cmd host.Cmd) (host.Output, error) {
	cmd.Env = append(h.Environ(), "LC_ALL=C", "LANGUAGE=C")
	out, err := h.Run(ctx, cmd)
	if err == nil {
		return out, ctx.Err()
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	return out, fun.Errorf("Unable to run command '%s': %v", strings.Join(cmd.Argv, " "), err)
}

// Succeeds runs a tool and returns whether it ended well. The return's status is
// the tool's, so that a failure shows in the exit status of the command line.
func Succeeds(ctx context.Context, h host.Host, argv ...string) (fun.Result, error) {
	out, err := Run(ctx, h, argv...)
	return fun.Result{Value: out.Status == 0, Retcode: out.Status}, err
}

// Strings is a list of names as a return.
func Strings(names []string, err error) (fun.Result, error) {
	return fun.Result{Value: value.Strings(names...)}, err
}

// Bool is a truth as a return.
func Bool(ok bool, err error) (fun.Result, error) { return fun.Result{Value: ok}, err }

// Executable reports whether path is a file that its owner may run.
func Executable(h host.Host, path string) bool {
	st, err := h.Stat(path)
	return err == nil && st.Mode.IsRegular() && st.Mode&0o100 != 0
}

// Exists reports whether there is something at path, links followed.
func Exists(h host.Host, path string) bool {
	_, err := h.Stat(path)
	return err == nil
}

// Booted reports whether systemd is the init of the running system.
func Booted(h host.Host) bool { return Exists(h, "/run/systemd/system") }

// Grain returns a grain as text; "" where it is not there.
func Grain(env *fun.Env, name string) string {
	if env.Grains == nil {
		return ""
	}
	v, ok := env.Grains.Get(name)
	if !ok || v == nil {
		return ""
	}
	return value.Str(v)
}
