// Package machine is what the modules of a system share: keeping what its tools told,
// and looking at files, settings and grains. Programs are run by modules/tool.
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

// Strings is a list of names as a return.
func Strings(names []string, err error) (fun.Result, error) {
	return fun.Result{Value: value.Strings(names...)}, err
}

// Text is a text as a return.
func Text(s string, err error) (fun.Result, error) { return fun.Result{Value: s}, err }

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

// Expand replaces a leading ~ or ~user by the home directory, as Python's
// os.path.expanduser; where there is none the path stays as it is.
func Expand(h host.Host, p string) string {
	if !strings.HasPrefix(p, "~") {
		return p
	}
	name, rest := p[1:], ""
	if i := strings.IndexByte(p, '/'); i >= 0 {
		name, rest = p[1:i], p[i:]
	}
	home := ""
	if name == "" {
		for _, kv := range h.Environ() {
			if v, ok := strings.CutPrefix(kv, "HOME="); ok {
				home = v
			}
		}
		if home == "" {
			if a, err := h.LookupUID(h.Geteuid()); err == nil {
				home = a.Home
			}
		}
	} else if a, err := h.LookupUser(name); err == nil {
		home = a.Home
	}
	if home == "" {
		return p
	}
	if p = strings.TrimRight(home, "/") + rest; p == "" {
		return "/"
	}
	return p
}

// Booted reports whether systemd is the init of the running system.
func Booted(h host.Host) bool { return Exists(h, "/run/systemd/system") }

// Option returns what config.option returns for a setting; nil where it is not
// there.
func Option(ctx context.Context, env *fun.Env, name string) value.Value {
	if env.Has("config.option") {
		if res, err := env.Exec(ctx, "config.option", nil, name); err == nil {
			return res
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

// OnLinux returns the Avail of a module for Linux alone. why is what it says elsewhere.
func OnLinux(why string) func(*fun.Env) (bool, string) {
	return func(env *fun.Env) (bool, string) {
		if Grain(env, "kernel") == "Linux" {
			return true, ""
		}
		return false, why
	}
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
