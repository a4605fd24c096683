package sshexec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxSocketPath is the longest path of a Unix socket on all systems.
const maxSocketPath = 103

// keepDirOf is where the sockets of kept connections are below the runtime directory of
// a user; below the cache directory they are in cachedKeep.
const (
	keepDirOf  = "brine/ssh"
	cachedKeep = "ssh/kept"
)

// A KeepDirError is a directory of sockets that is not safe to use.
type KeepDirError struct{ Path, Why string }

// Error names the directory and says why.
func (e *KeepDirError) Error() string {
	return fmt.Sprintf("the directory of kept connections %s is not used: %s", e.Path, e.Why)
}

// KeepDir returns the directory where the sockets of a user's kept connections are: in
// runtime (XDG_RUNTIME_DIR) if that is the user's own, else in cache, the cache directory
// of brine. With create it is made. It is a [KeepDirError] if others could change or
// enter it.
func KeepDir(runtime, cache string, uid int, create bool) (string, error) {
	base, below := cache, cachedKeep
	if filepath.IsAbs(runtime) && ownDir(runtime, uid, 0o022) == nil {
		base, below = runtime, keepDirOf
	}
	dir := filepath.Join(base, below)
	if len(dir)+len("/")+keyLen > maxSocketPath {
		return "", &KeepDirError{dir, "the path is too long for a socket; XDG_RUNTIME_DIR may name another directory of yours"}
	}
	above := filepath.Dir(dir)
	if create {
		if err := os.MkdirAll(above, 0o700); err != nil {
			return "", err
		}
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	for path, barred := range map[string]fs.FileMode{above: 0o022, dir: 0o077} {
		if err := ownDir(path, uid, barred); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// ownDir checks that a directory is a user's own, no link, and has none of the rights of
// barred.
func ownDir(path string, uid int, barred fs.FileMode) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner := -1
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		owner = int(sys.Uid)
	}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		return &KeepDirError{path, "it is a link"}
	case !st.IsDir():
		return &KeepDirError{path, "it is not a directory"}
	case owner != uid:
		return &KeepDirError{path, fmt.Sprintf("it belongs to another user (user ID %d)", owner)}
	case st.Mode().Perm()&barred != 0:
		return &KeepDirError{path, fmt.Sprintf("other users have access to it (mode %04o)", st.Mode().Perm())}
	}
	return nil
}
