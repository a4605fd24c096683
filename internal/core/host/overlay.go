package host

import (
	"context"
	"io"
	"io/fs"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A RefusedError says what was not done because a machine is only planned on.
type RefusedError struct{ What string }

// Error returns the text.
func (e *RefusedError) Error() string { return e.What + ": not done, because nothing runs in a plan" }

// An Overlay is a machine as it would be: what is written stays in memory, and what is
// read is read as if it had been written. Programs that only look run on the machine
// itself, which has nothing of what was written, and all others are refused with a
// *[RefusedError], as is what would reach other machines. It is safe for concurrent
// use.
//
// Of a file of more than 4 MiB, and of what is written after 64 MiB, only the size is
// kept: to read the content is an error.
type Overlay struct {
	*memory
	machine
	accounts *planned
	sims     *simulated
	*counts
}

// counts are those of an overlay and its forks.
type counts struct{ asked, refused atomic.Int64 }

// machine is what an overlay is over an overlay: its files come after those of the overlay.
type machine struct{ Host }

var _ Host = (*Overlay)(nil)

// NewOverlay returns an overlay of a machine.
func NewOverlay(h Host) (*Overlay, error) {
	st, err := h.Lstat("/")
	if err != nil {
		return nil, err
	}
	cwd, err := h.Getwd()
	if err != nil {
		return nil, err
	}
	m := &memory{UID: h.Geteuid(), GID: h.Getegid(), Umask: umaskOf(h), Cwd: cwd, under: h, now: h.Now(), dev: st.Dev, lastIno: 1 << 62}
	m.root = &node{
		real: "/", mode: st.Mode, uid: st.UID, gid: st.GID, kids: map[string]*node{}, ino: st.Inode, dev: st.Dev, nlink: st.Nlink,
		atime: st.Atime, mtime: st.Mtime, ctime: st.Ctime,
	}
	return &Overlay{memory: m, machine: machine{h}, counts: &counts{}, sims: &simulated{programs: map[string]Simulation{}, begun: map[string]error{}}, accounts: &planned{users: map[string]*Account{}, groups: map[string]*Group{}, crontabs: map[string]*string{}}}, nil
}

// umaskOf returns the umask that files of a machine are made with, as Linux tells it;
// elsewhere the usual one.
func umaskOf(h Files) int {
	status, _ := h.ReadFile("/proc/self/status")
	for line := range strings.SplitSeq(string(status), "\n") {
		if after, ok := strings.CutPrefix(line, "Umask:"); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(after), 8, 16); err == nil {
				return int(n)
			}
		}
	}
	return 0o022
}

// Asked counts the programs that were run and the machines that were asked: what they
// say may be older than the overlay.
func (o *Overlay) Asked() int64 { return o.asked.Load() }

// Refused counts what was not done.
func (o *Overlay) Refused() int64 { return o.refused.Load() }

// Touched is what was written: the paths, and the names of users, of groups, and of the
// users of crontabs.
type Touched struct{ Paths, Users, Groups, Crontabs []string }

// Touched returns what was written since it was last called, each once and in the order
// in which it was first written.
func (o *Overlay) Touched() (t Touched) {
	o.mu.Lock()
	t.Paths = distinct(o.touched)
	o.touched = nil
	o.mu.Unlock()
	a := o.accounts
	a.mu.Lock()
	defer a.mu.Unlock()
	t.Users, t.Groups, t.Crontabs = distinct(a.putUsers), distinct(a.putGroups), distinct(a.putCrontabs)
	a.putUsers, a.putGroups, a.putCrontabs = nil, nil, nil
	return t
}

func distinct(names []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		had := seen[name]
		seen[name] = true
		return had
	})
}

// Below returns what is at a path of the machine itself.
func (o *Overlay) Below(p string) (Stat, error) { return o.machine.Lstat(p) }

func (o *Overlay) refuse(what string) error {
	o.refused.Add(1)
	return &RefusedError{what}
}

// Changes counts what was written, and what changed the machine itself.
func (o *Overlay) Changes() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.machine.Changes() + o.changes
}

// Still reports whether the machine below is one that only looks.
func (o *Overlay) Still() bool { return IsStill(o.Host) }

// Fork returns the same overlay over a fork of the machine.
func (o *Overlay) Fork() Host { return o.fork() }

func (o *Overlay) fork() *Overlay {
	c := *o
	c.machine = machine{o.machine.Fork()}
	return &c
}

// CheckSystem returns a *SystemPathError where path is a system directory.
func (o *Overlay) CheckSystem(path string, follow bool) error { return checkSystem(o, path, follow) }

// Force returns o, whose system directories may be removed.
func (o *Overlay) Force() Host { return forced{o, o} }

// Run runs a program that only looks, or one that is simulated.
func (o *Overlay) Run(ctx context.Context, c Cmd) (Output, error) {
	if sim := o.simulation(c); sim != nil {
		return o.simulate(ctx, sim, c)
	}
	if !c.ReadOnly {
		return Output{}, o.refuse("run " + program(c))
	}
	o.asked.Add(1)
	return o.machine.Run(ctx, c)
}

// Start refuses to start a program.
func (o *Overlay) Start(c Cmd) (int, error) { return 0, o.refuse("start " + program(c)) }

// Signal refuses to send a signal.
func (o *Overlay) Signal(int, int) error { return o.refuse("send a signal") }

// Connect refuses to reach another machine.
func (o *Overlay) Connect(_ context.Context, address string, _ int) error {
	return o.refuse("connect to " + address)
}

// SendUDP refuses to send.
func (o *Overlay) SendUDP(_ context.Context, address string, _ int, _ []byte) error {
	return o.refuse("send to " + address)
}

// Dial refuses to open a connection.
func (o *Overlay) Dial(_ context.Context, _, address string) (net.Conn, error) {
	return nil, o.refuse("connect to " + address)
}

// mayChown returns an error where the owner of a file is to be another than the one that
// this user may give it.
func (o *Overlay) mayChown(op, p string, uid int) error {
	if o.UID == 0 || uid < 0 || uid == o.UID {
		return nil
	}
	return &fs.PathError{Op: op, Path: p, Err: fs.ErrPermission}
}

// WriteFile replaces the content of p; see [Files].
func (o *Overlay) WriteFile(p string, content io.Reader, opts WriteOptions) error {
	if opts.UID != nil {
		if err := o.mayChown("chown", p, *opts.UID); err != nil {
			return err
		}
	}
	return o.memory.WriteFile(p, content, opts)
}

// Chown sets the owner of what p leads to.
func (o *Overlay) Chown(p string, uid, gid int) error {
	if err := o.mayChown("chown", p, uid); err != nil {
		return err
	}
	return o.memory.Chown(p, uid, gid)
}

// Lchown sets the owner of p itself.
func (o *Overlay) Lchown(p string, uid, gid int) error {
	if err := o.mayChown("lchown", p, uid); err != nil {
		return err
	}
	return o.memory.Lchown(p, uid, gid)
}

// Looking returns the machine for what only looks: it reads what the overlay has, and
// runs programs on the machine itself. What it writes, such as copies in a cache and
// temporary files that a program is to read, is written there as well, except where
// the overlay has a directory of its own.
func (o *Overlay) Looking() Host { return looking{o} }

type looking struct{ *Overlay }

func (l looking) Fork() Host  { return looking{l.fork()} }
func (l looking) Force() Host { return forced{l, l} }

func (l looking) Run(ctx context.Context, c Cmd) (Output, error) {
	if sim := l.simulation(c); sim != nil {
		return l.simulate(ctx, sim, c)
	}
	l.asked.Add(1)
	return l.machine.Run(ctx, c)
}

func (l looking) Start(c Cmd) (int, error) {
	l.asked.Add(1)
	return l.machine.Start(c)
}

func (l looking) Signal(pid, signal int) error { return l.machine.Signal(pid, signal) }

func (l looking) Connect(ctx context.Context, address string, port int) error {
	l.asked.Add(1)
	return l.machine.Connect(ctx, address, port)
}

func (l looking) SendUDP(ctx context.Context, address string, port int, data []byte) error {
	l.asked.Add(1)
	return l.machine.SendUDP(ctx, address, port, data)
}

func (l looking) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.asked.Add(1)
	return l.machine.Dial(ctx, network, address)
}

func (l looking) remove(p string, _ bool) error    { return l.at(p).Force().Remove(p) }
func (l looking) removeAll(p string, _ bool) error { return l.at(p).Force().RemoveAll(p) }

func (l looking) rename(from, to string, _ bool) error {
	return l.at(from, to).Force().Rename(from, to)
}

// at returns where the files of paths are written.
func (l looking) at(paths ...string) Files {
	if slices.ContainsFunc(paths, l.has) {
		return l.Overlay
	}
	return l.Host
}

// has reports whether the overlay has p, or the directory that it would be in, as
// something else than the machine below.
func (m *memory) has(p string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for ; ; p = path.Dir(p) {
		dir, full, n, err := m.locate("Lstat", p, false)
		switch {
		case err != nil:
			if p == "/" || p == "." {
				return false
			}
		case n != nil:
			return n.real != full
		default:
			return dir.real != path.Dir(full) || dir.deleted[path.Base(full)]
		}
	}
}

func (l looking) WriteFile(p string, content io.Reader, opts WriteOptions) error {
	return l.at(p).WriteFile(p, content, opts)
}

func (l looking) AppendFile(p string, data []byte, mode fs.FileMode) error {
	return l.at(p).AppendFile(p, data, mode)
}
func (l looking) Mkdir(p string, mode fs.FileMode) error    { return l.at(p).Mkdir(p, mode) }
func (l looking) MkdirAll(p string, mode fs.FileMode) error { return l.at(p).MkdirAll(p, mode) }

func (l looking) MkdirTemp(dir, pattern string) (string, error) {
	if dir == "" {
		return l.machine.MkdirTemp(dir, pattern)
	}
	return l.at(dir).MkdirTemp(dir, pattern)
}
func (l looking) Remove(p string) error                    { return l.at(p).Remove(p) }
func (l looking) RemoveAll(p string) error                 { return l.at(p).RemoveAll(p) }
func (l looking) Rename(from, to string) error             { return l.at(from, to).Rename(from, to) }
func (l looking) Symlink(target, p string) error           { return l.at(p).Symlink(target, p) }
func (l looking) Link(target, p string) error              { return l.at(target, p).Link(target, p) }
func (l looking) Chmod(p string, mode fs.FileMode) error   { return l.at(p).Chmod(p, mode) }
func (l looking) Chown(p string, uid, gid int) error       { return l.at(p).Chown(p, uid, gid) }
func (l looking) Lchown(p string, uid, gid int) error      { return l.at(p).Lchown(p, uid, gid) }
func (l looking) Chtimes(p string, a, m time.Time) error   { return l.at(p).Chtimes(p, a, m) }
func (l looking) Lock(p string) (unlock func(), err error) { return l.at(p).Lock(p) }
func (l looking) OpenRoot(dir string) (Root, error)        { return l.at(dir).OpenRoot(dir) }
