package pkg

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// An Output is what a program of a package manager said, without blanks at the
// ends.
type Output struct {
	Status         int
	Stdout, Stderr string
}

// Map returns the output as cmd.run_all does.
func (o *Output) Map() *value.Map {
	return value.MapOf("retcode", int64(o.Status), "stdout", o.Stdout, "stderr", o.Stderr)
}

// Fault is what a program that failed said: on stderr, else its last line.
func (o *Output) Fault() string {
	if o.Stderr != "" {
		return o.Stderr
	}
	return o.Stdout[strings.LastIndexByte(o.Stdout, '\n')+1:]
}

// A Command is a program of a package manager, to be run in the directory /.
type Command struct {
	Argv     []string
	Env      []string // KEY=value, whole; nil is that of tools
	Stdin    string
	Merge    bool // stderr goes to stdout
	ReadOnly bool // it changes nothing
}

// Run runs a command to its end. A program that is missing or cannot be started is
// an error; a status other than 0 is not.
func Run(ctx context.Context, h host.Host, c Command) (Output, error) {
	o := tool.Options{Env: c.Env, Dir: "/", Merge: c.Merge, ReadOnly: c.ReadOnly}
	if c.Stdin != "" {
		o.Stdin = strings.NewReader(c.Stdin)
	}
	out, err := tool.RunWith(ctx, h, o, c.Argv...)
	return Output{out.Status, out.Text(), out.Complaint()}, err
}

// Environ returns the host's environment with the variables of set instead of its
// own; one whose value is None or False is taken out.
func Environ(h host.Host, set *value.Map) []string {
	var env []string
	for _, kv := range h.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !set.Has(name) {
			env = append(env, kv)
		}
	}
	for k, v := range set.All() {
		if v != nil && v != false {
			env = append(env, value.Str(k)+"="+value.Str(v))
		}
	}
	return env
}

// scopePrefix runs a package manager in a scope of its own, so that systemd does
// not end it with the service that brine may be part of, when an upgrade restarts
// that.
var scopePrefix = []string{"systemd-run", "--scope", "--quiet", "--collect", "--"}

// Scope returns the words before a command that changes the machine: none where
// systemd does not run the machine, and where the option systemd.scope is false.
func Scope(ctx context.Context, env *fun.Env) []string {
	if st, err := env.Host.Stat("/run/systemd/system"); err != nil || !st.Mode.IsDir() || env.Host.Geteuid() != 0 {
		return nil
	}
	if !tool.Has(env.Host, scopePrefix[0]) {
		return nil
	}
	if v, err := env.Exec(ctx, "config.get", value.MapOf("default", true), "systemd.scope"); err == nil && !value.Truth(v) {
		return nil
	}
	return scopePrefix
}

// NoScope reports whether it was systemd-run that failed and not its command.
func NoScope(out *Output) bool {
	text := out.Stderr
	if text == "" {
		text = out.Stdout // of a command whose outputs are merged
	} else if out.Stdout != "" {
		return false
	}
	for _, start := range []string{"Failed to ", "systemd-run: ", "System has not been booted"} {
		if strings.HasPrefix(text, start) && !strings.Contains(text, "\n") {
			return true
		}
	}
	return false
}

// Scoped runs a command in a scope of its own, where that can be had.
func Scoped(ctx context.Context, env *fun.Env, argv []string, run func(argv []string) (Output, error)) (Output, error) {
	if scope := Scope(ctx, env); scope != nil {
		out, err := run(append(append([]string{}, scope...), argv...))
		if err != nil || out.Status == 0 || !NoScope(&out) {
			return out, err
		}
	}
	return run(argv)
}

// The waits for a lock: each is twice the one before, up to the longest.
const (
	firstWait   = 2 * time.Second
	longestWait = 8 * time.Second
)

// lockTimeout is the option that says for how many seconds a lock is waited for,
// and its default.
var lockTimeout = fun.Arg{Name: "pkg.lock_timeout", Type: fun.Duration, Default: int64(15 * 60)}

// LockTimeout returns how long a program waits while another one has the lock of the
// package manager.
func LockTimeout(ctx context.Context, env *fun.Env) (time.Duration, error) {
	v, err := env.Exec(ctx, "config.get", value.MapOf("default", lockTimeout.Default), lockTimeout.Name)
	if err != nil || v == nil {
		v = lockTimeout.Default
	}
	if v, _, err = lockTimeout.Convert(v); err != nil {
		return 0, fun.Errorf("the option %v", err)
	}
	return value.Seconds(v)
}

// Locked runs a program that may change the machine, and waits while another one
// has the lock of the package manager. held returns the line that says so, ""
// where there is none. After the option pkg.lock_timeout Locked returns the output as
// it is, with a line about that at its end.
func Locked(ctx context.Context, env *fun.Env, run func() (Output, error), held func(*Output) string) (Output, error) {
	wait, waited := firstWait, time.Duration(0)
	var limit time.Duration
	for {
		out, err := run()
		if err != nil || out.Status == 0 {
			return out, err
		}
		line := held(&out)
		if line == "" {
			return out, nil
		}
		if waited == 0 {
			if limit, err = LockTimeout(ctx, env); err != nil {
				return out, err
			}
			if limit > 0 {
				env.Warn(fun.Warning{Text: strings.TrimSuffix(line, ".") + "; waiting for up to " + limit.String() + " (option " + lockTimeout.Name + ")"})
			}
		}
		if waited >= limit {
			text := &out.Stderr
			if *text == "" && out.Stdout != "" {
				text = &out.Stdout // of a command whose outputs are merged
			}
			*text = strings.TrimPrefix(fmt.Sprintf("%s\nE: Gave up after %s (option %s)", *text, waited, lockTimeout.Name), "\n")
			return out, nil
		}
		wait = min(wait, limit-waited)
		if err := env.Host.Sleep(ctx, wait); err != nil {
			return out, err
		}
		waited += wait
		wait = min(2*wait, longestWait)
	}
}

// ServiceOf returns the service of systemd that a process belongs to, without the
// suffix; "" where it belongs to none.
func ServiceOf(h host.Host, pid string) string {
	if pid == "" || strings.Trim(pid, "0123456789") != "" {
		return ""
	}
	text, err := h.ReadFile("/proc/" + pid + "/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		_, group, _ := strings.Cut(line, ":")
		controller, dir, ok := strings.Cut(group, ":")
		if !ok || controller != "" && controller != "name=systemd" {
			continue
		}
		for part := range strings.SplitSeq(dir, "/") {
			if s, ok := strings.CutSuffix(part, ".service"); ok {
				return s
			}
		}
	}
	return ""
}

// Holder returns which process has a lock on one of some files: "process 77 (rpm)";
// "" where that cannot be found out.
func Holder(h host.Host, files ...string) string {
	locks, err := h.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	for line := range strings.SplitSeq(string(locks), "\n") {
		f := strings.Fields(line) // "1: POSIX  ADVISORY  WRITE 77 fe:00:131 0 EOF"
		if len(f) < 8 || f[1] == "->" {
			continue
		}
		dir := "/proc/" + f[4]
		fds, err := h.ReadDir(dir + "/fd")
		if err != nil {
			continue
		}
		for _, fd := range fds {
			file, err := h.Readlink(dir + "/fd/" + fd)
			if err != nil || !slices.Contains(files, file) {
				continue
			}
			comm, _ := h.ReadFile(dir + "/comm")
			return fmt.Sprintf("process %s (%s)", f[4], strings.TrimSpace(string(comm)))
		}
	}
	return ""
}

// Running returns the id of a process of a program's name; "" where none runs.
func Running(h host.Host, name string) string {
	pids, err := h.ReadDir("/proc")
	if err != nil {
		return ""
	}
	for _, pid := range pids {
		if strings.Trim(pid, "0123456789") != "" {
			continue
		}
		if comm, err := h.ReadFile("/proc/" + pid + "/comm"); err == nil && strings.TrimSpace(string(comm)) == name {
			return pid
		}
	}
	return ""
}
