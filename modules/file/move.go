package file

import (
	"errors"
	"path/filepath"
	"syscall"

	"brine/internal/core/host"
)

// Move gives a file or directory another name, by a copy where that is on
// another file system.
func (f *FS) Move(from, to string) error {
	err := f.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if err := f.copyTree(from, to); err != nil {
		return err
	}
	return f.RemoveAll(from)
}

// copyTree copies a file, a link, or a directory with all in it, with modes
// and, as root, owners: those of links too, since a link is followed by whose it is.
func (f *FS) copyTree(from, to string) error {
	st, err := f.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case f.IsLink(from):
		target, err := f.Readlink(from)
		if err != nil {
			return err
		}
		if err := f.Symlink(target, to); err != nil || f.Geteuid() != 0 {
			return err
		}
		return f.Lchown(to, st.UID, st.GID)
	case !st.Mode.IsDir():
		return f.copyWithOwner(from, to)
	}
	return f.copyBelow(from, to, st)
}

// copyBelow copies a directory with all in it.
func (f *FS) copyBelow(from, to string, st host.Stat) error {
	if err := f.Host.Mkdir(to, st.Mode.Perm()|0o700); err != nil {
		return err
	}
	names, err := f.ReadDir(from)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := f.copyTree(filepath.Join(from, n), filepath.Join(to, n)); err != nil {
			return err
		}
	}
	if f.Geteuid() == 0 {
		if err := f.Lchown(to, st.UID, st.GID); err != nil {
			return err
		}
	}
	return f.Chmod(to, host.FileMode(st.Perm()))
}

// Copy copies a file, replacing one that exists, or a directory, which must
// not be there; the copy has the owner and mode of p where they are set. Links
// within a directory stay links.
func (f *FS) Copy(from, to string, p Perms) error {
	if f.IsDir(from) {
		return f.copyDir(from, to, p)
	}
	return f.copyOne(from, to, p)
}

func (f *FS) copyDir(from, to string, p Perms) error {
	st, err := f.Stat(from) // of the directory that a link there leads to
	if err != nil {
		return err
	}
	if err := f.copyBelow(from, to, st); err != nil {
		return err
	}
	uid, ok := f.UserToUID(p.User)
	if !ok || p.User == nil {
		return nil
	}
	gid, ok := f.GroupToGID(p.Group)
	if !ok {
		gid = -1
	}
	below, err := f.Below(to)
	if err != nil {
		return err
	}
	defer below.Done()
	return f.Walk(to, false, func(dir string, dirs, names []string) error {
		for _, n := range append(append([]string(nil), dirs...), names...) {
			if err := below.Lchown(filepath.Join(dir, n), uid, gid); err != nil && f.Geteuid() == 0 {
				return err
			}
		}
		return nil
	})
}

func (f *FS) copyOne(from, to string, p Perms) error {
	opts := host.WriteOptions{}
	if m, ok := ParseMode(p.Mode); ok && p.Mode != "" {
		opts.Mode = &m
	} else if st, err := f.Stat(from); err == nil {
		m := host.FileMode(st.Perm())
		opts.Mode = &m
	}
	if f.Geteuid() == 0 {
		if uid, ok := f.UserToUID(p.User); ok && p.User != nil {
			opts.UID = &uid
		}
		if gid, ok := f.GroupToGID(p.Group); ok {
			opts.GID = &gid
		}
	}
	r, err := f.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	return f.WriteFile(to, r, opts)
}
