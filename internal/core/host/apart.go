package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// A directory of root's in one that somebody else can change is safe from him, but
// its path is not: he can give the directory another name, and put a link or a
// directory of his own in its place. A program that is started in the directory
// itself asks the system for the path of that and uses it, git for one. So the
// program gets a view of its own, in which the directory has its usual path, and on
// the way to it is nothing but that: where somebody else's directory is for the
// machine, there is an empty one of root's for the program.

// An apart is the view of a program with root's rights.
type apart struct {
	host   Host
	arg    string
	paths  []string // that the program was given
	dirs   []apartDir
	covers []apartDir
}

// An apartDir is a directory in a view: one that is seen, or the place of one that is
// not. User can change what is covered.
type apartDir struct{ path, given, user string }

// CheckOwn returns a *[SharedPathError] if brine runs as root and somebody else
// can change one of the directories at paths or what their paths lead to, even
// for a program that Cmd.Alone isolates from the parents of its directory. For
// a path that does not exist, the deepest existing directory is checked. arg is
// as in [CheckAlone].
func CheckOwn(h Host, arg string, paths ...string) error {
	_, err := planApart(h, arg, paths)
	return err
}

// planApart returns the view of a program that works in directories; nil is the
// usual one. The error is that of [CheckOwn].
func planApart(h Host, arg string, paths []string) (*apart, error) {
	if h.Geteuid() != 0 || len(paths) == 0 {
		return nil, nil
	}
	a := &apart{host: h, arg: arg, paths: paths}
	for _, path := range paths {
		real, err := existing(h, path)
		if err != nil {
			return nil, err
		}
		dir, who, moves, err := firstShared(h, "/", real)
		if err != nil {
			return nil, err
		}
		if who == "" {
			continue
		}
		own, theirs, err := firstOwn(h, dir, real)
		if err != nil {
			return nil, err
		}
		if own == "" {
			return nil, &SharedPathError{Path: path, Dir: real, User: theirs, Arg: arg}
		}
		if moves {
			return nil, &SharedPathError{Path: path, Dir: dir, User: who, Arg: arg}
		}
		a.dirs = append(a.dirs, apartDir{own, path, who})
		if cover := (apartDir{dir, dir, who}); !slices.Contains(a.covers, cover) {
			a.covers = append(a.covers, cover)
		}
	}
	if len(a.dirs) == 0 {
		return nil, nil
	}
	return a, a.merge()
}

// firstOwn returns the first directory on the way from top to path, which is below,
// from which on nobody else can change any; "" and who can where that is so of path
// itself, or of the directory of a file.
func firstOwn(h Host, top, path string) (own, who string, err error) {
	for p := path; ; p = filepath.Dir(p) {
		st, err := h.Lstat(p)
		if err != nil {
			return "", "", err
		}
		switch theirs := sharedWith(h, st); {
		case theirs != "":
			return own, theirs, nil
		case p == top:
			return p, "", nil
		case st.Mode.IsDir():
			own = p
		}
	}
}

// merge leaves out directories that are seen in others.
func (a *apart) merge() error {
	sort.SliceStable(a.dirs, func(i, j int) bool { return a.dirs[i].path < a.dirs[j].path })
	var out []apartDir
	for _, d := range a.dirs {
		i := slices.IndexFunc(out, func(o apartDir) bool { return within(o.path, d.path) })
		if i < 0 {
			out = append(out, d)
			continue
		}
		dir, who, _, err := firstShared(a.host, out[i].path, d.path)
		if err == nil && who != "" {
			err = &SharedPathError{Path: d.given, Dir: dir, User: who, Arg: a.arg}
		}
		if err != nil {
			return err
		}
	}
	a.dirs = out
	return nil
}

// within reports whether a clean path is dir or below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// admits returns an error where a program needs what is not in its view: its
// directory, or a path among its arguments or in what it alone has in its environment.
func (a *apart) admits(c Cmd) error {
	if a == nil {
		return nil
	}
	words := []string{c.Dir}
	if c.Dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return err
		}
		words[0] = wd
	}
	for _, w := range c.Argv {
		words = append(words, w)
		if _, after, ok := strings.Cut(w, "="); ok {
			words = append(words, after)
		}
	}
	usual := a.host.Environ()
	for _, kv := range c.Env {
		if _, v, ok := strings.Cut(kv, "="); ok && !slices.Contains(usual, kv) {
			words = append(words, v)
		}
	}
	for _, w := range words {
		w = strings.TrimPrefix(w, "file://")
		if !strings.HasPrefix(w, "/") {
			continue
		}
		p := filepath.Clean(w)
		i := slices.IndexFunc(a.covers, func(d apartDir) bool { return within(d.path, p) })
		if i >= 0 && !slices.ContainsFunc(a.dirs, func(d apartDir) bool { return within(d.path, p) }) {
			return &SharedPathError{Path: p, Dir: a.covers[i].path, User: a.covers[i].user, Arg: a.arg}
		}
	}
	return nil
}

// refuse returns the error where there can be no view of its own.
func (a *apart) refuse(err error) error {
	if err == nil {
		return nil
	}
	if shared, ok := errors.AsType[*SharedPathError](err); ok {
		return shared
	}
	d := a.dirs[0]
	return &SharedPathError{Path: d.given, Dir: a.covers[0].path, User: a.covers[0].user, Arg: a.arg, Err: err}
}

// MakeOwn makes the directory at path, for a program in Cmd.Alone that would make it,
// where brine has root's rights and somebody else can change the directory that it
// is going to be in: the program could not make it there. undo takes out again what
// was made, as far as it is empty.
func MakeOwn(h Host, path string) (undo func(), err error) {
	undo = func() {}
	if !errors.As(CheckAlone(h, path, ""), new(*SharedPathError)) {
		return undo, nil
	}
	var made []string
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		if _, err := h.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, p)
	}
	if len(made) == 0 {
		return undo, nil
	}
	undo = func() {
		for _, p := range made {
			if st, err := h.Lstat(p); err != nil || !st.Mode.IsDir() || st.UID != 0 || h.Remove(p) != nil {
				return
			}
		}
	}
	if err := h.MkdirAll(path, 0o755); err != nil {
		undo()
		return func() {}, err
	}
	return undo, nil
}
