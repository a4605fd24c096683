package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Signals to jobs. An agent works on the jobs of many steps in one process, so a
// signal for one of them cannot simply be sent to it: a request is written beside
// the notes, and SIGUSR1 tells the agent to look. An agent that does
// not look (it is stopped, or hangs) is ended with all its programs where the
// signal is SIGKILL.

// The signals whose numbers differ: SIGUSR1 tells an agent to look for requests.
type numbers struct{ linux, bsd int }

var (
	usr1 = numbers{10, 30}
	stop = numbers{19, 17}
)

func (p *Proc) number(n numbers) int {
	if u, err := p.host.Uname(); err == nil && u.Sysname != "Linux" {
		return n.bsd
	}
	return n.linux
}

// signalTimeout is how long an agent may take to act on a requested signal.
const signalTimeout = 3 * time.Second

// errNoResponse says that an agent did not take a signal.
var errNoResponse = errors.New("its process does not answer")

// signalName is the name of the file that requests a signal.
func signalName(note string, sig int) string { return note + ".sig" + strconv.Itoa(sig) }

// Signal sends a signal to a job that runs here, and returns the pid of its
// process; 0 where no such job runs. whole says that the process works on that
// job alone, and ends with it. The signal goes to all programs of the job;
// SIGHUP, SIGINT, SIGQUIT, SIGKILL and SIGTERM end it.
// Salt: salt/modules/saltutil.py signal_job.
func (p *Proc) Signal(ctx context.Context, jid string, sig int) (pid int, whole bool, err error) {
	n := p.find(jid)
	if n == nil || !n.alive {
		return 0, false, nil
	}
	if !n.data.Has(keyID) {
		return n.pid, true, p.signalTree(ctx, n.pid, sig)
	}
	request := filepath.Join(p.dir, signalName(filepath.Base(n.path), sig))
	mode := fs.FileMode(0o600)
	if err := p.host.WriteFile(request, bytes.NewReader(nil), host.WriteOptions{Mode: &mode}); err != nil {
		return n.pid, false, err
	}
	if err := p.host.Signal(n.pid, p.number(usr1)); err != nil {
		_ = p.host.Remove(request)
		return n.pid, false, err
	}
	deadline := p.host.Now().Add(signalTimeout)
	for p.host.Now().Before(deadline) {
		if _, err := p.host.Lstat(request); errors.Is(err, fs.ErrNotExist) {
			return n.pid, false, nil
		}
		if err := p.host.Sleep(ctx, 5*time.Millisecond); err != nil {
			break
		}
	}
	_ = p.host.Remove(request)
	if sig == 9 {
		return n.pid, false, p.signalTree(ctx, n.pid, sig)
	}
	return n.pid, false, errNoResponse
}

// signalTree sends a signal to the programs below a process and to itself.
func (p *Proc) signalTree(ctx context.Context, pid, sig int) error {
	below := children(p.host, pid)
	if sig != 9 {
		// The process first: it is to know that it was told to end before its
		// programs end, whose end would look like a failure of their own.
		err := p.host.Signal(pid, sig)
		p.taken(ctx, pid, sig)
		for _, c := range below {
			_ = p.host.Signal(c, sig)
		}
		return err
	}
	// What is to be killed may not start anything meanwhile.
	_ = p.host.Signal(pid, p.number(stop))
	below = children(p.host, pid)
	err := p.host.Signal(pid, sig)
	for _, c := range below {
		_ = p.host.Signal(c, sig)
	}
	return err
}

// taken waits until a process has taken a signal, which a busy machine may hold
// up: for a second at most, and a moment where the system does not tell.
func (p *Proc) taken(ctx context.Context, pid, sig int) {
	if sig < 1 { // 0 only asks whether the process is there
		return
	}
	for range 100 {
		if p.host.Sleep(ctx, 10*time.Millisecond) != nil {
			return
		}
		b, _ := p.host.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, pending, ok := strings.Cut(string(b), "\nShdPnd:\t")
		line, _, _ := strings.Cut(pending, "\n")
		mask, err := strconv.ParseUint(line, 16, 64)
		if !ok || err != nil || mask>>(sig-1)&1 == 0 {
			break
		}
	}
	_ = p.host.Sleep(ctx, 10*time.Millisecond)
}

// ApplySignals calls apply for each requested signal for jobs of a process, and removes
// those requests that apply accepts.
func (p *Proc) ApplySignals(pid int, apply func(jid string, sig int) bool) {
	names, err := p.host.ReadDir(p.dir)
	if err != nil {
		return
	}
	for _, name := range names {
		i := strings.LastIndex(name, ".sig")
		if i < 0 {
			continue
		}
		sig, err := strconv.Atoi(name[i+4:])
		n := p.read(name[:i])
		if err != nil || n == nil || n.pid != pid {
			continue
		}
		if apply(n.data.Str("jid"), sig) {
			_ = p.host.Remove(filepath.Join(p.dir, name))
		}
	}
}

// A Left is what is known of a detached job on its machine.
type Left int

// How far a detached job came.
const (
	LeftUnknown Left = iota // the machine knows nothing of it
	LeftRunning             // its process works
	LeftLost                // its process is gone and left no return
	LeftReturn              // it has left its return
)

// String names it as the answer of an agent.
func (l Left) String() string { return [...]string{"unknown", "running", "lost", "returned"}[l] }

// A Leaving is a detached job on its machine: it leaves its return in a file.
type Leaving struct {
	p    *Proc
	path string
	jid  string
}

// keepLeft is how long a return is kept for who does not come for it.
const keepLeft = 30 * 24 * time.Hour

// Leaving returns where the return of a detached job is left.
func (p *Proc) Leaving(jid string) (*Leaving, error) {
	if !IsJID(jid) {
		return nil, fmt.Errorf("%q is not a job id", jid)
	}
	return &Leaving{p: p, jid: jid, path: filepath.Join(filepath.Dir(p.dir), "returns", noteName(jid, p.id))}, nil
}

// Begin notes the job and returns what forgets the note: to be called when the
// return is left.
func (l *Leaving) Begin(data *value.Map) (end func(), err error) {
	l.p.sweep()
	if _, err := l.p.host.Lstat(l.p.path(l.jid, l.p.id)); err == nil {
		return nil, fmt.Errorf("there is a job %s already", l.jid)
	}
	return l.p.BeginAgent(data, true)
}

// Put leaves the return: whole or not at all, also where the power fails.
func (l *Leaving) Put(doc []byte) error {
	if err := l.p.host.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	return l.p.host.WriteFile(l.path, bytes.NewReader(doc), host.WriteOptions{Mode: &mode, Sync: true})
}

// State tells how far the job came, and the pid where it runs. Of one that
// returned, doc is what was left.
func (l *Leaving) State() (state Left, pid int, doc []byte, err error) {
	for try := range 2 {
		doc, err = l.p.host.ReadFile(l.path)
		if err == nil {
			return LeftReturn, 0, doc, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return LeftUnknown, 0, nil, err
		}
		n := l.p.find(l.jid)
		switch {
		case n == nil && try > 0:
			return LeftUnknown, 0, nil, nil
		case n != nil && n.alive:
			return LeftRunning, n.pid, nil, nil
		case n != nil && try > 0:
			return LeftLost, n.pid, nil, nil
		}
		// It may have left its return after that was looked for.
	}
	return LeftUnknown, 0, nil, nil
}

// Forget takes the return and the note away, once nobody needs them. A job that
// runs is not forgotten.
func (l *Leaving) Forget() error {
	err := l.p.host.Remove(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		// A process that has left its return may not have ended yet.
		if n := l.p.find(l.jid); n != nil && n.alive {
			return fmt.Errorf("job %s still runs", l.jid)
		}
		err = nil
	}
	_ = l.p.host.Remove(l.p.path(l.jid, l.p.id))
	return err
}

// Remove takes the return and the note away, whoever works on the job.
func (l *Leaving) Remove() error {
	return errors.Join(missing(l.p.host.Remove(l.path)), missing(l.p.host.Remove(l.p.path(l.jid, l.p.id))))
}

// missing is err, but nil where a file was not there.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sweep removes returns that nobody came for, notes of detached jobs that were
// lost, and the requests for states, when they are old.
func (p *Proc) sweep() {
	above := filepath.Dir(p.dir)
	limit := p.host.Now().Add(-keepLeft)
	for _, d := range []string{filepath.Join(above, "returns"), p.dir, filepath.Join(above, pauseDir)} {
		names, err := p.host.ReadDir(d)
		if err != nil {
			continue
		}
		for _, name := range names {
			path := filepath.Join(d, name)
			st, err := p.host.Lstat(path)
			if err != nil || !st.Mtime.Before(limit) {
				continue
			}
			if p.works(d, name) {
				continue
			}
			_ = p.host.Remove(path)
		}
	}
}

// works reports whether a file of a directory is a note or the requests for a job
// that runs.
func (p *Proc) works(dir, name string) bool {
	var n *note
	switch {
	case filepath.Base(dir) == pauseDir:
		n = p.find(name)
	case dir == p.dir && !strings.Contains(name, ".sig"):
		n = p.read(name)
	}
	return n != nil && n.alive
}

// Holds reports whether detached jobs work in the cache directory of an agent, or
// left returns there that nobody has fetched.
func Holds(h host.Host, cacheDir string) bool {
	if names, err := h.ReadDir(filepath.Join(cacheDir, "returns")); err == nil && len(names) > 0 {
		return true
	}
	names, err := h.ReadDir(filepath.Join(cacheDir, "proc"))
	if err != nil {
		return false
	}
	for _, name := range names {
		if b, err := h.ReadFile(filepath.Join(cacheDir, "proc", name)); err == nil && decodeLine(b).At(keyDetached) == true {
			return true
		}
	}
	return false
}
