package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
)

// Extract unpacks an archive into a directory that exists, and returns the
// names of its members as the archive has them. With perms, modes are those of the archive; as root,
// owners too, where it says them. Members of the names in leave stay in the archive.
//
// A member that would leave the directory, by .. or through a link, is an
// error.
func Extract(ctx context.Context, h host.Host, file, format, dir string, limits Limits, perms bool, leave ...string) ([]string, error) {
	root, err := h.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	at, err := h.EvalSymlinks(dir) // links below it are compared with this name
	if err != nil {
		return nil, err
	}
	x := &extraction{h: h, root: root, at: at, perms: perms, zip: format == "zip", leave: leave}
	// Nothing is written before all names are known to be good.
	if err := Each(ctx, h, file, format, limits, func(m Member, _ io.Reader) error { return m.check() }); err != nil {
		return nil, err
	}
	err = Each(ctx, h, file, format, limits, x.member)
	if err == nil {
		err = x.finish()
	}
	return x.names, err
}

// Outside reports whether the name of a member leads out of the directory that
// the archive is unpacked to.
func Outside(name string) bool {
	return strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") || strings.ContainsRune(name, 0)
}

// check returns an error for a member that is not unpacked.
func (m *Member) check() error {
	if Outside(m.Name) {
		return fun.Errorf("the archive holds %q, which is not below the directory", m.Name)
	}
	if m.HardLink != "" && Outside(m.HardLink) {
		return fun.Errorf("the archive holds %q, a link to %q, which is not below the directory", m.Name, m.HardLink)
	}
	return nil
}

type extraction struct {
	h     host.Host
	root  host.Root
	at    string // the root's path, without links
	perms bool
	zip   bool
	leave []string
	names []string
	dirs  []Member // whose mode and time are set at the end
}

func (x *extraction) member(m Member, content io.Reader) error {
	if err := m.check(); err != nil {
		return err
	}
	if slices.Contains(x.leave, m.Name) {
		return nil
	}
	name := strings.TrimSuffix(filepath.Clean(m.Name), "/")
	if x.zip {
		x.names = append(x.names, m.Name)
	} else {
		x.names = append(x.names, strings.TrimRight(m.Name, "/")) // as Python's tarfile names directories
	}
	if name == "." {
		return nil
	}
	to, err := x.place(name)
	if err != nil {
		return err
	}
	switch {
	case m.IsDir():
		m.Name = to
		x.dirs = append(x.dirs, m)
		if st, err := x.root.Lstat(to); err == nil && st.Mode.IsDir() {
			return nil
		}
		return x.root.Mkdir(to, 0o700|m.Mode.Perm())
	case m.Link != "":
		if err := x.clear(to); err != nil {
			return err
		}
		return x.root.Symlink(m.Link, to)
	case m.HardLink != "":
		from, err := x.place(strings.TrimSuffix(filepath.Clean(m.HardLink), "/"))
		if err != nil {
			return err
		}
		if from == to { // a name of itself
			return nil
		}
		if err := x.clear(to); err != nil {
			return err
		}
		return x.root.Link(from, to)
	case m.Mode&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0:
		return fun.Errorf("the archive holds %q, which is not a regular file", name)
	}
	return x.file(to, m, content)
}

func (x *extraction) file(to string, m Member, content io.Reader) error {
	var opts host.WriteOptions
	if x.perms {
		mode := m.Mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
		opts.Mode = &mode
		if x.h.Geteuid() == 0 && m.UID >= 0 {
			opts.UID, opts.GID = &m.UID, &m.GID
		}
	}
	if err := x.root.WriteFile(to, content, opts); err != nil {
		return err
	}
	return x.times(to, m.Mtime)
}

func (x *extraction) times(to string, at time.Time) error {
	if at.IsZero() || at.Unix() <= 0 {
		return nil
	}
	return x.root.Chtimes(to, at, at)
}

// place makes the directory that name is in, and returns the name without links
// in its directory.
func (x *extraction) place(name string) (string, error) {
	dir, err := x.inside(filepath.Join(x.at, filepath.Dir(name)))
	if err != nil {
		return "", err
	}
	if dir != "." {
		if err := x.root.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, filepath.Base(name)), nil
}

// inside returns a directory, which need not exist, relative to the root and
// with links resolved. It is an error where these lead out of the root. The root
// would not go there either; this one says why.
func (x *extraction) inside(dir string) (string, error) {
	rest := ""
	for d := dir; ; d = filepath.Dir(d) {
		real, err := x.h.EvalSymlinks(d)
		if errors.Is(err, fs.ErrNotExist) && d != x.at {
			if st, lerr := x.h.Lstat(d); lerr == nil && st.Mode&fs.ModeSymlink != 0 {
				return "", fun.Errorf("%s is a link to nowhere, the archive cannot be unpacked through it", d)
			}
			rest = filepath.Join(filepath.Base(d), rest)
			continue
		}
		if err != nil {
			return "", err
		}
		rel, err := filepath.Rel(x.at, real)
		if err != nil || !filepath.IsLocal(rel) {
			return "", fun.Errorf("%s is a link that leads out of %s, the archive cannot be unpacked through it", d, x.at)
		}
		return filepath.Join(rel, rest), nil
	}
}

// clear removes a file or link that a link replaces.
func (x *extraction) clear(to string) error {
	if _, err := x.root.Lstat(to); err != nil {
		return nil // there is nothing
	}
	return x.root.Remove(to)
}

// finish sets the modes and times of directories, the deepest first, when
// nothing is written to them any more.
func (x *extraction) finish() error {
	for _, m := range slices.Backward(x.dirs) {
		// A later member may have put something else in its place.
		if st, err := x.root.Lstat(m.Name); err != nil || !st.Mode.IsDir() {
			continue
		}
		if x.perms {
			if x.h.Geteuid() == 0 && m.UID >= 0 {
				if err := x.root.Lchown(m.Name, m.UID, m.GID); err != nil {
					return err
				}
			}
			// After the owner: a change of that takes setuid and setgid off.
			if err := x.root.Chmod(m.Name, m.Mode&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)); err != nil {
				return err
			}
		}
		if err := x.times(m.Name, m.Mtime); err != nil {
			return fmt.Errorf("set the time of %s: %w", m.Name, err)
		}
	}
	return nil
}
