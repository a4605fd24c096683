package file

import (
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"brine/internal/host"
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
// and, as root, owners.
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
		return f.Symlink(target, to)
	case !st.Mode.IsDir():
		return f.copyWithOwner(from, to)
	}
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
		if err := f.Chown(to, st.UID, st.GID); err != nil {
			return err
		}
	}
	return f.Chmod(to, host.FileMode(st.Perm()))
}

// Copy copies a file, replacing one that is there, or a directory, which must
// not be there; the copy has the owner and mode of p where they are set. Links
// within a directory stay links.
func (f *FS) Copy(from, to string, p Perms) error {
	if f.IsDir(from) {
		return f.copyDir(from, to, p)
	}
	return f.copyOne(from, to, p)
}

func (f *FS) copyDir(from, to string, p Perms) error {
	if err := f.copyTree(from, to); err != nil {
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
	return f.Walk(to, false, func(dir string, dirs, names []string) error {
		for _, n := range append(append([]string(nil), dirs...), names...) {
			if err := f.Lchown(filepath.Join(dir, n), uid, gid); err != nil && f.Geteuid() == 0 {
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

// ParseSize reads a size such as 10M, 1.5G or 64KiB in bytes; K is 1024, KB is
// 1000. What is no size is 0.
//
// Salt: salt/utils/stringutils.py human_to_bytes.
func ParseSize(s string) int64 {
	s = strings.TrimSpace(s)
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	n, err := strconv.ParseFloat(s[:i], 64)
	if err != nil {
		return 0
	}
	unit := strings.ToLower(strings.TrimSpace(s[i:]))
	if unit == "" {
		unit = "b"
	}
	p := strings.IndexByte("bkmgtpezy", unit[0])
	switch {
	case p < 0:
		return 0
	case p > 0 && unit[1:] == "b":
		return int64(n * math.Pow(1000, float64(p)))
	case unit[1:] != "" && (p == 0 || unit[1:] != "ib"):
		return 0
	}
	return int64(n * math.Pow(1024, float64(p)))
}
