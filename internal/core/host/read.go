package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mayUse reports whether a user may read (4) or search (1) a file or directory
// by its mode. Who owns it may: he could give himself the permission.
func mayUse(uid int, st *unix.Stat_t, want uint32) bool {
	mode := modeOf(st)
	switch {
	case int(st.Uid) == uid:
		return true
	case mode&want != 0 && mode>>3&want != 0:
		return true
	}
	if slices.Contains(groupsOf(uid), int(st.Gid)) {
		return mode>>3&want != 0
	}
	return mode&want != 0
}

// groupsOf returns the groups of a user, as far as the files of accounts have
// them.
func groupsOf(uid int) []int {
	text, err := readDatabase(passwdFile)
	if err != nil {
		return nil
	}
	var ids []int
	names := map[string]bool{}
	for _, a := range ParsePasswd(text) {
		if a.UID == uid {
			ids = append(ids, a.GID)
			names[a.Name] = true
		}
	}
	if text, err = readDatabase(groupFile); err != nil {
		return ids
	}
	for _, g := range ParseGroup(text) {
		if slices.ContainsFunc(g.Members, func(m string) bool { return names[m] }) {
			ids = append(ids, g.GID)
		}
	}
	return ids
}

// readable returns an error where what the walk came to may not be read: a link
// of another user led there, and that user could not read it.
func (w *walker) readable(st *unix.Stat_t) error {
	for _, c := range w.claims {
		if !c.settled && (c.denied || !mayUse(c.uid, st, 0o4)) {
			return c.unsafe(true)
		}
	}
	return nil
}

// openAt opens what path leads to by the rules of reach.go: to read it, or, with
// the flag O_PATH, to be there.
func openAt(op, path string, flags int, reading bool) (*os.File, error) {
	fail := func(err error) (*os.File, error) { return nil, &fs.PathError{Op: op, Path: path, Err: err} }
	fd, err := openPlain(path, flags|unix.O_CLOEXEC)
	if err == nil {
		return os.NewFile(uintptr(fd), path), nil
	}
	if !mayBeWalked(err) {
		return fail(err)
	}
	for range maxTries {
		w, base, err := enter(path, true, reading)
		if err != nil {
			return fail(err)
		}
		f, moved, err := w.open(path, base, flags)
		w.close()
		if err != nil {
			return fail(err)
		}
		if !moved {
			return f, nil
		}
	}
	return fail(unix.ELOOP)
}

// open opens base, to which the walk has come. It reports that another file is
// there by now.
func (w *walker) open(path, base string, flags int) (f *os.File, moved bool, err error) {
	was, err := w.lookup(base)
	if err != nil {
		return nil, false, err
	}
	fd, err := retryEINTR(func() (int, error) {
		return unix.Openat(w.fd, base, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return nil, true, nil // a link since
	}
	if err != nil {
		return nil, false, err
	}
	f = os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		if len(w.claims) > 0 && st.Uid != was.Uid {
			moved = true
		} else {
			err = w.readable(&st)
		}
	}
	if err != nil || moved {
		_ = f.Close()
		return nil, moved, err
	}
	return f, false, nil
}

// openRead opens a path to read it.
func openRead(path string) (*os.File, error) {
	if path == "" || plain(path) {
		return os.Open(path)
	}
	return openAt("open", path, unix.O_RDONLY, true)
}

// openDirectory opens a directory to read the names in it. What is none, such as a
// pipe that would be waited for, is an error at once.
func openDirectory(path string) (*os.File, error) {
	if path == "" || plain(path) {
		return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
	}
	return openAt("open", path, unix.O_RDONLY|unix.O_DIRECTORY, true)
}

// resolve returns a path without links.
func resolve(path string, reading bool) (string, error) {
	if path == "" || plain(path) {
		return filepath.EvalSymlinks(path)
	}
	if fd, err := openPlain(path, openDir|unix.O_CLOEXEC); err == nil {
		_ = unix.Close(fd)
		return filepath.Clean(path), nil
	} else if !mayBeWalked(err) {
		return "", &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	w, base, err := enter(path, true, reading)
	if err != nil {
		return "", &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	defer w.close()
	st, err := w.lookup(base)
	if err == nil && strings.HasSuffix(path, "/") && !isDir(&st) {
		err = unix.ENOTDIR
	}
	if err == nil {
		err = w.readable(&st)
	}
	if err != nil {
		return "", &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return filepath.Join(w.path, base), nil
}

// target returns a path without links, for what changes it.
func target(path string) (string, error) {
	w, base, err := enter(path, true, false)
	if err != nil {
		return "", &fs.PathError{Op: "resolve", Path: path, Err: err}
	}
	defer w.close()
	return filepath.Abs(filepath.Join(w.path, base))
}

// hold opens a directory for a program to work in, and returns a name for it
// that leads there whatever its path leads to by then. It must be closed when
// the program has started.
func hold(dir string) (*os.File, string, error) {
	f, err := openAt("chdir", dir, openDir|unix.O_DIRECTORY, false)
	if err != nil {
		return nil, "", err
	}
	name := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	if _, err := os.Stat(name); err != nil {
		name = dir // no /proc
	}
	return f, name, nil
}

// checkWords returns an error where a word of a command line is a path, as
// itself or behind a =, that a link of another user leads astray.
func checkWords(words []string, reading bool) error {
	for _, word := range words {
		if !strings.HasPrefix(word, "/") {
			_, after, ok := strings.Cut(word, "=")
			if !ok || !strings.HasPrefix(after, "/") {
				continue
			}
			word = after
		}
		if plain(word) || len(word) > unix.PathMax || strings.ContainsAny(word, "\x00\n") {
			continue
		}
		w, base, err := enter(word, true, reading)
		if err == nil {
			st, lerr := w.lookup(base)
			if lerr == nil {
				err = w.readable(&st)
			}
			w.close()
		}
		if unsafe, ok := errors.AsType[*UnsafeLinkError](err); ok {
			return &fs.PathError{Op: "run with", Path: word, Err: unsafe}
		}
	}
	return nil
}
