package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Whatever changes the file system, or reads what a file or directory holds,
// reaches its path by directory handles, so that nobody who may write to a
// directory on the way can lead it elsewhere, at any time. The walk and the
// opening are one operation: a path that was resolved before says nothing of
// where it leads now.
//
// A symbolic link of another user (neither root nor whom brine runs as), in a
// directory where that user could have put it, is followed only to what the same
// user owns: what he could reach through brine is then what he could reach
// without. It does not matter on whose behalf the work is done: a link of the
// user that a file is going to be given to is the one that must not lead to a
// file of root's. For reading, it is followed as well to what that user could
// read by himself. Links of root and one's own are followed as usual.

// An UnsafeLinkError says that a link was not followed: UID owns it, and it
// leads to what that user does not own or, where it was to be read, cannot read.
type UnsafeLinkError struct {
	Link string // the path of the link; its directory is without links
	UID  int
	User string // name of UID, "" where it is not known
	Read bool
}

func (e *UnsafeLinkError) Error() string {
	who, does := e.User, "own"
	if who == "" {
		who = fmt.Sprintf("user %d", e.UID)
	}
	if e.Read {
		does = "own and cannot read"
	}
	return fmt.Sprintf("not following the link %q of %s, it leads to what that user does not %s: name the real path, or make the link root's (chown -h root)", e.Link, who, does)
}

// Is reports whether target is fs.ErrPermission.
func (e *UnsafeLinkError) Is(target error) bool { return target == fs.ErrPermission }

// A claim is the link of another user that a walk goes through.
type claim struct {
	link    string
	uid     int
	settled bool // it ended at what the user owns
	denied  bool // a directory after it is closed to the user
}

func (c *claim) unsafe(read bool) error {
	e := &UnsafeLinkError{Link: c.link, UID: c.uid, Read: read}
	if text, err := readDatabase(passwdFile); err == nil {
		for _, a := range ParsePasswd(text) {
			if a.UID == c.uid {
				e.User = a.Name
				break
			}
		}
	}
	return e
}

// A step is a part of a path that is still to be walked: a name, or, with an
// empty name, the end of the link of another user.
type step struct {
	name string
	of   *claim
}

// stepsOf returns the parts of a path.
func stepsOf(path string) []step {
	var out []step
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			out = append(out, step{name: part})
		}
	}
	return out
}

// named reports whether a name is among the steps.
func named(steps []step) bool {
	for _, s := range steps {
		if s.name != "" {
			return true
		}
	}
	return false
}

// end takes the ends of links, which all lead to what uid owns. To change what
// another user owns is an error; whether it may be read shows at the end of the
// walk.
func (w *walker) end(steps []step, uid int) error {
	for _, s := range steps {
		switch {
		case s.name != "":
		case s.of.uid == uid:
			s.of.settled = true
		case !w.reading:
			return s.of.unsafe(false)
		}
	}
	return nil
}

const (
	maxLinks = 40
	maxTries = 1000 // of a component that others change meanwhile
)

// plain reports whether a path is in a file system of the kernel, where links
// may have no text that could be walked, and which nobody else can write to.
func plain(path string) bool {
	if filepath.Clean(path) != path || strings.HasPrefix(path, "/dev/shm/") || strings.HasPrefix(path, "/dev/mqueue/") {
		return false // it could lead elsewhere; these two are everybody's
	}
	return strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/sys/")
}

// walker is at a directory on the way to a path.
type walker struct {
	fd    int
	path  string // without links
	links int
	tries int

	reading bool     // nothing is going to be changed
	claims  []*claim // links of others on the way
}

func (w *walker) close() { _ = unix.Close(w.fd) }

// enter goes to a directory below the current one, or to an absolute path that
// has no links.
func (w *walker) enter(name string) error {
	fd, err := retryEINTR(func() (int, error) {
		return unix.Openat(w.fd, name, openDir|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	if w.fd >= 0 {
		w.close()
	}
	w.fd = fd
	switch {
	case name == "/" || w.path == "":
		w.path = name
	default:
		w.path = filepath.Join(w.path, name)
	}
	return w.search()
}

// search notes links of users who may not go through the current directory.
func (w *walker) search() error {
	if len(w.claims) == 0 {
		return nil
	}
	var dir unix.Stat_t
	if err := unix.Fstat(w.fd, &dir); err != nil {
		return err
	}
	for _, c := range w.claims {
		c.denied = c.denied || !c.settled && !mayUse(c.uid, &dir, 0o1)
	}
	return nil
}

// root returns the current directory as an os.Root.
func (w *walker) root() (*os.Root, error) {
	var want unix.Stat_t
	if err := unix.Fstat(w.fd, &want); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(w.path)
	if err != nil {
		return nil, err
	}
	fi, err := root.Stat(".")
	if err == nil {
		if st := statOf("", fi); st.Inode == want.Ino && st.Dev == uint64(want.Dev) { //nolint:unconvert // widths differ by system
			return root, nil
		}
		err = errMoved
	}
	root.Close()
	return nil, err
}

var errMoved = errors.New("the directory was moved meanwhile")

func retryEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// lookup returns what is known of a name in the current directory.
func (w *walker) lookup(name string) (st unix.Stat_t, err error) {
	_, err = retryEINTR(func() (int, error) { return 0, unix.Fstatat(w.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return st, err
}

// read returns the text of a link that lookup has found, and false where it is
// another one meanwhile.
func (w *walker) read(name string, was *unix.Stat_t) (string, bool, error) {
	buf := make([]byte, unix.PathMax)
	n, err := retryEINTR(func() (int, error) { return unix.Readlinkat(w.fd, name, buf) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	now, err := w.lookup(name)
	same := err == nil && now.Ino == was.Ino && now.Dev == was.Dev && now.Uid == was.Uid && isLink(&now)
	return string(buf[:n]), same, nil
}

func isLink(st *unix.Stat_t) bool { return modeOf(st)&unix.S_IFMT == unix.S_IFLNK }

// modeOf returns the mode, whose width differs by system.
func modeOf(st *unix.Stat_t) uint32 { return uint32(st.Mode) } //nolint:unconvert // as above

func isDir(st *unix.Stat_t) bool { return modeOf(st)&unix.S_IFMT == unix.S_IFDIR }

// trusts reports whether what uid made may lead anywhere.
func trusts(uid int) bool { return uid == 0 || uid == os.Geteuid() }

// foreign reports whether a link in the current directory may be that of
// somebody else.
func (w *walker) foreign(link *unix.Stat_t) (bool, error) {
	if trusts(int(link.Uid)) {
		return false, nil
	}
	var dir unix.Stat_t
	if err := unix.Fstat(w.fd, &dir); err != nil {
		return false, err
	}
	return !trusts(int(dir.Uid)) || modeOf(&dir)&0o022 != 0, nil
}

// parent walks to the directory that path is in and returns it with the last
// name. With follow, a link at path is followed, too. The caller closes the
// directory.
func parent(path string, follow, reading bool) (w *walker, base string, err error) {
	w = &walker{fd: unix.AT_FDCWD, reading: reading}
	if dir, base, ok := splitLast(path); ok {
		if fd, err := openPlain(dir, openDir|unix.O_DIRECTORY|unix.O_CLOEXEC); err == nil { // no link on the way
			w.fd, w.path = fd, filepath.Clean(dir)
			return w.walked([]step{{name: base}}, follow)
		}
	}
	start := "."
	if filepath.IsAbs(path) {
		start = "/"
	}
	if err := w.enter(start); err != nil {
		return nil, "", err
	}
	return w.walked(stepsOf(path), follow)
}

// walked is [walker.walk], and closes w where that fails.
func (w *walker) walked(todo []step, follow bool) (*walker, string, error) {
	base, err := w.walk(todo, follow)
	if err != nil {
		w.close()
		return nil, "", err
	}
	return w, base, nil
}

// splitLast returns the directory and the last name of a path that ends in one.
func splitLast(path string) (dir, base string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if base = path[i+1:]; base == "" || base == "." || base == ".." {
		return "", "", false
	}
	if i < 0 {
		return ".", base, true
	}
	return path[:i+1], base, true
}

func (w *walker) walk(todo []step, follow bool) (string, error) {
	for len(todo) > 0 {
		s := todo[0]
		rest := todo[1:]
		if s.name == "" || s.name == ".." {
			if err := w.mark(s); err != nil {
				return "", err
			}
			todo = rest
			continue
		}
		last := !named(rest)
		st, err := w.lookup(s.name)
		switch {
		case errors.Is(err, unix.ENOENT) && last:
			return s.name, w.here(rest)
		case err != nil:
			return "", err
		case isLink(&st) && (!last || follow):
			if todo, err = w.follow(s.name, &st, todo, rest); err != nil {
				return "", err
			}
			continue
		case last:
			return s.name, w.end(rest, int(st.Uid))
		case !isDir(&st):
			return "", unix.ENOTDIR
		}
		if err := w.enter(s.name); err != nil {
			if w.replaced(s.name, &st) {
				continue
			}
			return "", err
		}
		todo = rest
	}
	return ".", nil
}

// mark takes a step other than a name: the end of a link, or the directory above.
func (w *walker) mark(s step) error {
	if s.name == "" {
		return w.here([]step{s})
	}
	return w.enter(s.name)
}

// here checks that the links that end at the current directory may lead there.
func (w *walker) here(ends []step) error {
	var dir unix.Stat_t
	if err := unix.Fstat(w.fd, &dir); err != nil {
		return err
	}
	return w.end(ends, int(dir.Uid))
}

// replaced reports whether a name is another file's by now, and may be tried
// once more.
func (w *walker) replaced(name string, was *unix.Stat_t) bool {
	if !w.again() {
		return false
	}
	now, err := w.lookup(name)
	return err == nil && now.Ino != was.Ino
}

// again counts what is tried once more.
func (w *walker) again() bool {
	w.tries++
	return w.tries < maxTries
}

// follow replaces the first step, which is a link, by where it leads.
func (w *walker) follow(name string, st *unix.Stat_t, todo, rest []step) ([]step, error) {
	if w.links++; w.links > maxLinks {
		return nil, unix.ELOOP
	}
	target, same, err := w.read(name, st)
	if err != nil {
		return nil, err
	}
	if !same {
		if w.links--; w.again() {
			return todo, nil
		}
		return nil, unix.ELOOP
	}
	foreign, err := w.foreign(st)
	if err != nil {
		return nil, err
	}
	next := stepsOf(target)
	if foreign {
		c := &claim{link: filepath.Join(w.path, name), uid: int(st.Uid)}
		next = append(next, step{of: c})
		if w.reading {
			w.claims = append(w.claims, c)
		}
	}
	if filepath.IsAbs(target) {
		if err := w.enter("/"); err != nil {
			return nil, err
		}
	}
	return append(next, rest...), nil
}

// enter is [parent] of a path that a user gave.
func enter(path string, follow, reading bool) (w *walker, base string, err error) {
	if path == "" {
		return nil, "", unix.ENOENT
	}
	if strings.ContainsRune(path, 0) {
		return nil, "", unix.EINVAL
	}
	return parent(path, follow, reading)
}

// reach opens the directory that contains path, and returns it with the last
// element of path. With follow, that element is not a link. The caller closes
// the directory.
func reach(op, path string, follow bool) (*os.Root, string, error) {
	fail := func(err error) (*os.Root, string, error) {
		return nil, "", &fs.PathError{Op: op, Path: path, Err: err}
	}
	w, base, err := enter(path, follow, false)
	if err != nil {
		return fail(err)
	}
	defer w.close()
	root, err := w.root()
	if err != nil {
		return fail(err)
	}
	return root, base, nil
}

// in calls do with the directory that path is in, by its handle, and the last
// name there.
func in(op, path string, follow bool, do func(dir int, base string) error) error {
	return inDir(op, path, follow, func(w *walker, base string) error { return do(w.fd, base) })
}

// inDir is [in] with the directory itself.
func inDir(op, path string, follow bool, do func(w *walker, base string) error) error {
	fail := func(err error) error {
		if err == nil {
			return nil
		}
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	w, base, err := enter(path, follow, false)
	if err != nil {
		return fail(err)
	}
	defer w.close()
	return fail(do(w, base))
}

// checkGift refuses to give the link of another user to somebody whose links are
// followed: it would then lead wherever that user had it lead. dir is where it is.
func checkGift(dir int, base string, st *unix.Stat_t, uid int) error {
	if !isLink(st) || uid < 0 || !trusts(uid) || trusts(int(st.Uid)) {
		return nil
	}
	var at unix.Stat_t
	if err := unix.Fstat(dir, &at); err != nil {
		return err
	}
	if trusts(int(at.Uid)) && modeOf(&at)&0o022 == 0 {
		return nil
	}
	return &GivenLinkError{base, int(st.Uid)}
}

// A GivenLinkError says that the link of another user was not given to root, or to
// whom brine runs as.
type GivenLinkError struct {
	Link string
	UID  int
}

func (e *GivenLinkError) Error() string {
	return fmt.Sprintf("not taking over the link %q of user %d, in a directory that others can change: remove the link, and create it again", e.Link, e.UID)
}

// Is reports whether target is fs.ErrPermission.
func (e *GivenLinkError) Is(target error) bool { return target == fs.ErrPermission }

// checkNames refuses a file that has several names where the kernel lets anyone
// give files of others a name of his own.
func checkNames(st *unix.Stat_t) error {
	if st.Nlink < 2 || modeOf(st)&unix.S_IFMT != unix.S_IFREG || os.Geteuid() != 0 || protectedHardlinks() {
		return nil
	}
	return errNames
}

var errNames = errors.New("the file has several names, and this system lets any user give files of others a name (fs.protected_hardlinks)")

// chtimesAt sets the times of base; a zero time is left as it is.
func chtimesAt(dir int, base string, atime, mtime time.Time) error {
	ts := [2]unix.Timespec{}
	for i, t := range []time.Time{atime, mtime} {
		if t.IsZero() {
			ts[i] = unix.Timespec{Nsec: omitTime}
			continue
		}
		x, err := unix.TimeToTimespec(t)
		if err != nil {
			return err
		}
		ts[i] = x
	}
	_, err := retryEINTR(func() (int, error) {
		return 0, unix.UtimesNanoAt(dir, base, ts[:], unix.AT_SYMLINK_NOFOLLOW)
	})
	return err
}

// symlinkAt makes base a link.
func symlinkAt(dir int, base, target string) error {
	_, err := retryEINTR(func() (int, error) { return 0, unix.Symlinkat(target, dir, base) })
	return err
}

func mkdirAt(dir int, base string, mode fs.FileMode) error {
	_, err := retryEINTR(func() (int, error) { return 0, unix.Mkdirat(dir, base, UnixMode(mode)) })
	return err
}

// removeAt takes out a file, a link or an empty directory.
func removeAt(dir int, base string) error {
	if base == "." {
		return unix.EINVAL
	}
	_, err := retryEINTR(func() (int, error) { return 0, unix.Unlinkat(dir, base, 0) })
	if err == nil {
		return nil
	}
	_, derr := retryEINTR(func() (int, error) { return 0, unix.Unlinkat(dir, base, unix.AT_REMOVEDIR) })
	if derr == nil {
		return nil
	}
	if !errors.Is(derr, unix.ENOTDIR) {
		err = derr
	}
	return err
}

// appendAt appends data to base, which must not be a link.
func appendAt(dir int, base string, data []byte, mode fs.FileMode) error {
	fd, err := retryEINTR(func() (int, error) {
		return unix.Openat(dir, base, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, UnixMode(mode))
	})
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), base)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		err = checkNames(&st)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// renameAt moves from to to; a directory there is not replaced by a file.
func renameAt(fromDir int, from string, toDir int, to string) error {
	var st, old unix.Stat_t
	if unix.Fstatat(toDir, to, &old, unix.AT_SYMLINK_NOFOLLOW) == nil && isDir(&old) { // as os.Rename
		if err := unix.Fstatat(fromDir, from, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		if st.Ino != old.Ino || st.Dev != old.Dev || from == to && fromDir == toDir {
			return syscall.EEXIST
		}
	}
	_, err := retryEINTR(func() (int, error) { return 0, unix.Renameat(fromDir, from, toDir, to) })
	return err
}

// linkAt makes to another name of from, be it a link.
func linkAt(fromDir int, from string, toDir int, to string) error {
	_, err := retryEINTR(func() (int, error) { return 0, unix.Linkat(fromDir, from, toDir, to, 0) })
	return err
}
