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

	"brine/internal/fun"
	"brine/internal/host"
)

// Extract unpacks an archive into a directory that is there, and returns the
// names of its members as the archive has them. With perms, modes are those of the archive; as root,
// owners too, where it says them.
//
// A member that would leave the directory, by .. or through a link, is an
// error.
func Extract(ctx context.Context, h host.Host, file, format, dir string, perms bool) ([]string, error) {
	root, err := h.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	x := &extraction{h: h, root: root, perms: perms, zip: format == "zip"}
	err = Each(ctx, h, file, format, x.member)
	if err == nil {
		err = x.finish()
	}
	return x.names, err
}

type extraction struct {
	h     host.Host
	root  string
	perms bool
	zip   bool
	names []string
	dirs  []Member // whose mode and time are set at the end
}

func (x *extraction) member(m Member, content io.Reader) error {
	if strings.HasPrefix(m.Name, "/") || m.Name == ".." || strings.Contains("/"+m.Name+"/", "/../") {
		return fun.Errorf("the archive holds %q, which is not below the directory", m.Name)
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
	to := filepath.Join(x.root, name)
	if err := x.parent(to); err != nil {
		return err
	}
	switch {
	case m.IsDir():
		m.Name = name
		x.dirs = append(x.dirs, m)
		if st, err := x.h.Lstat(to); err == nil && st.Mode.IsDir() {
			return nil
		}
		return x.h.Mkdir(to, 0o700|m.Mode.Perm())
	case m.Link != "":
		if err := x.clear(to); err != nil {
			return err
		}
		return x.h.Symlink(m.Link, to)
	case m.HardLink != "":
		from := filepath.Join(x.root, filepath.Clean("/"+m.HardLink))
		if err := x.parent(from); err != nil {
			return err
		}
		if err := x.clear(to); err != nil {
			return err
		}
		return x.h.Link(from, to)
	case m.Mode&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0:
		return fun.Errorf("the archive holds %q, which is no regular file", name)
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
	if err := x.h.WriteFile(to, content, opts); err != nil {
		return err
	}
	return x.times(to, m.Mtime)
}

func (x *extraction) times(to string, at time.Time) error {
	if at.IsZero() || at.Unix() <= 0 {
		return nil
	}
	return x.h.Chtimes(to, at, at)
}

// parent makes the directory above a path, and checks that it is in the root.
func (x *extraction) parent(to string) error {
	dir := filepath.Dir(to)
	if err := x.inside(dir); err != nil {
		return err
	}
	if err := x.h.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return nil
}

// inside checks that links above a path do not lead out of the root.
func (x *extraction) inside(dir string) error {
	for d := dir; d != x.root && strings.HasPrefix(d, x.root); d = filepath.Dir(d) {
		real, err := x.h.EvalSymlinks(d)
		if errors.Is(err, fs.ErrNotExist) {
			if st, lerr := x.h.Lstat(d); lerr == nil && st.Mode&fs.ModeSymlink != 0 {
				return fun.Errorf("%s is a link to nowhere, the archive cannot be unpacked through it", d)
			}
			continue
		}
		if err != nil {
			return err
		}
		if real != x.root && !strings.HasPrefix(real, strings.TrimSuffix(x.root, "/")+"/") {
			return fun.Errorf("%s is a link that leads out of %s, the archive cannot be unpacked through it", d, x.root)
		}
		return nil
	}
	return nil
}

// clear removes a file or link that a link replaces.
func (x *extraction) clear(to string) error {
	if _, err := x.h.Lstat(to); err != nil {
		return nil //nolint:nilerr // there is nothing
	}
	return x.h.Remove(to)
}

// finish sets the modes and times of directories, the deepest first, when
// nothing is written to them any more.
func (x *extraction) finish() error {
	for _, m := range slices.Backward(x.dirs) {

		to := filepath.Join(x.root, m.Name)
		if x.perms {
			if err := x.h.Chmod(to, m.Mode&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)); err != nil {
				return err
			}
			if x.h.Geteuid() == 0 && m.UID >= 0 {
				if err := x.h.Chown(to, m.UID, m.GID); err != nil {
					return err
				}
			}
		}
		if err := x.times(to, m.Mtime); err != nil {
			return fmt.Errorf("set the time of %s: %w", to, err)
		}
	}
	return nil
}
