// Package serve is the part of the command line that an agent needs: all of it
// in a slim one (see Main), where the whole brine has it beside its other
// commands.
package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"

	"brine/cmd/assembly"
	"brine/internal/core/host"
	"brine/internal/core/version"
	"brine/internal/fleet/jobs"
)

// ErrTerminal is returned by Agent where a person started it.
var ErrTerminal = errors.New("agent: standard input or output is a terminal, and a controller was expected there")

// TerminalHint says what to do about ErrTerminal.
const TerminalHint = "'brine ssh' starts the agent on its targets; it is not to be started by hand"

// Options are what an agent is started with.
type Options struct {
	In       io.Reader
	Out      io.Writer
	Host     host.Host
	CacheDir string // where files are kept from run to run; "" is beside the program
	Wipe     bool   // remove the program and what it kept at the end
	Detached bool   // run the one job that In hands over, without a controller
	// Resume is the token of an agent that lost its controller: the channel is
	// carried to it; "" serves.
	Resume string
	Relay  bool // carry connections to other machines for the controller
	// Skip is how many bytes come on In before what is for the agent: a script that
	// was not needed to start it.
	Skip int64
}

// stdio is the channel of an agent.
type stdio struct {
	io.Reader
	io.Writer
}

// Close closes both ends, so that the controller sees the end.
func (s stdio) Close() error {
	var errs []error
	for _, x := range []any{s.Reader, s.Writer} {
		if c, ok := x.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Agent serves a controller until the channel ends.
func Agent(ctx context.Context, o Options) error {
	if isTerminal(o.In) || isTerminal(o.Out) {
		return ErrTerminal
	}
	// A channel that is gone is an error to be returned, not the end of the
	// process: programs of calls must be ended first.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if _, err := io.CopyN(io.Discard, o.In, o.Skip); err != nil {
		return fmt.Errorf("skip the script on standard input: %w", err)
	}
	exe, _ := host.Executable()
	lateGC()
	leave(o.Host, exe)
	quiet(o.Host)
	if o.Resume != "" {
		return assembly.ResumeAgent(o.In, o.Out, cmp.Or(o.CacheDir, besideExe(o.Host, exe)), o.Resume)
	}
	if o.Relay {
		return assembly.ServeRelay(ctx, stdio{o.In, o.Out}, cmp.Or(o.CacheDir, besideExe(o.Host, exe)))
	}
	ao := assembly.AgentOptions{Host: o.Host, Table: assembly.Table(), Version: version.Number(), Exe: exe, CacheDir: o.CacheDir, Wipe: o.Wipe}
	if ao.CacheDir == "" {
		ao.CacheDir = besideExe(o.Host, exe)
	}
	ao.CloseAll = o.Host.CloseAll
	// Other processes of this user tell so that they wish to signal a job.
	wake := make(chan os.Signal, 1)
	signal.Notify(wake, syscall.SIGUSR1)
	defer signal.Stop(wake)
	ao.Wake = wake
	if o.Detached {
		return assembly.RunDetached(ctx, o.In, stdio{nil, o.Out}, ao)
	}
	defer reap(o.Host, ao.CacheDir, exe)()
	err := assembly.ServeAgent(ctx, stdio{o.In, o.Out}, ao)
	if o.Wipe {
		wipe(o.Host, exe)
	}
	return err
}

// reapAfter is how long an agent serves before it looks at all processes of the host
// without any sign that one of them is a stopped agent: looking at a few hundred takes
// a quarter of the CPU time of a short call.
const reapAfter = 3 * time.Second

// reap ends what earlier agents left behind: before the first call where a run is
// noted that could hold it up, beside it where another agent listens or listened, else
// in an agent that serves for longer than reapAfter. The func that it returns waits.
func reap(h host.Host, cacheDir, exe string) (wait func()) {
	after := reapAfter
	switch {
	case cacheDir == "":
		return func() {}
	case jobs.Unfinished(h, cacheDir):
		jobs.Reap(h, cacheDir, exe)
		return func() {}
	case jobs.Listened(h, cacheDir):
		after = 0
	}
	done := make(chan struct{})
	t := time.AfterFunc(after, func() {
		defer close(done)
		jobs.Reap(h, cacheDir, exe)
	})
	return func() {
		if !t.Stop() {
			<-done
		}
	}
}

func isTerminal(x any) bool {
	f, ok := x.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// leave goes from the directory of the program, in which it is started, to the
// account's home, where that can be entered.
func leave(h host.Host, exe string) {
	if dir, err := h.Getwd(); err != nil || dir != filepath.Dir(exe) {
		return
	}
	if home := os.Getenv("HOME"); home == "" || os.Chdir(home) != nil {
		_ = os.Chdir("/")
	}
}

// quiet keeps bash from taking the shells of calls for those that sshd starts:
// such a one reads .bashrc, and what that prints would stand in a call's output.
func quiet(h host.Host) {
	if level, err := strconv.Atoi(os.Getenv("SHLVL")); err != nil || level < 1 {
		_ = h.Setenv("SHLVL", "1")
	}
}

// own reports whether a directory is one that only this user can enter.
func own(h host.Host, dir string) bool {
	st, err := h.Lstat(dir)
	return err == nil && st.Mode.IsDir() && st.UID == h.Geteuid() && st.Mode.Perm()&0o077 == 0
}

// besideExe returns the cache directory of an agent that lies in a directory of
// the user's own; "" where it lies elsewhere.
func besideExe(h host.Host, exe string) string {
	if exe == "" || !own(h, filepath.Dir(exe)) {
		return ""
	}
	return filepath.Join(filepath.Dir(exe), "cache")
}

// wipe removes an agent that was placed, its cache, and its directory where
// nothing else is in it. What is not a placed agent stays.
func wipe(h host.Host, exe string) {
	dir, name := filepath.Split(exe)
	dir = filepath.Clean(dir)
	hash, ok := strings.CutPrefix(name, "brine-")
	if !ok || len(hash) != hex.EncodedLen(sha256.Size) || !own(h, dir) {
		return
	}
	if jobs.Holds(h, filepath.Join(dir, "cache")) {
		return // a job without its controller works here, or left its return
	}
	_ = h.Remove(exe)
	_ = h.RemoveAll(filepath.Join(dir, "cache"))
	if h.Remove(dir) == nil && filepath.Base(dir) == "agent" && filepath.Base(filepath.Dir(dir)) == "brine" {
		_ = h.Remove(filepath.Dir(dir))
	}
}

// Sum prints the SHA-256 of the running program: a host that has no program for
// that asks the agent.
func Sum(w io.Writer) error {
	exe, err := host.Executable()
	if err != nil {
		return err
	}
	f, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer f.Close()
	s := sha256.New()
	if _, err := io.Copy(s, f); err != nil {
		return err
	}
	_, err = io.WriteString(w, hex.EncodeToString(s.Sum(nil))+"\n")
	return err
}

// lateGC lets the heap grow to 16 MiB before it is collected for the first
// time, and collects it as usual from then on: a run of a few states, which
// needs no more, collects nothing and is an eighth cheaper.
func lateGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(400)
	first := new([16]byte) // the first collection finds that nobody holds it
	runtime.SetFinalizer(first, func(*[16]byte) { debug.SetGCPercent(usual) })
}
