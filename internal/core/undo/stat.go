package undo

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A Stat is what is known of a file, directory or link.
type Stat struct {
	Type     string // "file", "dir", "link", or what else it is
	Mode     uint32
	UID, GID int
	Size     int64
	Mtime    time.Time
	Target   string // of a link
	Sum      string // of the content of a file; "" where it is not kept
	Links    int64  // how many names a file has, if more than one
	Inode    string // of such a file, with its device
	// Xattrs are the ACLs and other extended attributes of a file or directory. With
	// Unasked they are not known, as in what an older brine kept.
	Xattrs  map[string]string
	Unasked bool
}

// statOf reads what the log has.
func statOf(m *value.Map) *Stat {
	if m == nil {
		return nil
	}
	n := func(key string) int64 { n, _ := value.AsInt(m.At(key)); return n }
	return &Stat{
		Type: m.Str("type"), Mode: uint32(n("mode")) & 0o7777, UID: int(n("uid")), GID: int(n("gid")), Size: n("size"),
		Mtime: time.Unix(0, n("mtime")), Target: m.Str("target"), Sum: m.Str("sum"), Links: n("links"), Inode: m.Str("inode"), Xattrs: xattrsOf(m.Map("xattrs")), Unasked: !m.Has("xattrs"),
	}
}

// xattrsOf reads what the log has of extended attributes, whose values are any bytes.
func xattrsOf(m *value.Map) map[string]string {
	if m.Len() == 0 {
		return nil
	}
	out := map[string]string{}
	for k := range m.All() {
		name, _ := k.(string)
		if text, err := base64.StdEncoding.DecodeString(m.Str(name)); err == nil {
			out[name] = string(text)
		}
	}
	return out
}

// line is what the log has of it; nil is nothing.
func (s *Stat) line() value.Value {
	if s == nil {
		return nil
	}
	m := value.MapOf("type", s.Type, "mode", int64(s.Mode), "uid", int64(s.UID), "gid", int64(s.GID), "mtime", s.Mtime.UnixNano())
	if s.Type == "file" {
		m.Set("size", s.Size)
		m.Set("sum", s.Sum)
		if s.Links > 1 {
			m.Set("links", s.Links)
			m.Set("inode", s.Inode)
		}
	}
	if s.Type == "link" {
		m.Set("target", s.Target)
	}
	if s.Type == "file" || s.Type == "dir" {
		x := value.NewMap(len(s.Xattrs))
		for _, name := range slices.Sorted(maps.Keys(s.Xattrs)) {
			x.Set(name, base64.StdEncoding.EncodeToString([]byte(s.Xattrs[name])))
		}
		m.Set("xattrs", x)
	}
	return m
}

// look returns what is at a path, without following a link there; nil where nothing is.
// With sum it has the digest of a file's content.
func look(h host.Host, name string, sum bool) (*Stat, error) {
	st, err := h.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return describe(h, name, st, sum)
}

// describe is look of what is at a path.
func describe(h host.Host, name string, st host.Stat, sum bool) (out *Stat, err error) {
	out = &Stat{Type: typeOf(st.Mode), Mode: st.Perm(), UID: st.UID, GID: st.GID, Size: st.Size, Mtime: st.Mtime}
	if out.Type == "file" {
		out.Inode = inodeOf(st)
		if st.Nlink > 1 {
			out.Links = int64(st.Nlink)
		}
	}
	if out.Type == "file" || out.Type == "dir" {
		if out.Xattrs, err = host.Xattrs(h, name); err != nil {
			return nil, err
		}
	}
	switch {
	case out.Type == "link":
		out.Target, err = h.Readlink(name)
	case out.Type == "file" && sum:
		out.Sum, err = sumOf(h, name)
	}
	return out, err
}

func inodeOf(st host.Stat) string { return fmt.Sprintf("%d:%d", st.Dev, st.Inode) }

func typeOf(m fs.FileMode) string {
	for _, t := range [...]struct {
		mode fs.FileMode
		name string
	}{{fs.ModeDir, "dir"}, {fs.ModeSymlink, "link"}, {fs.ModeNamedPipe, "fifo"}, {fs.ModeSocket, "socket"}} {
		if m&t.mode != 0 {
			return t.name
		}
	}
	if m.IsRegular() {
		return "file"
	}
	return "device"
}

func sumOf(h host.Host, name string) (string, error) {
	f, err := h.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	d := sha256.New()
	if _, err := io.Copy(d, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(d.Sum(nil)), nil
}

// treeSum is the digest of the names, types, sizes and times of all that is below a
// directory; "" where there is too much.
func treeSum(h host.Host, dir string) string {
	d := sha256.New()
	n := 0
	var walk func(name string) bool
	walk = func(name string) bool {
		names, err := h.ReadDir(name)
		if err != nil {
			return false
		}
		for _, base := range names {
			at := path.Join(name, base)
			st, err := h.Lstat(at)
			if n++; err != nil || n > maxTree {
				return false
			}
			size := st.Size
			if st.Mode.IsDir() {
				size = 0
			}
			fmt.Fprintf(d, "%q %s %d %d\n", strings.TrimPrefix(at, dir), st.Mode, size, mtimeOf(st))
			if st.Mode.IsDir() && !walk(at) {
				return false
			}
		}
		return true
	}
	if !walk(dir) {
		return ""
	}
	return hex.EncodeToString(d.Sum(nil))
}

// mtimeOf is the time of a file's content; that of a directory says nothing.
func mtimeOf(st host.Stat) int64 {
	if st.Mode.IsDir() {
		return 0
	}
	return st.Mtime.UnixNano()
}
