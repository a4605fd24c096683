package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// maxKept is how much of a file an overlay keeps, in bytes, and maxKeptAll how much of
// all together; of what is larger it knows the size alone.
const (
	maxKept    = 4 << 20
	maxKeptAll = 64 << 20
)

// keeps reports whether an operation changes something on its way, so that what it
// finds below has to be kept.
func keeps(op string) bool {
	return usedBy(op) == changesFile && op != "EvalSymlinks" && op != "Target"
}

// child returns the file of a name in a directory, nil for none. With pin, one that
// the machine below has is kept, so that it can be changed here.
func (f *memory) child(dir *node, name string, pin bool) (*node, error) {
	f.see(dir.veil)
	k := dir.kids[name]
	if k != nil && k.veil != nil && k.veil.whole {
		f.see(k.veil)
	}
	if k != nil || f.under == nil || dir.real == "" || dir.deleted[name] {
		return k, nil
	}
	at := path.Join(dir.real, name)
	st, err := f.under.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, causeOf(err)
	}
	k = &node{
		real: at, mode: st.Mode, uid: st.UID, gid: st.GID, big: st.Size, ino: st.Inode, dev: st.Dev, nlink: st.Nlink,
		atime: st.Atime, mtime: st.Mtime, ctime: st.Ctime,
	}
	switch {
	case st.Mode.IsDir():
		k.kids = map[string]*node{}
	case st.Mode&fs.ModeSymlink != 0:
		if k.target, err = f.under.Readlink(at); err != nil {
			return nil, causeOf(err)
		}
	}
	if pin {
		dir.kids[name] = k
	}
	return k, nil
}

// causeOf is an error without the path that it is of, which the walk puts before it.
func causeOf(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// content returns what is in a file.
func (f *memory) content(n *node) ([]byte, error) {
	f.see(n.veil)
	switch {
	case n.real != "":
		return f.under.ReadFile(n.real)
	case n.big > 0:
		return nil, fmt.Errorf("the content would have %d bytes, which is more than a plan keeps", n.big)
	}
	return n.data, nil
}

// take reads what a file is to have; of what is too large, its size.
func (f *memory) take(content io.Reader) (data []byte, big int64, err error) {
	if content == nil {
		return nil, 0, nil
	}
	if f.under == nil {
		data, err = io.ReadAll(content)
		return data, 0, err
	}
	if data, err = io.ReadAll(io.LimitReader(content, maxKept+1)); err != nil {
		return nil, 0, err
	}
	if len(data) > maxKept || f.kept+int64(len(data)) > maxKeptAll {
		rest, err := io.Copy(io.Discard, content)
		return nil, int64(len(data)) + rest, err
	}
	f.kept += int64(len(data))
	return data, 0, nil
}

// names returns the names in a directory, sorted.
func (f *memory) names(dir *node) ([]string, error) {
	f.see(dir.veil)
	names := make([]string, 0, len(dir.kids))
	for name := range dir.kids {
		names = append(names, name)
	}
	if f.under != nil && dir.real != "" {
		below, err := f.under.ReadDir(dir.real)
		if err != nil {
			return nil, err
		}
		for _, name := range below {
			if dir.kids[name] == nil && !dir.deleted[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// holds reports whether a directory has something in it, as far as that can be read.
func (f *memory) holds(dir *node) bool {
	if !dir.mode.IsDir() || len(dir.kids) > 0 {
		return dir.mode.IsDir()
	}
	names, err := f.names(dir)
	return err != nil || len(names) > 0
}

// drop takes a name out of a directory.
func (n *node) drop(name string) {
	delete(n.kids, name)
	if n.real != "" {
		if n.deleted == nil {
			n.deleted = map[string]bool{}
		}
		n.deleted[name] = true
	}
}
