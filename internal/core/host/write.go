package host

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A tempFile is a file being written, within an open directory, so that
// renaming the directory meanwhile cannot redirect the write. Where the file
// system supports it, the file has no name until it is complete: a process that
// is killed while writing leaves nothing behind.
type tempFile struct {
	root *os.Root
	name string // "": it has none yet
	file *os.File
	want attrs
	sync bool
}

// WriteFile replaces the content of path; see [Files]. What is at path stays
// as it was until the rename, and no temporary file is left on failure.
func (l *Local) WriteFile(path string, content io.Reader, opts WriteOptions) error {
	defer l.changes.Add(1)
	if opts.FollowLinks && plain(path) {
		p, err := resolveLink(path)
		if err != nil {
			return err
		}
		path = p
	}
	root, base, err := reach("open", path, opts.FollowLinks)
	if err != nil {
		return err
	}
	defer root.Close()
	if base == "." {
		return &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	}
	return l.writeIn(root, base, path, content, opts)
}

// writeIn replaces the content of base in root.
func (l *Local) writeIn(root *os.Root, base, path string, content io.Reader, opts WriteOptions) error {
	want, err := wanted(root, base, path, opts)
	if err != nil {
		return err
	}
	if opts.TmpDir != "" && filepath.Clean(opts.TmpDir) != filepath.Clean(filepath.Dir(path)) {
		return l.writeVia(root, base, content, want, opts)
	}
	t, err := l.stage(root, content, want, opts.Sync)
	if err != nil {
		return ofTarget(err, path)
	}
	return l.commit(t, base)
}

// ofTarget is the error of staging a file: what has no name, or one of brine's
// own, stands for the file that was to be written.
func ofTarget(err error, path string) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return err
	}
	switch base := filepath.Base(at.Path); {
	case base == ".":
		return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	case strings.HasPrefix(base, stagedPrefix):
		return &fs.PathError{Op: "write", Path: path, Err: at.Err}
	}
	return err
}

// writeVia stages content in opts.TmpDir and moves it into place. Where that
// is another file system the staged file is copied beside the target first, so
// that the last step is still one rename.
func (l *Local) writeVia(root *os.Root, base string, content io.Reader, want attrs, opts WriteOptions) error {
	tmp, _, err := reach("open", opts.TmpDir+"/.brine", false)
	if err != nil {
		return err
	}
	defer tmp.Close()
	t, err := l.stage(tmp, content, want, opts.Sync)
	if err != nil {
		return err
	}
	if t, err = l.named(t); err != nil {
		return err
	}
	defer l.discard(t) // its name is free again after the rename
	err = renameBetween(tmp, t.name, root, base)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	staged, err := tmp.Open(t.name)
	if err != nil {
		return err
	}
	defer staged.Close()
	c, err := l.stage(root, staged, want, opts.Sync)
	if err != nil {
		return ofTarget(err, filepath.Join(root.Name(), base))
	}
	return l.commit(c, base)
}

// renameBetween moves a name of one directory to another.
func renameBetween(from *os.Root, name string, to *os.Root, base string) error {
	a, err := from.Open(".")
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := to.Open(".")
	if err != nil {
		return err
	}
	defer b.Close()
	return linkError("rename", filepath.Join(from.Name(), name), filepath.Join(to.Name(), base),
		renameAt(int(a.Fd()), name, int(b.Fd()), base))
}

// attrs are the mode and owner that a written file gets.
type attrs struct {
	mode     *fs.FileMode // nil: 0666 less the umask
	uid, gid int          // -1: as it comes
	keep     bool         // owner is only kept: failing to change it is not an error
}

// wanted returns the attributes for root's base, which may exist.
func wanted(root *os.Root, base, path string, opts WriteOptions) (attrs, error) {
	a := attrs{mode: opts.Mode, uid: -1, gid: -1}
	fi, err := root.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return a, err
	case fi.IsDir():
		return a, &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	case fi.Mode()&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0:
		// A rename would put a plain file where a device was.
		return a, &fs.PathError{Op: "write", Path: path, Err: errors.New("not a regular file")}
	case fi.Mode().IsRegular():
		st := statOf(path, fi)
		if a.mode == nil {
			m := fi.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
			a.mode = &m
		}
		a.uid, a.gid, a.keep = st.UID, st.GID, true
	}
	if opts.UID != nil || opts.GID != nil {
		a.keep = false
		if opts.UID != nil {
			a.uid = *opts.UID
		}
		if opts.GID != nil {
			a.gid = *opts.GID
		}
	}
	return a, nil
}

// stage writes content to a new file in root with the wanted attributes. On
// failure the file is gone.
func (l *Local) stage(root *os.Root, content io.Reader, want attrs, sync bool) (*tempFile, error) {
	perm := fs.FileMode(0o600) // what is going to be private is so from the start
	if want.mode == nil {
		perm = 0o666
	}
	t := &tempFile{root: root, want: want, sync: sync}
	var err error
	if t.file = nameless(root, perm); t.file == nil {
		if t, err = l.create(root, perm); err != nil {
			return nil, err
		}
	}
	if err = t.fill(content, want, sync); err != nil {
		l.discard(t)
		return nil, err
	}
	return t, nil
}

// stagedPrefix begins the names of staged files.
const stagedPrefix = ".brine-"

// newName returns a name that nothing else has.
func newName() (string, error) {
	var r [8]byte
	if _, err := rand.Read(r[:]); err != nil {
		return "", err
	}
	return stagedPrefix + hex.EncodeToString(r[:]), nil
}

// create makes a new empty file of a name that was free.
func (l *Local) create(root *os.Root, perm fs.FileMode) (*tempFile, error) {
	for range 100 {
		name, err := newName()
		if err != nil {
			return nil, err
		}
		t := &tempFile{root: root, name: name}
		f, err := root.OpenFile(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		t.file = f
		l.keep(t)
		return t, nil
	}
	return nil, fmt.Errorf("create a temporary file in %s: %w", root.Name(), fs.ErrExist)
}

// keep notes a file that is to be removed if the process ends before it is done.
func (l *Local) keep(t *tempFile) {
	l.mu.Lock()
	l.temps[t] = struct{}{}
	l.mu.Unlock()
}

// named gives a whole file a name, where it has none yet. Where that is not
// allowed, the file is copied to one that has a name. On failure it is gone.
func (l *Local) named(t *tempFile) (*tempFile, error) {
	if t.name != "" {
		return t, nil
	}
	defer t.file.Close()
	for range 100 {
		name, err := newName()
		if err != nil {
			return nil, err
		}
		n := &tempFile{root: t.root, name: name, file: t.file}
		l.keep(n)
		err = link(t.file, t.root, name)
		if err == nil {
			return n, nil
		}
		l.forget(n)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if _, err := t.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	perm := fs.FileMode(0o600)
	if t.want.mode == nil {
		perm = 0o666
	}
	n, err := l.create(t.root, perm)
	if err != nil {
		return nil, err
	}
	if err := n.fill(t.file, t.want, t.sync); err != nil {
		l.discard(n)
		return nil, err
	}
	return n, nil
}

func (t *tempFile) fill(content io.Reader, want attrs, sync bool) error {
	if content != nil {
		if _, err := io.Copy(t.file, content); err != nil {
			return err
		}
	}
	if want.uid >= 0 || want.gid >= 0 {
		if err := t.chown(want); err != nil {
			return err
		}
	}
	if want.mode != nil { // after the owner: chown clears setuid
		if err := t.file.Chmod(*want.mode); err != nil {
			return err
		}
	}
	if sync {
		if err := t.file.Sync(); err != nil {
			return err
		}
	}
	if t.name == "" {
		return nil // it lives as long as it is open
	}
	return t.file.Close()
}

func (t *tempFile) chown(want attrs) error {
	fi, err := t.file.Stat()
	if err != nil {
		return err
	}
	if st := statOf("", fi); (want.uid < 0 || st.UID == want.uid) && (want.gid < 0 || st.GID == want.gid) {
		return nil
	}
	err = t.file.Chown(want.uid, want.gid)
	if err == nil || !want.keep {
		return err
	}
	// An ordinary user may write a file of others in a directory of his, but
	// not give it back; a group that he is in may still be kept.
	_ = t.file.Chown(-1, want.gid)
	return nil
}

// commit puts t at base within its directory.
func (l *Local) commit(t *tempFile, base string) error {
	if t.name == "" && link(t.file, t.root, base) == nil { // nothing was there
		return t.file.Close()
	}
	t, err := l.named(t)
	if err != nil {
		return err
	}
	if err := t.root.Rename(t.name, base); err != nil {
		l.discard(t)
		return err
	}
	l.forget(t)
	return nil
}

// discard removes t.
func (l *Local) discard(t *tempFile) {
	_ = t.file.Close()
	if t.name != "" {
		_ = t.root.Remove(t.name)
	}
	l.forget(t)
}

func (l *Local) forget(t *tempFile) {
	l.mu.Lock()
	delete(l.temps, t)
	l.mu.Unlock()
}

// resolveLink follows path while it is a link; the last target may be missing.
func resolveLink(path string) (string, error) {
	for range 40 {
		fi, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && fi.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			// The directory part may hold links of its own, so .. must not be
			// folded lexically.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", &fs.PathError{Op: "write", Path: path, Err: syscall.ELOOP}
}
