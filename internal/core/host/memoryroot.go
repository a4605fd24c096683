package host

import (
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// OpenRoot opens a directory to work below it.
func (f *memory) OpenRoot(dir string) (Root, error) {
	full, err := f.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(full); err != nil || !st.Mode.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrInvalid}
	}
	return memoryRoot{f, full}, nil
}

type memoryRoot struct {
	f   *memory
	dir string
}

func (r memoryRoot) Close() error { return nil }

// at returns the path of name, whose directory is in the root.
func (r memoryRoot) at(name string) (string, error) {
	outside := &fs.PathError{Op: "open", Path: name, Err: errOutside}
	if !filepath.IsLocal(name) {
		return "", outside
	}
	if path.Clean(name) == "." {
		return r.dir, nil
	}
	p := path.Join(r.dir, name)
	for d := path.Dir(p); len(d) >= len(r.dir); d = path.Dir(d) {
		if full, err := r.f.EvalSymlinks(d); err == nil {
			if full != r.dir && !strings.HasPrefix(full, strings.TrimSuffix(r.dir, "/")+"/") {
				return "", outside
			}
			return path.Join(full, strings.TrimPrefix(p, d)), nil
		}
		if st, err := r.f.Lstat(d); err == nil && st.Mode&fs.ModeSymlink != 0 {
			return "", outside // to nowhere
		}
	}
	return "", outside
}

func (r memoryRoot) do(name string, do func(p string) error) error {
	p, err := r.at(name)
	if err != nil {
		return err
	}
	return do(p)
}

// own is do for what does not follow a link in the last part.
func (r memoryRoot) own(name string, do func(p string) error) error {
	return r.do(name, func(p string) error {
		if st, err := r.f.Lstat(p); err == nil && st.Mode&fs.ModeSymlink != 0 {
			return &fs.PathError{Op: "open", Path: p, Err: fs.ErrInvalid}
		}
		return do(p)
	})
}

func (r memoryRoot) Lstat(name string) (st Stat, err error) {
	err = r.do(name, func(p string) error {
		st, err = r.f.Lstat(p)
		return err
	})
	return st, err
}

func (r memoryRoot) Mkdir(name string, mode fs.FileMode) error {
	return r.do(name, func(p string) error { return r.f.Mkdir(p, mode) })
}

func (r memoryRoot) MkdirAll(name string, mode fs.FileMode) error {
	return r.do(name, func(p string) error { return r.f.MkdirAll(p, mode) })
}

func (r memoryRoot) WriteFile(name string, content io.Reader, opts WriteOptions) error {
	opts.TmpDir, opts.FollowLinks = "", false
	return r.do(name, func(p string) error { return r.f.WriteFile(p, content, opts) })
}

func (r memoryRoot) Symlink(target, name string) error {
	return r.do(name, func(p string) error { return r.f.Symlink(target, p) })
}

func (r memoryRoot) Link(from, name string) error {
	return r.do(from, func(a string) error {
		return r.do(name, func(b string) error { return r.f.Link(a, b) })
	})
}

func (r memoryRoot) Chmod(name string, mode fs.FileMode) error {
	return r.own(name, func(p string) error { return r.f.Chmod(p, mode) })
}

func (r memoryRoot) Lchown(name string, uid, gid int) error {
	return r.do(name, func(p string) error { return r.f.Lchown(p, uid, gid) })
}

func (r memoryRoot) Chtimes(name string, atime, mtime time.Time) error {
	return r.own(name, func(p string) error { return r.f.Chtimes(p, atime, mtime) })
}

func (r memoryRoot) Remove(name string) error {
	return r.do(name, func(p string) error { return r.f.remove(p, true) })
}

func (r memoryRoot) RemoveAll(name string) error {
	return r.do(name, func(p string) error { return r.f.removeAll(p, true) })
}
