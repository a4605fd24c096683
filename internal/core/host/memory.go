package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A memory is a file tree in memory: that of a [Fake], or what an [Overlay] has of
// its own. It checks no permissions. The exported fields are to be set before it is
// used.
type memory struct {
	UID, GID int
	Umask    int // for files and directories that are made
	Cwd      string
	// Fault, where set, is asked before each operation of Files; an error of
	// it is what the operation returns. op is the method's name.
	Fault func(op, path string) error
	// under is the machine of which the tree shows what it does not have itself; nil:
	// there is none.
	under Files

	mu       sync.Mutex
	now      time.Time
	root     *node
	lastIno  uint64
	dev      uint64 // of new files
	writes   []string
	touched  []string // the paths that were written, where there is a machine below
	changes  uint64
	kept     int64 // bytes of content, where there is a machine below
	lastTemp int
	veils    map[string]*veil
	by       string         // the state whose doing is written
	seen     *veil          // the first one that somebody looked behind
	locks    map[*node]bool // files that are locked
	unlocked *sync.Cond
}

// A node is a file of a memory; names of one hard-linked file share it.
type node struct {
	// real is where the machine below has the file whose content, or whose directory,
	// this is; "": nowhere.
	real string
	// deleted are the names that the directory below has and this one has not.
	deleted map[string]bool
	veil    *veil // nil: what it has or contains is known
	// big is the size of content that is too large to keep.
	big                 int64
	mode                fs.FileMode
	uid, gid            int
	data                []byte
	target              string // of a link
	kids                map[string]*node
	atime, mtime, ctime time.Time
	ino, dev, nlink     uint64
}

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func (f *memory) newNode(mode fs.FileMode) *node {
	f.lastIno++
	n := &node{mode: mode, uid: f.UID, gid: f.GID, atime: f.now, mtime: f.now, ctime: f.now, ino: f.lastIno, dev: f.dev, nlink: 1}
	if mode.IsDir() {
		n.kids = map[string]*node{}
		n.nlink = 2
	}
	return n
}

// walk finds the node of p; the last part is followed if it is a link and
// follow is set.
func (f *memory) walk(op, p string, follow bool) (*node, error) {
	_, _, n, err := f.locate(op, p, follow)
	if err == nil && n == nil {
		err = &fs.PathError{Op: strings.ToLower(op), Path: p, Err: syscall.ENOENT}
	}
	return n, err
}

// locate returns the directory of p with links resolved, its last name there,
// and the node, nil where only the last part is missing.
func (f *memory) locate(op, p string, follow bool) (dir *node, full string, n *node, err error) {
	fail := func(e error) (*node, string, *node, error) {
		return nil, "", nil, &fs.PathError{Op: strings.ToLower(op), Path: p, Err: e}
	}
	if err := f.faulty(op, p); err != nil {
		return fail(err)
	}
	if strings.Contains(p, "\x00") { // as the system refuses it
		return fail(syscall.EINVAL)
	}
	if !path.IsAbs(p) {
		p = f.Cwd + "/" + p
	}
	w := memoryWalk{f: f, follow: follow, use: usedBy(op), pin: keeps(op), stack: []place{{"", f.root}}, todo: strings.Split(p, "/")}
	for len(w.todo) > 0 {
		if err := w.step(); err != nil {
			return fail(err)
		}
	}
	if err := w.readable(); err != nil {
		return fail(err)
	}
	full = "/"
	for _, s := range w.stack[1:] {
		full = path.Join(full, s.name)
	}
	if len(w.stack) > 1 {
		dir = w.stack[len(w.stack)-2].n
	}
	return dir, full, w.top(), nil
}

// A place is a node and its name.
type place struct {
	name string
	n    *node
}

// A memoryWalk is on its way to a path.
type memoryWalk struct {
	f       *memory
	follow  bool // a link in the last part, too
	use     useOf
	pin     bool // what is on the way is kept: something there is changed
	stack   []place
	todo    []string
	links   int
	foreign []place // links of others, by the marks that end them in todo
	claims  []place // those that led to what their owners do not own
}

func (w *memoryWalk) top() *node { return w.stack[len(w.stack)-1].n }

// step takes the next part.
func (w *memoryWalk) step() error {
	part, cur := w.todo[0], w.top()
	w.todo = w.todo[1:]
	switch {
	case part == linkEnd:
		l := w.foreign[len(w.foreign)-1]
		w.foreign = w.foreign[:len(w.foreign)-1]
		if cur == nil { // it is about to be made
			cur = w.stack[len(w.stack)-2].n
		}
		return w.checkLink(l, cur)
	case part == "" || part == ".":
		return nil
	case cur == nil:
		return syscall.ENOENT
	case !cur.mode.IsDir():
		return syscall.ENOTDIR
	case part == "..":
		w.stack = w.stack[:max(1, len(w.stack)-1)]
		return nil
	}
	k, err := w.f.child(cur, part, w.pin)
	if err != nil {
		return err
	}
	if k == nil || k.mode&fs.ModeSymlink == 0 || !w.follow && isLast(w.todo) {
		w.stack = append(w.stack, place{part, k})
		return nil
	}
	if w.links++; w.links > maxLinks {
		return syscall.ELOOP
	}
	if path.IsAbs(k.target) {
		w.stack = w.stack[:1]
	}
	next := strings.Split(k.target, "/")
	if w.use != looksAt && w.f.isForeign(cur, k) {
		w.foreign = append(w.foreign, place{part, k})
		next = append(next, linkEnd)
	}
	w.todo = append(next, w.todo...)
	return nil
}

// faulty asks Fault.
func (f *memory) faulty(op, p string) error {
	if f.Fault == nil {
		return nil
	}
	return f.Fault(op, p)
}

// isLast reports whether the parts of a path that are left name nothing more.
func isLast(parts []string) bool {
	return !slices.ContainsFunc(parts, func(s string) bool { return s != "" && s != "." && s != linkEnd })
}

// linkEnd stands among the parts of a path where a link of another user ends.
const linkEnd = "\x00"

// The ways in which an operation goes through links of others: see reach.go.
type useOf int

const (
	changesFile useOf = iota
	readsFile
	looksAt // tells of a file and its links alone
)

func usedBy(op string) useOf {
	switch op {
	case "ReadFile", "ReadDir", "ReadTarget":
		return readsFile
	case "Stat", "Lstat", "Readlink", "Text", "Tree", "Put", "PutDir", "PutOwner":
		return looksAt
	}
	return changesFile
}

// checkLink returns an error where the link of another user leads to what that user
// does not own. Where it is read, that shows at the end: see readable.
func (w *memoryWalk) checkLink(l place, to *node) error {
	switch {
	case to.uid == l.n.uid:
		return nil
	case w.use == readsFile:
		w.claims = append(w.claims, l)
		return nil
	}
	return &UnsafeLinkError{Link: l.name, UID: l.n.uid}
}

// readable returns an error where a link of a user led to what that user cannot
// read.
func (w *memoryWalk) readable() error {
	for _, l := range w.claims {
		for i, p := range w.stack {
			want := fs.FileMode(0o001)
			if i == len(w.stack)-1 {
				want = 0o004
			}
			if p.n != nil && p.n.uid != l.n.uid && p.n.mode&want == 0 {
				return &UnsafeLinkError{Link: l.name, UID: l.n.uid, Read: true}
			}
		}
	}
	return nil
}

// isForeign reports whether a link in a directory may be that of somebody else.
func (f *memory) isForeign(dir, link *node) bool {
	trusts := func(n *node) bool { return n.uid == 0 || n.uid == f.UID }
	return !trusts(link) && (!trusts(dir) || dir.mode&0o022 != 0)
}

func (n *node) stat(p string) Stat {
	s := Stat{
		Path: p, Mode: n.mode, Size: max(int64(len(n.data)), n.big), UID: n.uid, GID: n.gid,
		Atime: n.atime, Mtime: n.mtime, Ctime: n.ctime, Inode: n.ino, Dev: n.dev, Nlink: n.nlink,
	}
	if n.mode&fs.ModeSymlink != 0 {
		s.Size = int64(len(n.target))
	}
	return s
}

func (f *memory) wrote(op string, args ...string) {
	f.changes++
	f.writes = append(f.writes, op+" "+strings.Join(args, " "))
	if f.under != nil && op != "Lock" {
		f.touched = append(f.touched, args...)
	}
}

// Stat returns what is known of p, links followed.
func (f *memory) Stat(p string) (Stat, error) { return f.statNode("Stat", p, true) }

// Lstat returns what is known of p itself.
func (f *memory) Lstat(p string) (Stat, error) { return f.statNode("Lstat", p, false) }

func (f *memory) statNode(op, p string, follow bool) (Stat, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk(op, p, follow)
	if err != nil {
		return Stat{}, err
	}
	return n.stat(p), nil
}

// ReadFile returns the content of p.
func (f *memory) ReadFile(p string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk("ReadFile", p, true)
	if err != nil {
		return nil, err
	}
	if n.mode.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: p, Err: syscall.EISDIR}
	}
	data, err := f.content(n)
	return bytes.Clone(data), err
}

// Open opens p for reading.
func (f *memory) Open(p string) (io.ReadCloser, error) {
	b, err := f.ReadFile(p)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// ReadDir returns the names in p, sorted.
func (f *memory) ReadDir(p string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk("ReadDir", p, true)
	if err != nil {
		return nil, err
	}
	if !n.mode.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: p, Err: syscall.ENOTDIR}
	}
	return f.names(n)
}

// Readlink returns the target of a link.
func (f *memory) Readlink(p string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk("Readlink", p, false)
	if err != nil {
		return "", err
	}
	if n.mode&fs.ModeSymlink == 0 {
		return "", &fs.PathError{Op: "readlink", Path: p, Err: syscall.EINVAL}
	}
	return n.target, nil
}

// EvalSymlinks returns p with all links resolved.
func (f *memory) EvalSymlinks(p string) (string, error) { return f.resolve("EvalSymlinks", p) }

// ReadTarget returns p with all links resolved, for what is read.
func (f *memory) ReadTarget(p string) (string, error) { return f.resolve("ReadTarget", p) }

func (f *memory) resolve(op, p string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, full, n, err := f.locate(op, p, true)
	if err == nil && n == nil {
		err = &fs.PathError{Op: "lstat", Path: p, Err: syscall.ENOENT}
	}
	return full, err
}

// Target returns the path without links that a change of p comes to.
func (f *memory) Target(p string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, full, _, err := f.locate("Target", p, true)
	return full, err
}

// WriteFile replaces the content of p; see [Files].
func (f *memory) WriteFile(p string, content io.Reader, opts WriteOptions) error {
	data, big, err := f.take(content)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if opts.TmpDir != "" {
		if _, err := f.walk("WriteFile", opts.TmpDir, true); err != nil {
			return err
		}
	}
	dir, full, old, err := f.locate("WriteFile", p, opts.FollowLinks)
	if err != nil {
		return err
	}
	if old != nil && old.mode.IsDir() {
		return &fs.PathError{Op: "write", Path: p, Err: syscall.EISDIR}
	}
	if old != nil && !old.mode.IsRegular() && old.mode&fs.ModeSymlink == 0 {
		return &fs.PathError{Op: "write", Path: p, Err: fs.ErrInvalid}
	}
	n := f.newNode(0o666 &^ fs.FileMode(f.Umask))
	n.data, n.big = data, big
	if old != nil && old.mode.IsRegular() {
		n.mode, n.uid, n.gid = old.mode, old.uid, old.gid
	}
	if opts.Mode != nil {
		n.mode = *opts.Mode & modeBits
	}
	if opts.UID != nil && *opts.UID >= 0 {
		n.uid = *opts.UID
	}
	if opts.GID != nil && *opts.GID >= 0 {
		n.gid = *opts.GID
	}
	if old != nil {
		old.nlink--
	}
	dir.kids[path.Base(full)] = n
	dir.mtime = f.now
	f.wrote("WriteFile", p)
	return nil
}

// AppendFile adds data at the end of p.
func (f *memory) AppendFile(p string, data []byte, mode fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, full, n, err := f.locate("AppendFile", p, true)
	if err != nil {
		return err
	}
	if n == nil {
		n = f.newNode(mode & modeBits &^ fs.FileMode(f.Umask))
		dir.kids[path.Base(full)] = n
	}
	if n.mode.IsDir() {
		return &fs.PathError{Op: "append", Path: p, Err: syscall.EISDIR}
	}
	was, err := f.content(n)
	if err != nil {
		return err
	}
	n.data, n.big, _ = f.take(io.MultiReader(bytes.NewReader(was), bytes.NewReader(data))) // neither fails
	n.real = ""
	n.mtime, n.ctime = f.now, f.now
	f.wrote("AppendFile", p)
	return nil
}

// add puts a new node at p, which must be free.
func (f *memory) add(op, p string, n *node) error {
	dir, full, old, err := f.locate(op, p, false)
	if err != nil {
		return err
	}
	if old != nil {
		return &fs.PathError{Op: strings.ToLower(op), Path: p, Err: syscall.EEXIST}
	}
	dir.kids[path.Base(full)] = n
	dir.mtime = f.now
	if n.mode.IsDir() {
		dir.nlink++
	}
	return nil
}

// Mkdir makes one directory.
func (f *memory) Mkdir(p string, mode fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.add("Mkdir", p, f.newNode(fs.ModeDir|mode&modeBits&^fs.FileMode(f.Umask))); err != nil {
		return err
	}
	f.wrote("Mkdir", p)
	return nil
}

// MkdirAll makes p and its missing parents.
func (f *memory) MkdirAll(p string, mode fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, err := f.walk("MkdirAll", p, true); err == nil && n.mode.IsDir() {
		return nil
	}
	if err := f.mkdirAll("MkdirAll", p, mode&modeBits&^fs.FileMode(f.Umask)); err != nil {
		return err
	}
	f.wrote("MkdirAll", p)
	return nil
}

func (f *memory) mkdirAll(op, p string, mode fs.FileMode) error {
	n, err := f.walk(op, p, true)
	if err == nil {
		if n.mode.IsDir() {
			return nil
		}
		return &fs.PathError{Op: "mkdir", Path: p, Err: syscall.ENOTDIR}
	}
	if _, unsafe := errors.AsType[*UnsafeLinkError](err); unsafe {
		return err
	}
	if parent := path.Dir(path.Clean(p)); parent != p {
		if err := f.mkdirAll(op, parent, mode); err != nil {
			return err
		}
	}
	return f.add(op, p, f.newNode(fs.ModeDir|mode))
}

// MkdirTemp makes a directory of a new name; the number that stands for the
// last * counts up.
func (f *memory) MkdirTemp(dir, pattern string) (string, error) {
	if dir == "" {
		dir = "/tmp"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastTemp++
	before, after := pattern, ""
	if i := strings.LastIndex(pattern, "*"); i >= 0 {
		before, after = pattern[:i], pattern[i+1:]
	}
	p := path.Join(dir, fmt.Sprintf("%s%d%s", before, f.lastTemp, after))
	if err := f.add("MkdirTemp", p, f.newNode(fs.ModeDir|0o700)); err != nil {
		return "", err
	}
	f.wrote("MkdirTemp", p)
	return p, nil
}

// Remove takes out a file, a link, or an empty directory.
func (f *memory) Remove(p string) error { return f.remove(p, false) }

func (f *memory) remove(p string, forced bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, full, n, err := f.locate("Remove", p, false)
	switch {
	case err != nil:
		return err
	case n == nil:
		return &fs.PathError{Op: "remove", Path: p, Err: syscall.ENOENT}
	case !forced && isSystem(full):
		return &fs.PathError{Op: "remove", Path: p, Err: &SystemPathError{p, full}}
	case dir == nil:
		return &fs.PathError{Op: "remove", Path: p, Err: syscall.EBUSY}
	case f.holds(n):
		return &fs.PathError{Op: "remove", Path: p, Err: syscall.ENOTEMPTY}
	}
	n.nlink--
	dir.drop(path.Base(full))
	dir.mtime = f.now
	f.wrote("Remove", p)
	return nil
}

// RemoveAll removes p and everything in it; a missing p is not an error.
func (f *memory) RemoveAll(p string) error { return f.removeAll(p, false) }

func (f *memory) removeAll(p string, forced bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, full, n, err := f.locate("RemoveAll", p, false)
	if err != nil {
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		return err
	}
	if n == nil {
		return nil
	}
	if !forced && isSystem(full) {
		return &fs.PathError{Op: "removeall", Path: p, Err: &SystemPathError{p, full}}
	}
	if dir == nil {
		return &fs.PathError{Op: "removeall", Path: p, Err: syscall.EBUSY}
	}
	dir.drop(path.Base(full))
	dir.mtime = f.now
	f.wrote("RemoveAll", p)
	return nil
}

// Rename moves from to to.
func (f *memory) Rename(from, to string) error { return f.rename(from, to, false) }

func (f *memory) rename(from, to string, forced bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	fromDir, fromFull, n, err := f.locate("Rename", from, false)
	if err == nil && !forced && isSystem(fromFull) {
		err = &fs.PathError{Op: "rename", Path: from, Err: &SystemPathError{from, fromFull}}
	}
	if err == nil && (n == nil || fromDir == nil) {
		err = &fs.PathError{Op: "rename", Path: from, Err: syscall.ENOENT}
	}
	if err != nil {
		return err
	}
	toDir, toFull, old, err := f.locate("Rename", to, false)
	if err != nil {
		return err
	}
	if !forced && isSystem(toFull) {
		return &fs.PathError{Op: "rename", Path: to, Err: &SystemPathError{to, toFull}}
	}
	if old != nil && old != n {
		switch {
		case old.mode.IsDir() && !n.mode.IsDir():
			return &fs.PathError{Op: "rename", Path: to, Err: syscall.EEXIST} // as os.Rename
		case !old.mode.IsDir() && n.mode.IsDir():
			return &fs.PathError{Op: "rename", Path: to, Err: syscall.ENOTDIR}
		case f.holds(old):
			return &fs.PathError{Op: "rename", Path: to, Err: syscall.ENOTEMPTY}
		}
	}
	if toDir == nil || n.mode.IsDir() && strings.HasPrefix(toFull, fromFull+"/") {
		return &fs.PathError{Op: "rename", Path: to, Err: syscall.EINVAL}
	}
	fromDir.drop(path.Base(fromFull))
	toDir.kids[path.Base(toFull)] = n
	fromDir.mtime, toDir.mtime = f.now, f.now
	f.wrote("Rename", from, to)
	return nil
}

// Symlink makes p a link to target.
func (f *memory) Symlink(target, p string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if strings.Contains(target, "\x00") {
		return &fs.PathError{Op: "symlink", Path: p, Err: syscall.EINVAL}
	}
	n := f.newNode(fs.ModeSymlink | 0o777)
	n.target = target
	if err := f.add("Symlink", p, n); err != nil {
		return err
	}
	f.wrote("Symlink", p)
	return nil
}

// Link makes p another name of target.
func (f *memory) Link(target, p string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk("Link", target, false)
	if err != nil {
		return err
	}
	if n.mode.IsDir() {
		return &fs.PathError{Op: "link", Path: target, Err: syscall.EPERM}
	}
	if err := f.add("Link", p, n); err != nil {
		return err
	}
	n.nlink++
	f.wrote("Link", p)
	return nil
}

// Lock takes the lock of a file, which is made where it is missing.
func (f *memory) Lock(p string) (unlock func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, full, n, err := f.locate("Lock", p, false)
	if err != nil {
		return nil, err
	}
	if n == nil {
		n = f.newNode(0o600)
		dir.kids[path.Base(full)] = n
		f.wrote("Lock", p)
	}
	if !n.mode.IsRegular() {
		return nil, &fs.PathError{Op: "lock", Path: p, Err: syscall.ELOOP}
	}
	if f.locks == nil {
		f.locks = map[*node]bool{}
		f.unlocked = sync.NewCond(&f.mu)
	}
	for f.locks[n] {
		f.unlocked.Wait()
	}
	f.locks[n] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.locks, n)
		f.unlocked.Broadcast()
	}, nil
}

// Chmod sets the mode of what p leads to.
func (f *memory) Chmod(p string, mode fs.FileMode) error {
	return f.change("Chmod", p, true, func(n *node) { n.mode = n.mode&^modeBits | mode&modeBits })
}

// Chown sets the owner of what p leads to.
func (f *memory) Chown(p string, uid, gid int) error {
	return f.change("Chown", p, true, func(n *node) { n.chown(uid, gid) })
}

// Lchown sets the owner of p itself.
func (f *memory) Lchown(p string, uid, gid int) error {
	return f.change("Lchown", p, false, func(n *node) { n.chown(uid, gid) })
}

func (n *node) chown(uid, gid int) {
	if uid >= 0 {
		n.uid = uid
	}
	if gid >= 0 {
		n.gid = gid
	}
}

// Chtimes sets times; a zero time is left as it is.
func (f *memory) Chtimes(p string, atime, mtime time.Time) error {
	return f.change("Chtimes", p, true, func(n *node) {
		if !atime.IsZero() {
			n.atime = atime
		}
		if !mtime.IsZero() {
			n.mtime = mtime
		}
	})
}

func (f *memory) change(op, p string, follow bool, do func(*node)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk(op, p, follow)
	if err != nil {
		return err
	}
	do(n)
	n.ctime = f.now
	f.wrote(op, p)
	return nil
}
