package host

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
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
	f, err := os.Open(path)
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
	f, err := os.Open(path)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}

// ReadDir returns the names in path, sorted.
func (*Local) ReadDir(path string) ([]string, error) {
	ents, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(ents))
	for i, e := range ents {
		names[i] = e.Name()
	}
	return names, nil
}

// Readlink returns the target of a link as it is written.
func (*Local) Readlink(path string) (string, error) { return os.Readlink(path) }

// EvalSymlinks returns path with all links resolved.
func (*Local) EvalSymlinks(path string) (string, error) { return filepath.EvalSymlinks(path) }

// AppendFile adds data at the end of path, which is made with mode (less the
// umask) if it is missing.
func (l *Local) AppendFile(path string, data []byte, mode fs.FileMode) error {
	defer l.changes.Add(1)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// Mkdir makes one directory with mode less the umask.
func (l *Local) Mkdir(path string, mode fs.FileMode) error {
	defer l.changes.Add(1)
	return os.Mkdir(path, mode)
}

// MkdirAll makes path and its missing parents; one that is there is no error.
func (l *Local) MkdirAll(path string, mode fs.FileMode) error {
	defer l.changes.Add(1)
	return os.MkdirAll(path, mode)
}

// MkdirTemp makes a directory that only its owner may enter. The last * in
// pattern is replaced by random text; dir "" is the system's own place.
func (l *Local) MkdirTemp(dir, pattern string) (string, error) {
	defer l.changes.Add(1)
	return os.MkdirTemp(dir, pattern)
}

// Remove takes out a file, a link, or an empty directory.
func (l *Local) Remove(path string) error {
	defer l.changes.Add(1)
	return os.Remove(path)
}

// RemoveAll takes path and all below it out. Links are removed, never
// followed: the walk goes by directory handles. A missing path is no error.
func (l *Local) RemoveAll(path string) error {
	defer l.changes.Add(1)
	return os.RemoveAll(path)
}

// Rename moves from to to, replacing a file there.
func (l *Local) Rename(from, to string) error {
	defer l.changes.Add(1)
	return os.Rename(from, to)
}

// Symlink makes path a link to target.
func (l *Local) Symlink(target, path string) error {
	defer l.changes.Add(1)
	return os.Symlink(target, path)
}

// Link makes path another name of target.
func (l *Local) Link(target, path string) error {
	defer l.changes.Add(1)
	return os.Link(target, path)
}

// Chmod sets permission, setuid, setgid and sticky bits.
func (l *Local) Chmod(path string, mode fs.FileMode) error {
	defer l.changes.Add(1)
	return os.Chmod(path, mode)
}

// Chown sets owner and group of what path leads to; -1 leaves one as it is.
func (l *Local) Chown(path string, uid, gid int) error {
	defer l.changes.Add(1)
	return os.Chown(path, uid, gid)
}

// Lchown sets owner and group of path itself, be it a link.
func (l *Local) Lchown(path string, uid, gid int) error {
	defer l.changes.Add(1)
	return os.Lchown(path, uid, gid)
}

// Chtimes sets times to the nanosecond; a zero time is left as it is.
func (l *Local) Chtimes(path string, atime, mtime time.Time) error {
	defer l.changes.Add(1)
	return os.Chtimes(path, atime, mtime)
}
