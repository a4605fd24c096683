package host

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// A handler answers the commands that it matches.
type handler struct {
	match func(Cmd) bool
	run   func(context.Context, Cmd) (Output, error)
}

// OnCommand answers commands whose arguments, joined by blanks, match pattern,
// in which * stands for any text. Handlers added later are asked first.
func (f *Fake) OnCommand(pattern string, out Output) {
	f.HandleCommand(pattern, func(context.Context, Cmd) (Output, error) { return out, nil })
}

// HandleCommand is OnCommand with an answer that is worked out. The Output's
// Stdout and Stderr go where the Cmd wants them.
func (f *Fake) HandleCommand(pattern string, run func(context.Context, Cmd) (Output, error)) {
	parts := strings.Split(pattern, "*")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	re := regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`)
	f.Handle(func(c Cmd) bool { return re.MatchString(strings.Join(c.Argv, " ")) }, run)
}

// Handle answers the commands for which match is true.
func (f *Fake) Handle(match func(Cmd) bool, run func(context.Context, Cmd) (Output, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers = append(f.handlers, handler{match, run})
}

// Run answers c by the handlers. A command that none matches is not found; a
// shell's command line that none matches ends with status 127.
func (f *Fake) Run(ctx context.Context, c Cmd) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return Output{}, fmt.Errorf("run: no command: %w", fs.ErrInvalid)
	}
	f.mu.Lock()
	f.calls = append(f.calls, c)
	if !c.ReadOnly {
		f.changes++
	}
	f.lastPID++
	pid := f.lastPID
	hs := slices.Clone(f.handlers)
	f.mu.Unlock()
	for _, h := range slices.Backward(hs) {
		if !h.match(c) {
			continue
		}
		out, err := h.run(ctx, c)
		if out.PID == 0 {
			out.PID = pid
		}
		if p := c.printing(ctx); p != nil && err == nil {
			p.Print(false, out.Stdout)
			p.Print(true, out.Stderr)
			p.End(out)
		}
		return deliver(c, out), err
	}
	if len(c.Argv) > 2 && strings.HasSuffix(c.Argv[0], "sh") && strings.HasPrefix(c.Argv[1], "-") {
		name, _, _ := strings.Cut(c.Argv[2], " ")
		return deliver(c, Output{PID: pid, Status: 127, Stderr: []byte("sh: 1: " + name + ": not found\n")}), nil
	}
	return Output{}, &exec.Error{Name: c.Argv[0], Err: fs.ErrNotExist}
}

// deliver sends output where c wants it.
func deliver(c Cmd, out Output) Output {
	if c.Merge {
		out.Stdout = slices.Concat(out.Stdout, out.Stderr)
		out.Stderr = nil
	}
	to := func(w io.Writer, b *[]byte) {
		if w != nil {
			_, _ = io.Copy(w, bytes.NewReader(*b))
			*b = nil
		} else if c.MaxOutput > 0 && int64(len(*b)) > c.MaxOutput {
			*b, out.Truncated = (*b)[:c.MaxOutput], true
		}
	}
	to(c.Stdout, &out.Stdout)
	to(c.Stderr, &out.Stderr)
	return out
}

// Start notes c and returns a pid; its handler, if there is one, is run.
func (f *Fake) Start(c Cmd) (int, error) {
	out, err := f.Run(context.Background(), c)
	return out.PID, err
}

// LookPath finds an executable file of the tree.
func (f *Fake) LookPath(name, dirs string) (string, error) {
	if strings.Contains(name, "/") {
		if f.executable(name) {
			return name, nil
		}
		return "", &exec.Error{Name: name, Err: fs.ErrNotExist}
	}
	if dirs == "" {
		dirs = pathOf(f.Environ())
	}
	for d := range strings.SplitSeq(dirs, ":") {
		if at := path.Join(d, name); f.executable(at) {
			return at, nil
		}
	}
	return "", &exec.Error{Name: name, Err: fs.ErrNotExist}
}

func (f *Fake) executable(p string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk("LookPath", p, true)
	return err == nil && n.mode.IsRegular() && n.mode&0o111 != 0
}

// PutExe makes an executable file for LookPath.
func (f *Fake) PutExe(p string) { f.PutFile(p, "", 0o755) }

// Signal notes a signal.
func (f *Fake) Signal(pid, signal int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if pid > f.lastPID {
		return syscall.ESRCH
	}
	if signal != 0 {
		f.signals = append(f.signals, fmt.Sprintf("%d %d", pid, signal))
	}
	return nil
}

// Environ returns Env, as Setenv changed it.
func (f *Fake) Environ() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.Env)
}

// Setenv sets a variable of Env.
func (f *Fake) Setenv(key, value string) error {
	if key == "" || strings.ContainsAny(key, "=\x00") {
		return syscall.EINVAL
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Env = changeEnv(f.Env, key, key+"="+value)
	f.wrote("Setenv", key)
	return nil
}

// Unsetenv takes a variable out of Env.
func (f *Fake) Unsetenv(key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Env = changeEnv(f.Env, key, "")
	f.wrote("Unsetenv", key)
	return nil
}

// Getwd returns Cwd.
func (f *Fake) Getwd() (string, error) { return f.Cwd, nil }

// Getpid returns PID.
func (f *Fake) Getpid() int { return f.PID }

// Fork returns f with an environment of its own.
func (f *Fake) Fork() Host {
	return &fakeFork{Fake: f, env: environ{vars: append([]string{}, f.Environ()...)}}
}

// SignalGroups does nothing: a fake's programs end at once.
func (*Fake) SignalGroups(int) {}

// CloseAll does nothing: a fake's programs end at once.
func (*Fake) CloseAll(context.Context) {}

// A fakeFork is a fake with an environment of its own.
type fakeFork struct {
	*Fake
	env environ
}

func (f *fakeFork) Fork() Host {
	return &fakeFork{Fake: f.Fake, env: environ{vars: append([]string{}, f.Environ()...)}}
}
func (f *fakeFork) Environ() []string              { return f.env.Environ() }
func (f *fakeFork) Setenv(key, value string) error { return f.env.Setenv(key, value) }
func (f *fakeFork) Unsetenv(key string) error      { return f.env.Unsetenv(key) }

func (f *fakeFork) Run(ctx context.Context, c Cmd) (Output, error) {
	if c.Env == nil {
		c.Env = f.Environ()
	}
	return f.Fake.Run(ctx, c)
}

func (f *fakeFork) Start(c Cmd) (int, error) {
	if c.Env == nil {
		c.Env = f.Environ()
	}
	return f.Fake.Start(c)
}
