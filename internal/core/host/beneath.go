package host

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// Beneath returns h, whose changes of owner, mode and removals below dir go
// through a [Root]: for work on all that a directory holds, which others may
// change meanwhile. No link is followed there, whoever made it. What is not
// below dir is h's. done lets go of the directory.
func Beneath(h Host, dir string) (below Host, done func(), err error) {
	root, err := h.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	real := "" // where nothing is to be spared
	if h.CheckSystem("/", false) != nil {
		if real, err = h.EvalSymlinks(dir); err != nil {
			_ = root.Close()
			return nil, nil, err
		}
	}
	return &beneath{h, root, strings.TrimRight(filepath.Clean(dir), "/") + "/", real}, func() { _ = root.Close() }, nil
}

type beneath struct {
	Host
	root Root
	dir  string // with a slash at its end
	real string // dir without links, for what is not to be removed; or ""
}

// name returns a path as the root has it.
func (b *beneath) name(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, b.dir)
	if !ok || strings.Trim(rest, "/") == "" {
		return "", false
	}
	return filepath.FromSlash(strings.TrimLeft(rest, "/")), true
}

func (b *beneath) Chown(path string, uid, gid int) error {
	if n, ok := b.name(path); ok {
		return b.root.Lchown(n, uid, gid)
	}
	return b.Host.Chown(path, uid, gid)
}

func (b *beneath) Lchown(path string, uid, gid int) error {
	if n, ok := b.name(path); ok {
		return b.root.Lchown(n, uid, gid)
	}
	return b.Host.Lchown(path, uid, gid)
}

func (b *beneath) Chmod(path string, mode fs.FileMode) error {
	if n, ok := b.name(path); ok {
		return b.root.Chmod(n, mode)
	}
	return b.Host.Chmod(path, mode)
}

func (b *beneath) Remove(path string) error {
	if n, ok := b.name(path); ok {
		if err := b.spare(path, n); err != nil {
			return err
		}
		return b.root.Remove(n)
	}
	return b.Host.Remove(path)
}

func (b *beneath) RemoveAll(path string) error {
	if n, ok := b.name(path); ok {
		if err := b.spare(path, n); err != nil {
			return err
		}
		return b.root.RemoveAll(n)
	}
	return b.Host.RemoveAll(path)
}

func (b *beneath) spare(path, name string) error {
	if b.real == "" {
		return nil
	}
	return spare(path, b.real, name)
}
