// Package fileserver serves salt:// from directories of this machine.
//
// A [Backend] says which directories a saltenv has: [Roots] those of the
// configuration, others what they fetched. A [Server] looks a path up in the
// directories of its backends, first one wins, and never goes outside of them:
// neither by ".." nor by a link. Listings are made once per saltenv and kept for the run. [Local]
// joins a Server and a pillar to a fun.Upstream.
package fileserver

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/digest"
	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Server is the files of some roots. It is safe for concurrent use.
type Server struct {
	// MaxFiles limits how many files and directories a listing of a saltenv may
	// find; 0 means no limit. A larger listing fails with a *LargeError.
	MaxFiles int

	files    host.Files
	roots    *Roots
	backends []Backend

	mu    sync.Mutex
	trees map[string]*tree // by saltenv
	rules *rules           // nil: not known yet, or forgotten
	reErr error            // of a pattern that does not compile
}

// rules say what is served. They do not change: a request has the same ones to its end,
// whatever is forgotten meanwhile.
type rules struct {
	files  host.Files
	real   []string       // the roots without links, all of them
	globs  []string       // of roots.IgnoreGlob
	ignore []*pyre.Regexp // of roots.IgnoreRegex
}

var _ fun.Files = (*Server)(nil)

// New returns a server of roots.
func New(files host.Files, roots *Roots) *Server { return Over(files, roots, roots.Backend()) }

// Over returns a server of backends in their order. What is ignored, and which
// links are followed, is what roots say.
func Over(files host.Files, roots *Roots, backends ...Backend) *Server {
	return &Server{files: files, roots: roots, backends: backends, trees: map[string]*tree{}}
}

// Roots returns what is served.
func (s *Server) Roots() *Roots { return s.roots }

// A RefusedError says that a path leads out of the roots. It is
// fs.ErrPermission.
type RefusedError struct {
	Path string // below the roots, as it was asked for
	To   string // where it leads, where a link did it
}

// Error names the path and where it leads.
func (e *RefusedError) Error() string {
	if e.To != "" {
		return fmt.Sprintf("salt://%s is refused: it leads out of the roots, to %s", e.Path, e.To)
	}
	return fmt.Sprintf("salt://%s is refused: it leads out of the roots", e.Path)
}

// A LargeError says that a saltenv has more files than a listing may find.
type LargeError struct {
	Dir string // the root with the last of them
	Max int
}

// Error names the root.
func (e *LargeError) Error() string { return fmt.Sprintf("%s has more than %d files", e.Dir, e.Max) }

// Unwrap is fs.ErrPermission.
func (e *RefusedError) Unwrap() error { return fs.ErrPermission }

// Envs returns the saltenvs of all backends, in their order.
func (s *Server) Envs(ctx context.Context) ([]string, error) {
	var out []string
	for _, b := range s.backends {
		envs, err := b.Envs(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range envs {
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// dirs returns the directories of saltenv, and whether a backend has it.
func (s *Server) dirs(ctx context.Context, saltenv string) (dirs []Dir, known bool, err error) {
	for _, b := range s.backends {
		d, ok, err := b.Dirs(ctx, saltenv)
		if err != nil {
			return nil, false, err
		}
		dirs, known = append(dirs, d...), known || ok
	}
	return dirs, known, nil
}

// Stat returns the file or directory at p in the first directory of saltenv that
// has it. A path that leads out of the roots is a *RefusedError.
func (s *Server) Stat(ctx context.Context, saltenv, p string) (fun.FileInfo, error) {
	if err := ctx.Err(); err != nil {
		return fun.FileInfo{}, err
	}
	dirs, ok, err := s.dirs(ctx, saltenv)
	if err != nil {
		return fun.FileInfo{}, err
	}
	if !ok {
		return fun.FileInfo{}, s.noEnv(ctx, saltenv, p)
	}
	rel, err := clean(p)
	if err != nil {
		return fun.FileInfo{}, err
	}
	r, err := s.prepare()
	if err != nil {
		return fun.FileInfo{}, err
	}
	var refused error
search:
	for _, d := range dirs {
		fi, err := r.statIn(d, rel)
		switch {
		case err == nil:
			fi.SaltEnv = saltenv
			return fi, nil
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // to a reader, a missing file
			if r.hides(d, rel) {
				break search
			}
		default:
			if refused == nil {
				refused = err
			}
		}
	}
	if refused != nil {
		return fun.FileInfo{}, refused
	}
	return fun.FileInfo{}, fmt.Errorf("salt://%s in saltenv %s: %w", p, saltenv, fs.ErrNotExist)
}

// hides reports whether the files of rel in the directories behind d are not to be seen.
func (r *rules) hides(d Dir, rel string) bool {
	name, ok := strings.CutSuffix(rel, ".sls")
	if !d.Own || !ok {
		return false
	}
	fi, err := r.statIn(d, name+"/init.sls")
	return err == nil && fi.Mode.IsRegular()
}

// statIn looks rel up in a directory, which may be mounted below another path.
func (r *rules) statIn(d Dir, rel string) (fun.FileInfo, error) {
	if d.NoTop && path.Base(rel) == "top.sls" {
		return fun.FileInfo{}, fs.ErrNotExist
	}
	if d.Mount == "" {
		return r.stat(d, rel)
	}
	if rel == "." || strings.HasPrefix(d.Mount, rel+"/") { // it leads to the directory
		return fun.FileInfo{Path: rel, Mode: fs.ModeDir | 0o755}, nil
	}
	below, ok := strings.CutPrefix(rel+"/", d.Mount+"/")
	if !ok {
		return fun.FileInfo{}, fs.ErrNotExist
	}
	fi, err := r.stat(d, cmp.Or(strings.TrimSuffix(below, "/"), "."))
	fi.Path = rel
	return fi, err
}

func (s *Server) noEnv(ctx context.Context, saltenv, p string) error {
	envs, _ := s.Envs(ctx)
	return fmt.Errorf("salt://%s: there is no saltenv %q%s: %w", p, saltenv, source.DidYouMean(saltenv, envs), fs.ErrNotExist)
}

// clean returns p without . and .., refusing one that leaves the root.
func clean(p string) (string, error) {
	if strings.ContainsRune(p, 0) {
		return "", fmt.Errorf("salt://%q: %w", p, fs.ErrNotExist)
	}
	c := path.Clean(strings.TrimLeft(p, "/"))
	if c == ".." || strings.HasPrefix(c, "../") {
		return "", &RefusedError{Path: p}
	}
	return c, nil
}

// stat looks rel up below one directory.
func (r *rules) stat(d Dir, rel string) (fun.FileInfo, error) {
	full := filepath.Join(d.Path, filepath.FromSlash(rel))
	lst, err := r.files.Lstat(full)
	if err != nil {
		return fun.FileInfo{}, err
	}
	if rel != "." && r.ignored(rel, full) {
		return fun.FileInfo{}, fs.ErrNotExist
	}
	real, err := r.files.ReadTarget(full)
	if err != nil {
		return fun.FileInfo{}, err
	}
	if !r.inside(d, real) {
		return fun.FileInfo{}, &RefusedError{Path: rel, To: real}
	}
	fi := fun.FileInfo{Path: rel, Abs: full, Mode: lst.Mode, Size: lst.Size}
	if lst.Mode&fs.ModeSymlink != 0 {
		st, err := r.files.Stat(full)
		if err != nil {
			return fun.FileInfo{}, err
		}
		fi.Mode, fi.Size = st.Mode, st.Size
		if fi.Link, err = r.files.Readlink(full); err != nil {
			return fun.FileInfo{}, err
		}
	}
	return fi, nil
}

// inside reports whether a path without links may be reached from a directory:
// it is below what the directory confines its links to, else below one of the
// roots.
func (r *rules) inside(d Dir, real string) bool {
	if d.Within != "" {
		within, err := r.files.ReadTarget(d.Within)
		return err == nil && below(real, within)
	}
	return slices.ContainsFunc(r.real, func(root string) bool { return below(real, root) })
}

func below(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir) && (dir == "/" || p[len(dir)] == '/')
}

// prepare resolves the roots and compiles file_ignore_regex, once.
func (s *Server) prepare() (*rules, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prepareLocked()
}

func (s *Server) prepareLocked() (*rules, error) {
	if s.reErr != nil || s.rules != nil {
		return s.rules, s.reErr
	}
	r := &rules{files: s.files, globs: s.roots.IgnoreGlob}
	for _, pat := range s.roots.IgnoreRegex {
		re, err := pyre.Compile(pat, 0)
		if err != nil {
			s.reErr = fmt.Errorf("file_ignore_regex %q: %w", pat, err)
			return nil, s.reErr
		}
		r.ignore = append(r.ignore, re)
	}
	for _, env := range s.roots.Envs {
		for _, d := range s.roots.Dirs[env] {
			r.real = s.addReal(r.real, d)
		}
	}
	s.rules = r
	return r, nil
}

// addReal adds a root without its links. Of a path with __env__ the part
// before that counts: what is below is known only when a saltenv is asked for.
func (s *Server) addReal(real []string, dir string) []string {
	if before, _, ok := strings.Cut(dir, anyEnv); ok {
		dir = filepath.Dir(before + "x")
	}
	if r, err := s.files.ReadTarget(dir); err == nil {
		return append(real, r)
	}
	return append(real, filepath.Clean(dir))
}

// ignored reports whether a file is not to be served.
func (r *rules) ignored(rel, full string) bool {
	for _, g := range r.globs {
		if value.Fnmatch(g, rel) || value.Fnmatch(g, full) || value.Fnmatch(g, path.Base(rel)) {
			return true
		}
	}
	for _, re := range r.ignore {
		if ok, err := re.Has(full); err == nil && ok {
			return true
		}
	}
	return false
}

// Open opens a file for reading.
func (s *Server) Open(ctx context.Context, saltenv, p string) (io.ReadCloser, error) {
	fi, err := s.Stat(ctx, saltenv, p)
	if err != nil {
		return nil, err
	}
	if !fi.Mode.IsRegular() {
		return nil, fmt.Errorf("salt://%s in saltenv %s is not a file: %w", p, saltenv, fs.ErrInvalid)
	}
	return s.files.Open(fi.Abs)
}

// Hash returns the hex digest of a file by md5, sha1, sha224, sha256, sha384
// or sha512.
func (s *Server) Hash(ctx context.Context, saltenv, p, algo string) (string, error) {
	h, err := newHash(algo)
	if err != nil {
		return "", err
	}
	f, err := s.Open(ctx, saltenv, p)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("hash salt://%s: %w", p, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func newHash(algo string) (hash.Hash, error) {
	if h := digest.New(cmp.Or(strings.ToLower(algo), "sha256")); h != nil {
		return h, nil
	}
	known := digest.Names()
	return nil, fmt.Errorf("unknown hash %q%s, known are %s", algo, source.DidYouMean(algo, known), strings.Join(known, ", "))
}

// A Local is the upstream of a run whose files and pillar are on this machine.
type Local struct {
	*Server
	// Render renders the pillar of the target.
	Render func(context.Context, fun.PillarRequest) (*value.Map, error)
}

var _ fun.Upstream = (*Local)(nil)

// Pillar renders the pillar again on each call; without Render it is empty.
func (l *Local) Pillar(ctx context.Context, req fun.PillarRequest) (*value.Map, error) {
	if l.Render == nil {
		return value.NewMap(0), nil
	}
	return l.Render(ctx, req)
}
