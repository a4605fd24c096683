package undo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path"
	"slices"
	"sync"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A Keeper is a machine that writes down the state of things before it changes them. What
// programs change, it does not see: it notes that they ran.
type Keeper struct {
	host.Host
	log   *Log
	state *seen
}

// seen is what one state did.
type seen struct {
	tag string

	mu    sync.Mutex
	paths []string // those that it changed, in order
	at    map[string]bool
	dirs  map[string]bool // in which it changes names
	wrote map[string]written
	did   []string // beside them
	// acts is called before a program runs that does not only look.
	acts func()
}

func (s *seen) touch(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.at[name] {
		s.at[name] = true
		s.paths = append(s.paths, name)
	}
}

// maxDid is how many things are named that a state did beside what is kept.
const maxDid = 20

func (s *seen) do(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.did) < maxDid && !slices.Contains(s.did, what) {
		s.did = append(s.did, what)
	}
}

// before writes down what is at a path that is about to change; with content, what is
// in a file as well. It returns an error where that cannot be written down: the change
// is then not to be made.
func (k *Keeper) before(name string, content bool) error {
	return k.beforeAt(k.real(name), content)
}

// beforeAt is before of a path none of whose directories is a link.
func (k *Keeper) beforeAt(name string, content bool) error {
	k.state.touch(name)
	k.enter(path.Dir(name))
	l := k.log
	l.mu.Lock()
	have := l.paths[name]
	l.mu.Unlock()
	if have != nil && (have.content || !content) {
		return nil
	}
	st, err := look(k.Host, name, false)
	if err != nil {
		return err // what cannot be looked at cannot be changed either
	}
	p := &kept{by: k.state.tag, content: content || st == nil || st.Type != "file"}
	line := value.MapOf("path", name)
	var where *value.Map
	var why error
	if content && st != nil && st.Type == "file" {
		var f io.ReadCloser
		if f, why = k.Open(name); why == nil {
			st.Sum, where, why = l.keep(f)
			f.Close()
		}
		if why != nil {
			st.Sum = ""
			line.Set("why", why.Error())
		}
	}
	switch {
	case st == nil:
	case st.Type == "file":
		st = l.named(st, have != nil)
	case st.Type == "dir":
		l.mu.Lock()
		if d := l.dirs[name]; d != nil { // what the run did in it came first
			st.Mtime = d.was
		}
		l.mu.Unlock()
	}
	if have == nil {
		line.Set("by", p.by)
		line.Set("was", st.line())
	} else if st != nil {
		line.Set("sum", st.Sum)
	}
	return k.noted(name, p, line, where)
}

// A named is a file with several names: what it was before the run, and how many of its names
// the run came to.
type named struct {
	was Stat
	n   int64
}

// named returns what a file was before the run, if the run has come to another name of it
// already: it may be changed by that.
func (l *Log) named(st *Stat, again bool) *Stat {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.names[st.Inode]
	switch {
	case f == nil && st.Links > 1 && !again:
		l.names[st.Inode] = &named{*st, 1}
	case f != nil && again:
		if f.was.Sum == "" {
			f.was.Sum = st.Sum
		}
	case f != nil && f.n < f.was.Links: // else it is another file, which has its number
		f.n++
		was := f.was
		if was.Sum == "" {
			was.Sum = st.Sum
		}
		return &was
	}
	return st
}

// A dirTime is the time of a directory before a run changed names in it, and what it is since
// the last state did that.
type dirTime struct {
	was, now time.Time
	others   bool // somebody else changed names there meanwhile
}

// enter notes the time of a directory in which a state is about to change names.
func (k *Keeper) enter(dir string) {
	s := k.state
	s.mu.Lock()
	known := s.dirs[dir]
	s.dirs[dir] = true
	s.mu.Unlock()
	if known {
		return
	}
	st, err := k.Lstat(dir)
	if err != nil || !st.Mode.IsDir() {
		return // the run makes it
	}
	k.log.mu.Lock()
	defer k.log.mu.Unlock()
	if d := k.log.dirs[dir]; d != nil {
		d.others = d.others || !d.now.Equal(st.Mtime)
		return
	}
	k.log.dirs[dir] = &dirTime{was: st.Mtime, now: st.Mtime}
}

// leave notes the times of the directories in which a state has changed names.
func (k *Keeper) leave() {
	k.state.mu.Lock()
	defer k.state.mu.Unlock()
	for dir := range k.state.dirs {
		st, err := k.Lstat(dir)
		k.log.mu.Lock()
		if d := k.log.dirs[dir]; d != nil && err == nil {
			d.now = st.Mtime
		}
		k.log.mu.Unlock()
	}
}

// real returns a path none of whose directories is a link: a run may come to one file by two
// names, and its directories may be others when it is undone. The change itself is made by
// the name that was given.
func (k *Keeper) real(name string) string {
	rest := ""
	for dir := path.Clean(name); dir != "/" && dir != "."; {
		rest = path.Join(path.Base(dir), rest)
		dir = path.Dir(dir)
		if to, err := k.EvalSymlinks(dir); err == nil {
			return path.Join(to, rest)
		}
	}
	return path.Clean(name)
}

// unkept writes down that nobody knows what was at a path.
func (k *Keeper) unkept(name string, why error) error {
	line := value.MapOf("path", name, "why", why.Error(), "by", k.state.tag, "was", nil)
	return k.noted(name, &kept{by: k.state.tag, content: true}, line, nil)
}

// noted writes a line of a path, after the one that says where its content is.
func (k *Keeper) noted(name string, p *kept, line, where *value.Map) error {
	lines := []*value.Map{where, line}
	if where == nil {
		lines = lines[1:]
	}
	if err := k.log.write(lines...); err != nil {
		return fmt.Errorf("%s is not changed, since it cannot be kept for undo: %w", name, err)
	}
	k.log.mu.Lock()
	k.log.paths[name] = p
	k.log.mu.Unlock()
	return nil
}

// maxTree is how many files of a directory are kept that is removed or moved.
const maxTree = 20000

// tree writes down a path with what is below it.
func (k *Keeper) tree(name string) error {
	n := 0
	return k.branch(k.real(name), &n)
}

func (k *Keeper) branch(name string, n *int) error {
	if *n++; *n > maxTree {
		return k.unkept(path.Join(path.Dir(name), "*"), fmt.Errorf("there are more than %d files below what is removed", maxTree))
	}
	if err := k.before(name, true); err != nil {
		return err
	}
	st, err := k.Lstat(name)
	if err != nil || !st.Mode.IsDir() {
		return nil // before has said why
	}
	names, err := k.ReadDir(name)
	if err != nil {
		return k.unkept(path.Join(name, "*"), err)
	}
	for _, base := range names {
		if err := k.branch(path.Join(name, base), n); err != nil {
			return err
		}
	}
	return nil
}

// parents writes down which directories on the way to a path are not there.
func (k *Keeper) parents(name string) error {
	var missing []string
	for dir := path.Clean(name); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if _, err := k.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	for _, dir := range missing {
		if err := k.before(dir, false); err != nil {
			return err
		}
	}
	return nil
}

// through writes down a file that is changed by way of a link at its path.
func (k *Keeper) through(name string, content bool) error {
	name, err := k.led(name)
	if err != nil {
		return err
	}
	return k.before(name, content)
}

// led returns where a link at a path leads; the path, if no link is there.
func (k *Keeper) led(name string) (string, error) {
	if st, err := k.Lstat(name); err != nil || st.Mode&fs.ModeSymlink == 0 {
		return name, nil
	}
	return k.Target(name) // an error is what the change itself would say
}

// Fork returns the same machine with an environment of its own.
func (k *Keeper) Fork() host.Host { return &Keeper{k.Host.Fork(), k.log, k.state} }

// Force returns the same machine, whose system directories may be removed.
func (k *Keeper) Force() host.Host { return &Keeper{k.Host.Force(), k.log, k.state} }

// WriteFile replaces the content of a file, whose old one is kept.
func (k *Keeper) WriteFile(name string, content io.Reader, opts host.WriteOptions) error {
	at := name
	if opts.FollowLinks {
		var err error
		if at, err = k.led(name); err != nil {
			return err
		}
	}
	at = k.real(at)
	if err := k.beforeAt(at, true); err != nil {
		return err
	}
	d := sha256.New()
	if err := k.Host.WriteFile(name, io.TeeReader(content, d), opts); err != nil {
		return err
	}
	if st, err := k.Lstat(at); err == nil {
		k.state.mu.Lock()
		k.state.wrote[at] = written{st, hex.EncodeToString(d.Sum(nil))}
		k.state.mu.Unlock()
	}
	return nil
}

// A written is a file as it was once it was written, and the digest of what was.
type written struct {
	st  host.Stat
	sum string
}

// is reports whether the file is still the one that was written. Each change of a file
// changes one of these.
func (w written) is(st host.Stat) bool {
	return w.sum != "" && w.st.Unchanged(st)
}

// AppendFile adds to a file, whose old content is kept.
func (k *Keeper) AppendFile(name string, data []byte, mode fs.FileMode) error {
	if err := k.through(name, true); err != nil {
		return err
	}
	return k.Host.AppendFile(name, data, mode)
}

// Mkdir makes a directory.
func (k *Keeper) Mkdir(name string, mode fs.FileMode) error {
	if err := k.before(name, false); err != nil {
		return err
	}
	return k.Host.Mkdir(name, mode)
}

// MkdirAll makes a directory and its missing parents.
func (k *Keeper) MkdirAll(name string, mode fs.FileMode) error {
	if err := k.parents(name); err != nil {
		return err
	}
	return k.Host.MkdirAll(name, mode)
}

// MkdirTemp makes a directory of a new name.
func (k *Keeper) MkdirTemp(dir, pattern string) (string, error) {
	if dir != "" {
		k.enter(path.Dir(k.real(path.Join(dir, "x"))))
	}
	name, err := k.Host.MkdirTemp(dir, pattern)
	if err != nil {
		return name, err
	}
	at := k.real(name)
	k.state.touch(at)
	return name, k.noted(at, &kept{by: k.state.tag, content: true}, value.MapOf("path", at, "by", k.state.tag, "was", nil), nil)
}

// Remove takes out a file, a link, or an empty directory, which is kept.
func (k *Keeper) Remove(name string) error {
	if err := k.before(name, true); err != nil {
		return err
	}
	return k.Host.Remove(name)
}

// RemoveAll takes out a path and what is below it, all of which is kept.
func (k *Keeper) RemoveAll(name string) error {
	if err := k.CheckSystem(name, false); err != nil {
		return err
	}
	if err := k.tree(name); err != nil {
		return err
	}
	return k.Host.RemoveAll(name)
}

// Rename moves a path, which is kept with what it replaces.
func (k *Keeper) Rename(from, to string) error {
	if err := k.CheckSystem(from, false); err != nil {
		return err
	}
	if err := k.tree(from); err != nil {
		return err
	}
	if err := k.tree(to); err != nil {
		return err
	}
	if err := k.Host.Rename(from, to); err != nil {
		return err
	}
	return k.arrived(k.real(to))
}

// arrived writes down what is below a directory that was moved to a path.
func (k *Keeper) arrived(to string) error {
	st, err := k.Lstat(to)
	if err != nil || !st.Mode.IsDir() {
		return nil
	}
	names, err := k.ReadDir(to)
	if err != nil {
		return nil
	}
	for _, base := range names {
		at := path.Join(to, base)
		k.state.touch(at)
		k.log.mu.Lock()
		known := k.log.paths[at] != nil
		k.log.mu.Unlock()
		if !known {
			if err := k.noted(at, &kept{by: k.state.tag, content: true}, value.MapOf("path", at, "by", k.state.tag, "was", nil), nil); err != nil {
				return err
			}
		}
		if err := k.arrived(at); err != nil {
			return err
		}
	}
	return nil
}

// Symlink makes a symbolic link.
func (k *Keeper) Symlink(target, name string) error {
	if err := k.before(name, false); err != nil {
		return err
	}
	return k.Host.Symlink(target, name)
}

// Link makes a hard link.
func (k *Keeper) Link(target, name string) error {
	if err := k.before(name, false); err != nil {
		return err
	}
	return k.Host.Link(target, name)
}

// Chmod sets permissions.
func (k *Keeper) Chmod(name string, mode fs.FileMode) error {
	if err := k.through(name, false); err != nil {
		return err
	}
	return k.Host.Chmod(name, mode)
}

// Chown sets owner and group.
func (k *Keeper) Chown(name string, uid, gid int) error {
	if err := k.through(name, false); err != nil {
		return err
	}
	return k.Host.Chown(name, uid, gid)
}

// Lchown sets owner and group of what may be a link.
func (k *Keeper) Lchown(name string, uid, gid int) error {
	if err := k.before(name, false); err != nil {
		return err
	}
	return k.Host.Lchown(name, uid, gid)
}

// Xattrs returns extended attributes: see [host.Xattrs].
func (k *Keeper) Xattrs(name string) (map[string]string, error) { return host.Xattrs(k.Host, name) }

// SetXattrs sets extended attributes, as an undo does.
func (k *Keeper) SetXattrs(name string, want map[string]string) error {
	if err := k.before(name, false); err != nil {
		return err
	}
	return host.SetXattrs(k.Host, name, want)
}

// Chtimes sets the times of a file.
func (k *Keeper) Chtimes(name string, atime, mtime time.Time) error {
	if err := k.through(name, false); err != nil {
		return err
	}
	k.enter(k.real(name)) // where it is a directory
	return k.Host.Chtimes(name, atime, mtime)
}

// Lock takes the lock of a file, which is made where it is missing.
func (k *Keeper) Lock(name string) (func(), error) {
	if _, err := k.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		if err := k.before(name, false); err != nil {
			return nil, err
		}
	}
	return k.Host.Lock(name)
}

// OpenRoot opens a directory to work below it.
func (k *Keeper) OpenRoot(dir string) (host.Root, error) {
	r, err := k.Host.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &root{r, k, dir}, nil
}

// Run runs a program, and notes one that does not only look.
func (k *Keeper) Run(ctx context.Context, c host.Cmd) (host.Output, error) {
	if !c.ReadOnly {
		k.state.acts()
		k.state.do(program(c))
	}
	return k.Host.Run(ctx, c)
}

// Start starts a program, and notes it.
func (k *Keeper) Start(c host.Cmd) (int, error) {
	k.state.acts()
	k.state.do(program(c))
	return k.Host.Start(c)
}

// program names a program, without its arguments, which may have secrets.
func program(c host.Cmd) string {
	if len(c.Argv) == 0 || c.Verbatim {
		return "ran a command"
	}
	return "ran " + path.Base(c.Argv[0])
}

// Signal sends a signal, and notes that.
func (k *Keeper) Signal(pid, signal int) error {
	if signal != 0 {
		k.state.do("sent a signal to a process")
	}
	return k.Host.Signal(pid, signal)
}

// Changed notes that something changed the machine by another way.
func (k *Keeper) Changed() {
	k.state.do("ran a module of the tree")
	k.Host.Changed()
}

// Dial opens a connection, and notes that.
func (k *Keeper) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	k.state.do("talked to " + network + " " + address)
	return k.Host.Dial(ctx, network, address)
}

// SendUDP sends a datagram, and notes that.
func (k *Keeper) SendUDP(ctx context.Context, address string, port int, data []byte) error {
	k.state.do("sent a datagram")
	return k.Host.SendUDP(ctx, address, port, data)
}

// A root is a directory that is worked in; what changes in it is kept.
type root struct {
	host.Root
	k   *Keeper
	dir string
}

func (r *root) at(name string) string { return path.Join(r.dir, name) }

func (r *root) Mkdir(name string, mode fs.FileMode) error {
	if err := r.k.before(r.at(name), false); err != nil {
		return err
	}
	return r.Root.Mkdir(name, mode)
}

func (r *root) MkdirAll(name string, mode fs.FileMode) error {
	if err := r.k.parents(r.at(name)); err != nil {
		return err
	}
	return r.Root.MkdirAll(name, mode)
}

func (r *root) WriteFile(name string, content io.Reader, opts host.WriteOptions) error {
	if err := r.k.before(r.at(name), true); err != nil {
		return err
	}
	return r.Root.WriteFile(name, content, opts)
}

func (r *root) Symlink(target, name string) error {
	if err := r.k.before(r.at(name), false); err != nil {
		return err
	}
	return r.Root.Symlink(target, name)
}

func (r *root) Link(from, name string) error {
	if err := r.k.before(r.at(name), false); err != nil {
		return err
	}
	return r.Root.Link(from, name)
}

func (r *root) Chmod(name string, mode fs.FileMode) error {
	if err := r.k.before(r.at(name), false); err != nil {
		return err
	}
	return r.Root.Chmod(name, mode)
}

func (r *root) Lchown(name string, uid, gid int) error {
	if err := r.k.before(r.at(name), false); err != nil {
		return err
	}
	return r.Root.Lchown(name, uid, gid)
}

func (r *root) Chtimes(name string, atime, mtime time.Time) error {
	if err := r.k.before(r.at(name), false); err != nil {
		return err
	}
	r.k.enter(r.k.real(r.at(name)))
	return r.Root.Chtimes(name, atime, mtime)
}

func (r *root) Remove(name string) error {
	if err := r.k.before(r.at(name), true); err != nil {
		return err
	}
	return r.Root.Remove(name)
}

func (r *root) RemoveAll(name string) error {
	if err := r.k.tree(r.at(name)); err != nil {
		return err
	}
	return r.Root.RemoveAll(name)
}
