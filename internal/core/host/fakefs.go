package host

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// PutFile makes a file with exactly this mode, and its parents. Like all Put
// methods it is not counted as a write and panics where it cannot be done.
func (f *Fake) PutFile(p, content string, mode fs.FileMode) {
	f.put(p, f.makeNode(mode, func(n *node) { n.data = []byte(content) }))
}

// PutDir makes a directory with exactly this mode, and its parents.
func (f *Fake) PutDir(p string, mode fs.FileMode) {
	f.mu.Lock()
	n, err := f.walk("PutDir", p, true)
	f.mu.Unlock()
	if err == nil && n.mode.IsDir() {
		n.mode = fs.ModeDir | mode&modeBits
		return
	}
	f.put(p, f.makeNode(fs.ModeDir|mode, func(*node) {}))
}

// PutLink makes a symbolic link, and its parents.
func (f *Fake) PutLink(p, target string) {
	f.put(p, f.makeNode(fs.ModeSymlink|0o777, func(n *node) { n.target = target }))
}

// PutSpecial makes a file of a special type: fs.ModeNamedPipe,
// fs.ModeSocket, fs.ModeDevice, fs.ModeDevice|fs.ModeCharDevice.
func (f *Fake) PutSpecial(p string, mode fs.FileMode) { f.put(p, f.makeNode(mode, func(*node) {})) }

// PutOwner sets the owner of what is at p.
func (f *Fake) PutOwner(p string, uid, gid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk("PutOwner", p, false)
	if err != nil {
		panic(err)
	}
	n.uid, n.gid = uid, gid
}

func (f *Fake) makeNode(mode fs.FileMode, set func(*node)) *node {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.newNode(mode)
	set(n)
	return n
}

func (f *Fake) put(p string, n *node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir := path.Dir(path.Clean(p))
	if err := f.mkdirAll("Put", dir, 0o755); err != nil {
		panic(err)
	}
	d, err := f.walk("Put", dir, true)
	if err != nil {
		panic(err)
	}
	d.kids[path.Base(p)] = n
}

// Text returns the content of a file, "" where there is none.
func (f *Fake) Text(p string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk("Text", p, true)
	if err != nil {
		return ""
	}
	return string(n.data)
}

// Tree returns all that is below dir, a line each, sorted:
// "/etc/motd -rw-r--r-- 0:0 hi\n" with the content quoted, "-> target" for a
// link.
func (f *Fake) Tree(dir string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk("Tree", dir, true)
	if err != nil {
		return nil
	}
	var out []string
	var list func(p string, n *node)
	list = func(p string, n *node) {
		for name, k := range n.kids {
			at := path.Join(p, name)
			line := fmt.Sprintf("%s %s %d:%d", at, k.mode, k.uid, k.gid)
			switch {
			case k.mode.IsRegular():
				line += fmt.Sprintf(" %q", k.data)
			case k.mode&fs.ModeSymlink != 0:
				line += " -> " + k.target
			}
			out = append(out, line)
			list(at, k)
		}
	}
	list(path.Clean(dir), n)
	slices.Sort(out)
	return out
}
