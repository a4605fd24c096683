package host

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Root is an open directory. Names are relative to it: one that would leave
// it, by .. or through a link, is an error, whoever changes what is below in
// the meantime. Links in the last part of a name are never followed. It must be
// closed.
type Root interface {
	Lstat(name string) (Stat, error)
	Mkdir(name string, mode fs.FileMode) error
	MkdirAll(name string, mode fs.FileMode) error
	// WriteFile is that of [Files]; TmpDir and FollowLinks are not honoured.
	WriteFile(name string, content io.Reader, opts WriteOptions) error
	Symlink(target, name string) error
	Link(from, name string) error
	Chmod(name string, mode fs.FileMode) error
	Lchown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
	// Remove takes out a file, a link, or an empty directory.
	Remove(name string) error
	// RemoveAll removes name and everything in it; a missing one is not an
	// error.
	RemoveAll(name string) error
	Close() error
}

// errOutside says that a name leaves the directory.
var errOutside = errors.New("the path leaves the directory")

// OpenRoot opens a directory to work below it.
func (l *Local) OpenRoot(dir string) (Root, error) {
	root, _, err := reach("open", dir+"/.brine", false)
	if err != nil {
		return nil, err
	}
	return &localRoot{l, root}, nil
}

type localRoot struct {
	l    *Local
	root *os.Root
}

func (r *localRoot) Close() error { return r.root.Close() }

// parent opens the directory that name is in.
func (r *localRoot) parent(op, name string) (*os.Root, string, error) {
	if !filepath.IsLocal(name) {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: errOutside}
	}
	name = filepath.Clean(name)
	if name == "." {
		root, err := r.root.OpenRoot(".")
		return root, ".", err
	}
	root, err := r.root.OpenRoot(filepath.Dir(name))
	return root, filepath.Base(name), err
}

// at calls do with the directory that name is in, by its handle.
func (r *localRoot) at(op, name string, do func(dir int, base string) error) error {
	root, base, err := r.parent(op, name)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := do(int(dir.Fd()), base); err != nil {
		return &fs.PathError{Op: op, Path: filepath.Join(r.root.Name(), name), Err: err}
	}
	return nil
}

func (r *localRoot) Lstat(name string) (Stat, error) {
	fi, err := r.root.Lstat(name)
	if err != nil {
		return Stat{}, err
	}
	return statOf(filepath.Join(r.root.Name(), name), fi), nil
}

func (r *localRoot) Mkdir(name string, mode fs.FileMode) error {
	defer r.l.changes.Add(1)
	return r.at("mkdir", name, func(dir int, base string) error { return mkdirAt(dir, base, mode) })
}

func (r *localRoot) MkdirAll(name string, mode fs.FileMode) error {
	defer r.l.changes.Add(1)
	return r.root.MkdirAll(name, mode.Perm())
}

func (r *localRoot) WriteFile(name string, content io.Reader, opts WriteOptions) error {
	defer r.l.changes.Add(1)
	root, base, err := r.parent("open", name)
	if err != nil {
		return err
	}
	defer root.Close()
	opts.TmpDir, opts.FollowLinks = "", false
	return r.l.writeIn(root, base, filepath.Join(r.root.Name(), name), content, opts)
}

func (r *localRoot) Symlink(target, name string) error {
	defer r.l.changes.Add(1)
	return r.at("symlink", name, func(dir int, base string) error { return symlinkAt(dir, base, target) })
}

func (r *localRoot) Link(from, name string) error {
	defer r.l.changes.Add(1)
	return r.at("link", from, func(dir int, base string) error {
		return r.at("link", name, func(toDir int, to string) error { return linkAt(dir, base, toDir, to) })
	})
}

func (r *localRoot) Chmod(name string, mode fs.FileMode) error {
	defer r.l.changes.Add(1)
	return r.at("chmod", name, func(dir int, base string) error { return chmodAt(dir, base, UnixMode(mode)) })
}

func (r *localRoot) Lchown(name string, uid, gid int) error {
	defer r.l.changes.Add(1)
	return r.at("lchown", name, func(dir int, base string) error { return chownAt(dir, base, uid, gid) })
}

func (r *localRoot) Chtimes(name string, atime, mtime time.Time) error {
	defer r.l.changes.Add(1)
	return r.at("chtimes", name, func(dir int, base string) error { return chtimesAt(dir, base, atime, mtime) })
}

func (r *localRoot) Remove(name string) error {
	defer r.l.changes.Add(1)
	return r.at("remove", name, removeAt)
}

func (r *localRoot) RemoveAll(name string) error {
	defer r.l.changes.Add(1)
	return r.root.RemoveAll(name)
}
