// Package machine is what the modules that drive the tools of a system share:
// running them, keeping what they told, and looking at files.
package machine

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
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

// Option returns what config.option returns for a setting; nil where it is not
// there.
func Option(ctx context.Context, env *fun.Env, name string) value.Value {
	if mod, _, err := env.Find(fun.Exec, "config.option"); err == nil && mod != nil {
		if res, err := env.Invoker.Invoke(ctx, fun.Exec, "config.option", fun.Args{Pos: []value.Value{name}}); err == nil {
			return res.Value
		}
	}
	for _, m := range []value.Mapping{env.Opts, env.Pillar} {
		if m == nil {
			continue
		}
		if v, ok := m.Get(name); ok {
			return v
		}
	}
	return nil
}

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

// Has reports whether a program is there.
func Has(h host.Host, name string) bool {
	_, err := h.LookPath(name, "")
	return err == nil
}

// Provided is the Avail of a state module whose functions are those of an
// execution module.
func Provided(env *fun.Env, module string) (bool, string) {
	mod, why := env.Provider(fun.Exec, module)
	return mod != nil, why
}

// Said is a tool's own message about its failure.
func Said(out host.Output) string {
	text := strings.TrimSpace(value.DecodeReplace(out.Stderr))
	if text == "" {
		text = strings.TrimSpace(value.DecodeReplace(out.Stdout))
	}
	return text
}

// Setting returns the value of the first line "KEY=VALUE" of a file, without
// quotes; ok is false where there is none. Lines that begin with # do not count.
func Setting(h host.Host, path, key string) (val string, ok bool) {
	text, err := h.ReadFile(path)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(value.DecodeReplace(text)) {
		if v, is := strings.CutPrefix(strings.TrimSpace(line), key+"="); is {
			return strings.Trim(v, `"'`), true
		}
	}
	return "", false
}

// Set replaces the lines of a file that begin with "KEY=" by line, or adds it at
// the end where there is none and add says so. It writes nothing where nothing
// changes.
func Set(h host.Host, path, key, line string, add bool) error {
	text, err := h.ReadFile(path)
	if err != nil && (!add || !errors.Is(err, fs.ErrNotExist)) {
		return fun.Errorf("%v", err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(text) == 0 {
		lines = nil
	}
	found := false
	for i, l := range lines {
		if strings.HasPrefix(l, key+"=") {
			lines[i], found = line, true
		}
	}
	if !found && add {
		lines = append(lines, line)
	}
	return Write(h, path, strings.Join(lines, "\n")+"\n")
}

// Write replaces a file that everyone may read, unless it has that content.
func Write(h host.Host, path, text string) error {
	if old, err := h.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	mode := fs.FileMode(0o644)
	if st, err := h.Stat(path); err == nil {
		mode = st.Mode.Perm()
	}
	if err := h.WriteFile(path, strings.NewReader(text), host.WriteOptions{Mode: &mode, FollowLinks: true}); err != nil {
		return fun.Errorf("%v", err)
	}
	return nil
}
