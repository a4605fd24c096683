package fileserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/fun"
)

// A tree is what is below the roots of one saltenv.
type tree struct {
	files []fun.FileInfo // sorted by path
	dirs  []string       // sorted
}

// maxTrees is of how many saltenvs listings are kept.
const maxTrees = 256

// maxDepth bounds how deep listings go.
const maxDepth = 100

// List returns all files and links below prefix, sorted by path. A file that
// several roots have is that of the first. A link that leads nowhere or out of
// the roots is listed as a link, with its own mode. A link to a directory is
// listed with the mode of a directory, and then what is below it.
func (s *Server) List(ctx context.Context, saltenv, prefix string) ([]fun.FileInfo, error) {
	t, err := s.tree(ctx, saltenv)
	if err != nil {
		return nil, err
	}
	p, err := clean(prefix)
	if err != nil {
		return nil, err
	}
	if p == "." {
		return t.files, nil
	}
	lo := sort.Search(len(t.files), func(i int) bool { return t.files[i].Path >= p+"/" })
	hi := sort.Search(len(t.files), func(i int) bool { return t.files[i].Path >= p+"0" }) // '0' follows '/'
	return t.files[lo:hi:hi], nil
}

// Dirs returns all directories below prefix, sorted.
func (s *Server) Dirs(ctx context.Context, saltenv, prefix string) ([]string, error) {
	t, err := s.tree(ctx, saltenv)
	if err != nil {
		return nil, err
	}
	p, err := clean(prefix)
	if err != nil {
		return nil, err
	}
	if p == "." {
		return t.dirs, nil
	}
	lo := sort.SearchStrings(t.dirs, p+"/")
	hi := sort.SearchStrings(t.dirs, p+"0")
	return t.dirs[lo:hi:hi], nil
}

// Forget drops the listings, so that the next one looks again.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.trees)
	s.rules = nil
}

// tree returns the listing of saltenv. The lock is held meanwhile: whoever
// wants the same listing waits for it instead of making it again.
func (s *Server) tree(ctx context.Context, saltenv string) (*tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.trees[saltenv]; t != nil {
		return t, nil
	}
	rules, err := s.prepareLocked()
	if err != nil {
		return nil, err
	}
	w := walker{s: s, rules: rules, env: saltenv, seen: map[string]bool{}, seenDir: map[string]bool{}}
	dirs, known, err := s.dirs(ctx, saltenv)
	if err != nil {
		return nil, err
	}
	if !known || len(dirs) == 0 {
		return &tree{}, nil // a name that is not known is not kept
	}
	for _, d := range dirs {
		real, err := s.files.ReadTarget(d.Path)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, fmt.Errorf("list the roots of saltenv %s: %w", saltenv, err)
		}
		if d.Within != "" && !rules.inside(d, real) {
			continue
		}
		w.in = d
		w.parents(d.Mount)
		if err := w.dir(ctx, d.Path, d.Mount, []string{real}); err != nil {
			return nil, err
		}
		for _, p := range w.later {
			w.seen[p] = true
		}
	}
	sort.Slice(w.t.files, func(i, j int) bool { return w.t.files[i].Path < w.t.files[j].Path })
	sort.Strings(w.t.dirs)
	if len(w.t.files) == 0 && len(w.t.dirs) == 0 {
		return &w.t, nil // with __env__, any name has roots
	}
	if len(s.trees) >= maxTrees {
		clear(s.trees)
	}
	s.trees[saltenv] = &w.t
	return &w.t, nil
}

// A walker makes one listing.
type walker struct {
	s       *Server
	rules   *rules
	env     string
	in      Dir      // what is listed
	later   []string // what is not to be seen in the directories behind it
	t       tree
	met     int             // files and directories so far
	seen    map[string]bool // files, by path
	seenDir map[string]bool
}

// parents lists a directory and those that lead to it.
func (w *walker) parents(dir string) {
	for p := dir; p != "" && p != "."; p = path.Dir(p) {
		if !w.seenDir[p] {
			w.seenDir[p] = true
			w.t.dirs = append(w.t.dirs, p)
		}
	}
}

// dir lists one directory. real are the directories, without links, that led
// here: a link to one of them is a loop and is not followed.
func (w *walker) dir(ctx context.Context, abs, rel string, real []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	names, err := w.s.files.ReadDir(abs)
	if err != nil {
		if rel == w.in.Mount {
			return fmt.Errorf("list the roots of saltenv %s: %w", w.env, err)
		}
		return nil // as Python's os.walk
	}
	if w.met += len(names); w.s.MaxFiles > 0 && w.met > w.s.MaxFiles {
		return &LargeError{Dir: w.in.Path, Max: w.s.MaxFiles}
	}
	for _, name := range names {
		p := name
		if rel != "" {
			p = rel + "/" + name
		}
		full := filepath.Join(abs, name)
		st, err := w.s.files.Lstat(full)
		if err != nil {
			continue
		}
		switch {
		case st.Mode&fs.ModeSymlink != 0:
			if err := w.link(ctx, full, p, real); err != nil {
				return err
			}
		case st.Mode.IsDir():
			if err := w.enter(ctx, full, p, append(slices.Clip(real), filepath.Join(real[len(real)-1], name))); err != nil {
				return err
			}
		case st.Mode.IsRegular():
			w.add(fun.FileInfo{Path: p, SaltEnv: w.env, Abs: full, Mode: st.Mode, Size: st.Size})
		}
	}
	return nil
}

func (w *walker) enter(ctx context.Context, abs, rel string, real []string) error {
	if strings.Count(rel, "/") >= maxDepth {
		return nil
	}
	if !w.seenDir[rel] {
		w.seenDir[rel] = true
		w.t.dirs = append(w.t.dirs, rel)
	}
	return w.dir(ctx, abs, rel, real)
}

// link lists a link: as the file it points to, as the directory it points to,
// or as itself.
func (w *walker) link(ctx context.Context, full, rel string, real []string) error {
	if w.s.roots.NoLinks {
		return nil
	}
	dest, err := w.s.files.Readlink(full)
	if err != nil {
		return nil
	}
	fi := fun.FileInfo{Path: rel, SaltEnv: w.env, Abs: full, Mode: fs.ModeSymlink | 0o777, Link: dest}
	target, err := w.s.files.ReadTarget(full)
	if err != nil || !w.rules.inside(w.in, target) {
		w.add(fi)
		return nil
	}
	st, err := w.s.files.Stat(full)
	if err != nil {
		w.add(fi)
		return nil
	}
	if !st.Mode.IsDir() {
		fi.Mode, fi.Size = st.Mode, st.Size
		w.add(fi)
		return nil
	}
	if !w.seenDir[rel] { // else the directory of an earlier root has the name
		fi.Mode = st.Mode
		w.add(fi)
	}
	if w.s.roots.NoFollow {
		w.parents(rel)
		return nil
	}
	if slices.Contains(real, target) {
		return nil
	}
	return w.enter(ctx, full, rel, append(slices.Clip(real), target))
}

func (w *walker) add(fi fun.FileInfo) {
	if w.seen[fi.Path] || w.rules.ignored(fi.Path, fi.Abs) || w.in.NoTop && path.Base(fi.Path) == "top.sls" {
		return
	}
	w.seen[fi.Path] = true
	if name, ok := strings.CutSuffix(fi.Path, "/init.sls"); ok && w.in.Own {
		w.later = append(w.later, name+".sls")
	}
	w.t.files = append(w.t.files, fi)
}
