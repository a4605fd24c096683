package host

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Stat returns what is known of path, links followed.
func (*Local) Stat(path string) (Stat, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return Stat{}, err
	}
	return statOf(path, fi), nil
}

// Lstat returns what is known of path itself, be it a link.
func (*Local) Lstat(path string) (Stat, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return Stat{}, err
	}
	return statOf(path, fi), nil
}

// ReadFile returns the whole content of path.
func (*Local) ReadFile(path string) ([]byte, error) {
	f, err := openRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	limit := int64(maxRead)
	if !st.Mode().IsRegular() {
		limit = maxDevice
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("more than %d bytes, which is too much to hold", limit)}
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// What ReadFile holds in memory at most, in bytes: of a file, and of a device
// or pipe, which may never end.
const (
	maxRead   = 1 << 30
	maxDevice = 16 << 20
)

// Open opens path for reading.
func (*Local) Open(path string) (io.ReadCloser, error) {
	f, err := openRead(path)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}

// ReadDir returns the names in path, sorted.
func (*Local) ReadDir(path string) ([]string, error) {
	d, err := openDirectory(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}

// Readlink returns the target of a link as it is written.
func (*Local) Readlink(path string) (string, error) { return os.Readlink(path) }

// EvalSymlinks returns path with all links resolved.
func (*Local) EvalSymlinks(path string) (string, error) { return resolve(path, false) }

// ReadTarget returns path with all links resolved, for what is read.
func (*Local) ReadTarget(path string) (string, error) { return resolve(path, true) }

// Target returns the path without links that a change of path comes to.
func (*Local) Target(path string) (string, error) { return target(path) }

// AppendFile adds data at the end of path, which is made with mode (less the
// umask) if it is missing.
func (l *Local) AppendFile(path string, data []byte, mode fs.FileMode) error {
	defer l.changes.Add(1)
	if plain(path) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, mode)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		return err
	}
	return in("open", path, true, func(dir int, base string) error { return appendAt(dir, base, data, mode) })
}

// Mkdir makes one directory with mode less the umask.
func (l *Local) Mkdir(path string, mode fs.FileMode) error {
	defer l.changes.Add(1)
	return in("mkdir", path, false, func(dir int, base string) error { return mkdirAt(dir, base, mode) })
}

// MkdirAll creates path and its missing parents; an existing directory is not
// an error.
func (l *Local) MkdirAll(path string, mode fs.FileMode) error {
	defer l.changes.Add(1)
	return mkdirAll(path, mode)
}

func mkdirAll(path string, mode fs.FileMode) error {
	if fi, err := os.Stat(path); err == nil {
		if fi.IsDir() {
			return nil
		}
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	}
	path = strings.TrimRight(path, "/")
	if up := strings.TrimRight(path[:strings.LastIndexByte(path, '/')+1], "/"); up != "" {
		if err := mkdirAll(up, mode); err != nil {
			return err
		}
	}
	err := in("mkdir", path, false, func(dir int, base string) error { return mkdirAt(dir, base, mode) })
	if err != nil {
		if fi, serr := os.Lstat(path); serr == nil && fi.IsDir() {
			return nil // made by another meanwhile, or path ends with ..
		}
	}
	return err
}

// MkdirTemp makes a directory that only its owner may enter. The last * in
// pattern is replaced by random text; dir "" is the system's own place.
func (l *Local) MkdirTemp(dir, pattern string) (string, error) {
	defer l.changes.Add(1)
	if dir == "" {
		return os.MkdirTemp(dir, pattern)
	}
	head, tail := pattern, ""
	if i := strings.LastIndexByte(pattern, '*'); i >= 0 {
		head, tail = pattern[:i], pattern[i+1:]
	}
	for range maxTries {
		mid, err := newName()
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, head+strings.TrimPrefix(mid, stagedPrefix)+tail)
		err = in("mkdir", path, false, func(dir int, base string) error { return mkdirAt(dir, base, 0o700) })
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
	return "", &fs.PathError{Op: "mkdir", Path: filepath.Join(dir, pattern), Err: fs.ErrExist}
}

// Remove takes out a file, a link, or an empty directory.
func (l *Local) Remove(path string) error { return l.remove(path, false) }

func (l *Local) remove(path string, forced bool) error {
	defer l.changes.Add(1)
	return inDir("remove", path, false, func(w *walker, base string) error {
		if err := spare(path, w.path, base); err != nil && !forced {
			return err
		}
		return removeAt(w.fd, base)
	})
}

// RemoveAll removes path and everything in it. Links are removed, never
// followed: it walks by directory handles. A missing path is not an error.
func (l *Local) RemoveAll(path string) error { return l.removeAll(path, false) }

func (l *Local) removeAll(path string, forced bool) error {
	defer l.changes.Add(1)
	root, base, err := reach("removeall", path, false)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	if err := spare(path, root.Name(), base); err != nil && !forced {
		return &fs.PathError{Op: "removeall", Path: path, Err: err}
	}
	if base == "." {
		return &fs.PathError{Op: "removeall", Path: path, Err: syscall.EINVAL}
	}
	return errorAt(root.RemoveAll(base), path)
}

// errorAt gives an error of a name in a directory the path that was asked for.
func errorAt(err error, path string) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		rest := ""
		if i := strings.IndexByte(e.Path, '/'); i >= 0 {
			rest = e.Path[i:]
		}
		return &fs.PathError{Op: e.Op, Path: path + rest, Err: e.Err}
	}
	return err
}

// Rename moves from to to, replacing a file there.
func (l *Local) Rename(from, to string) error { return l.rename(from, to, false) }

func (l *Local) rename(from, to string, forced bool) error {
	defer l.changes.Add(1)
	err := inDir("rename", from, false, func(w *walker, base string) error {
		return inDir("rename", to, false, func(toDir *walker, toBase string) error {
			if err := cmp.Or(spare(from, w.path, base), spare(to, toDir.path, toBase)); err != nil && !forced {
				return err
			}
			return renameAt(w.fd, base, toDir.fd, toBase)
		})
	})
	return linkError("rename", from, to, err)
}

// linkError returns err with both paths.
func linkError(op, from, to string, err error) error {
	for {
		e, ok := errors.AsType[*fs.PathError](err)
		if !ok {
			break
		}
		err = e.Err
	}
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: err}
}

// Symlink makes path a link to target.
func (l *Local) Symlink(target, path string) error {
	defer l.changes.Add(1)
	err := in("symlink", path, false, func(dir int, base string) error { return symlinkAt(dir, base, target) })
	return linkError("symlink", target, path, err)
}

// Link makes path another name of target.
func (l *Local) Link(target, path string) error {
	defer l.changes.Add(1)
	err := in("link", target, false, func(dir int, base string) error {
		return in("link", path, false, func(toDir int, toBase string) error { return linkAt(dir, base, toDir, toBase) })
	})
	return linkError("link", target, path, err)
}

// Lock takes the lock of a file. It is not handed down to programs that are
// started meanwhile.
func (*Local) Lock(path string) (unlock func(), err error) {
	var f *os.File
	err = in("open", path, false, func(dir int, base string) error {
		fd, err := retryEINTR(func() (int, error) {
			return unix.Openat(dir, base, unix.O_CREAT|unix.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		})
		if err == nil {
			f = os.NewFile(uintptr(fd), path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err {
		case nil:
			return func() {
				// A child that is just being started has the file open, too, until
				// it becomes another program: to close would not end the lock.
				_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
				f.Close()
			}, nil
		case syscall.EINTR:
		default:
			f.Close()
			return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
		}
	}
}

// Chmod sets permission, setuid, setgid and sticky bits.
func (l *Local) Chmod(path string, mode fs.FileMode) error {
	defer l.changes.Add(1)
	return in("chmod", path, true, func(dir int, base string) error { return chmodAt(dir, base, UnixMode(mode)) })
}

// Chown sets owner and group of what path leads to; -1 leaves one as it is.
func (l *Local) Chown(path string, uid, gid int) error {
	defer l.changes.Add(1)
	return in("chown", path, true, func(dir int, base string) error { return chownAt(dir, base, uid, gid) })
}

// Lchown sets owner and group of path itself, be it a link.
func (l *Local) Lchown(path string, uid, gid int) error {
	defer l.changes.Add(1)
	return in("lchown", path, false, func(dir int, base string) error { return chownAt(dir, base, uid, gid) })
}

// Chtimes sets times to the nanosecond; a zero time is left as it is.
func (l *Local) Chtimes(path string, atime, mtime time.Time) error {
	defer l.changes.Add(1)
	return in("chtimes", path, true, func(dir int, base string) error { return chtimesAt(dir, base, atime, mtime) })
}
