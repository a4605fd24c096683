package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"sort"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A Tree is the list of what is behind salt://, as the controller tells it to
// agents in one go.
type Tree struct {
	Envs []*TreeEnv
}

// A TreeEnv is one saltenv of a Tree.
type TreeEnv struct {
	Name  string
	Files []TreeFile // sorted by path
	Dirs  []string   // sorted
	// Partial says that there are too many files to list: the agent asks for
	// each.
	Partial bool
}

// A TreeFile is a file of a Tree.
type TreeFile struct {
	Path string
	Size int64
	Mode fs.FileMode
	Link string // where it points, of a symbolic link
	Sum  string // SHA-256 in hex; "" where it was not worked out
}

// Env returns the saltenv of a name; nil where there is none.
func (t *Tree) Env(name string) *TreeEnv {
	for _, e := range t.Envs {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// File returns the file at path; nil where there is none.
func (e *TreeEnv) File(path string) *TreeFile {
	i := sort.Search(len(e.Files), func(i int) bool { return e.Files[i].Path >= path })
	if i < len(e.Files) && e.Files[i].Path == path {
		return &e.Files[i]
	}
	return nil
}

// HasDir reports whether path is a directory; "." is one.
func (e *TreeEnv) HasDir(path string) bool {
	if path == "." {
		return true
	}
	i := sort.SearchStrings(e.Dirs, path)
	return i < len(e.Dirs) && e.Dirs[i] == path
}

// Below returns the files and the directories below path; "." is all.
func (e *TreeEnv) Below(path string) ([]TreeFile, []string) {
	if path == "." {
		return e.Files, e.Dirs
	}
	lo := sort.Search(len(e.Files), func(i int) bool { return e.Files[i].Path >= path+"/" })
	hi := sort.Search(len(e.Files), func(i int) bool { return e.Files[i].Path >= path+"0" }) // '0' follows '/'
	dlo := sort.SearchStrings(e.Dirs, path+"/")
	dhi := sort.SearchStrings(e.Dirs, path+"0")
	return e.Files[lo:hi:hi], e.Dirs[dlo:dhi:dhi]
}

// Encode returns the tree's encoding and its name: the hash of that.
func (t *Tree) Encode() (b []byte, id string, err error) {
	envs := value.NewList()
	for _, e := range t.Envs {
		files := make([]value.Value, len(e.Files))
		for i, f := range e.Files {
			sum, _ := hex.DecodeString(f.Sum)
			files[i] = value.Tuple{f.Path, f.Size, int64(packMode(f.Mode)), f.Link, value.Bytes(sum)}
		}
		dirs := make([]value.Value, len(e.Dirs))
		for i, d := range e.Dirs {
			dirs[i] = d
		}
		envs.Append(value.Tuple{e.Name, e.Partial, value.NewList(files...), value.NewList(dirs...)})
	}
	if b, err = AppendValue(nil, envs); err != nil {
		return nil, "", err
	}
	return b, TreeID(b), nil
}

// TreeID returns the name of an encoded tree.
func TreeID(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ParseTree reads what Encode made.
func ParseTree(b []byte) (*Tree, error) {
	v, err := ParseValue(b)
	if err != nil {
		return nil, err
	}
	envs, ok := v.(*value.List)
	if !ok {
		return nil, broken("a tree is not a list")
	}
	t := &Tree{}
	for _, x := range envs.Items {
		e, err := parseTreeEnv(x)
		if err != nil {
			return nil, err
		}
		t.Envs = append(t.Envs, e)
	}
	return t, nil
}

func parseTreeEnv(x value.Value) (*TreeEnv, error) {
	tup, _ := x.(value.Tuple)
	if len(tup) != 4 {
		return nil, broken("an environment of a tree has %d parts", len(tup))
	}
	name, ok := tup[0].(string)
	partial, ok2 := tup[1].(bool)
	files, ok3 := tup[2].(*value.List)
	dirs, ok4 := tup[3].(*value.List)
	if !ok || !ok2 || !ok3 || !ok4 {
		return nil, broken("an environment of a tree has parts of other types")
	}
	e := &TreeEnv{Name: name, Partial: partial, Files: make([]TreeFile, 0, files.Len()), Dirs: make([]string, 0, dirs.Len())}
	for _, x := range files.Items {
		f, err := parseTreeFile(x)
		if err != nil {
			return nil, err
		}
		if n := len(e.Files); n > 0 && e.Files[n-1].Path >= f.Path {
			return nil, broken("the files of a tree are not sorted")
		}
		e.Files = append(e.Files, f)
	}
	for _, x := range dirs.Items {
		d, ok := x.(string)
		if !ok || len(e.Dirs) > 0 && e.Dirs[len(e.Dirs)-1] >= d {
			return nil, broken("the directories of a tree are not sorted")
		}
		e.Dirs = append(e.Dirs, d)
	}
	return e, nil
}

func parseTreeFile(x value.Value) (TreeFile, error) {
	tup, _ := x.(value.Tuple)
	if len(tup) != 5 {
		return TreeFile{}, broken("a file of a tree has %d parts", len(tup))
	}
	p, ok := tup[0].(string)
	size, ok2 := tup[1].(int64)
	mode, ok3 := tup[2].(int64)
	link, ok4 := tup[3].(string)
	sum, ok5 := tup[4].(value.Bytes)
	if !ok || !ok2 || !ok3 || !ok4 || !ok5 || size < 0 || len(sum) != 0 && len(sum) != sha256.Size || strings.ContainsRune(p, 0) {
		return TreeFile{}, broken("a file of a tree has parts of other types")
	}
	return TreeFile{Path: p, Size: size, Mode: UnpackMode(mode), Link: link, Sum: hex.EncodeToString([]byte(sum))}, nil
}

// The type bits of a mode as they cross the channel: above chmod(1)'s.
const (
	packDir  = 1 << 16
	packLink = 1 << 17
	packIrr  = 1 << 18
)

func packMode(m fs.FileMode) uint32 {
	u := host.UnixMode(m)
	switch {
	case m.IsDir():
		u |= packDir
	case m&fs.ModeSymlink != 0:
		u |= packLink
	case !m.IsRegular():
		u |= packIrr
	}
	return u
}

// PackMode returns a mode as it crosses the channel.
func PackMode(m fs.FileMode) int64 { return int64(packMode(m)) }

// UnpackMode undoes [PackMode].
func UnpackMode(u int64) fs.FileMode {
	m := host.FileMode(uint32(u) & 0o7777)
	switch {
	case u&packDir != 0:
		m |= fs.ModeDir
	case u&packLink != 0:
		m |= fs.ModeSymlink
	case u&packIrr != 0:
		m |= fs.ModeIrregular
	}
	return m
}
