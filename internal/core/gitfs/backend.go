// Package gitfs serves salt:// and pillars from git repositories and from buckets of S3, and
// salt:// from repositories of Mercurial and Subversion, by their programs.
//
// [Parse] reads remotes from the configuration. A [Store] keeps, below one
// directory, a cache of each remote: a bare repository, the refs of the last
// update, and the files of the commits that were used. [Backend] is
// fileserver_backend gitfs, hgfs, svnfs or s3fs; [Store.Pillars] are the directories of git_pillar. A
// run sees each remote as it was when the run first looked.
//
// What a repository has is not trusted: names that lead out of a tree, links that
// do, submodules and files that are too large are left out, with a warning.
package gitfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fileserver"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Store is the caches of remotes and what a run has seen of them. It is safe
// for concurrent use.
type Store struct {
	Dir  string // of the caches
	Dial Dialer // for remotes over SSH; nil: there are none
	// Run runs the clients of Mercurial and Subversion; nil: there are none.
	Run func(ctx context.Context, c host.Cmd) (host.Output, error)
	Now func() time.Time
	// Warn warns the person.
	Warn func(text string)

	mu    sync.Mutex
	seen  map[string]*seen // by URL and refspecs
	empty map[string]bool  // the roots that were warned of
}

// seen is a remote as a run sees it.
type seen struct {
	mu    sync.Mutex
	c     *cache
	state *state
	err   error
}

func (s *Store) of(r *Remote) *seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.key()
	x := s.seen[key]
	if x == nil {
		x = &seen{}
		x.c, x.err = newCache(s.Dir, r, programOf(r, s.Run, s.Now))
		if s.seen == nil {
			s.seen = map[string]*seen{}
		}
		s.seen[key] = x
	}
	return x
}

func (s *Store) warn(format string, args ...any) {
	if s.Warn != nil {
		s.Warn(fmt.Sprintf(format, args...))
	}
}

// look returns the state of a remote, updated once a run if it is older than its
// update_interval. A remote that cannot be reached is as the cache has it, with a
// warning.
func (s *Store) look(ctx context.Context, r *Remote) (*cache, *state, error) {
	x := s.of(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != nil || x.err != nil {
		return x.c, x.state, x.err
	}
	now := s.Now()
	old := x.c.read()
	if old != nil && now.Sub(old.Fetched) < r.Interval && !now.Before(old.Fetched) && x.c.local == "" {
		x.state = old
		return x.c, old, nil
	}
	st, err := x.c.update(ctx, s.Dial, now)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err() // not kept
	case err != nil && old == nil:
		x.err = s.fault(r, fmt.Errorf("%w; the cache has nothing of it", err))
	case err != nil:
		s.warn("%s remote %s cannot be updated: %v; files are those of %s ago", r.Role, r.Label(), s.clean(r, err), age(now.Sub(old.Fetched)))
		x.state = old
	default:
		x.state = st
		if st.InvalidRefs > 0 {
			s.warn("%s remote %s has %d refs with names that git does not allow; they are left out", r.Role, r.Label(), st.InvalidRefs)
		}
	}
	return x.c, x.state, x.err
}

// age prints a duration to its two largest units.
func age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= time.Hour:
		return d.Truncate(time.Minute).String()[:strings.Index(d.Truncate(time.Minute).String(), "m")+1]
	}
	return max(d, 0).Truncate(time.Second).String()
}

// fault names the remote.
func (s *Store) fault(r *Remote, err error) error {
	return faultAt(r.Pos, "%s remote %s: %w", r.Role, r.Label(), s.clean(r, err))
}

// clean keeps the password out of an error of a library.
func (s *Store) clean(r *Remote, err error) error {
	text := err.Error()
	for _, secret := range []string{r.Auth.Password, r.Auth.Passphrase} {
		if len(secret) > 0 && strings.Contains(text, secret) {
			return errors.New(strings.ReplaceAll(text, secret, "***"))
		}
	}
	return err
}

// commit returns the commit of a ref of a remote.
func (s *Store) commit(ctx context.Context, r *Remote, ref string) (commit string, ok bool, err error) {
	c, st, err := s.look(ctx, r)
	if err != nil {
		return "", false, err
	}
	commit, ok = r.resolve(ref, st.Refs, func(hash string) (string, bool) {
		if c.vcs != nil {
			return "", false
		}
		o, err := c.open()
		if err != nil {
			return "", false
		}
		defer o.Close()
		return o.find(hash)
	})
	return commit, ok, nil
}

// tree returns the files of a commit.
func (s *Store) tree(ctx context.Context, r *Remote, commit string) (string, error) {
	c, _, err := s.look(ctx, r)
	if err != nil {
		return "", err
	}
	dir, notes, err := c.tree(ctx, commit, s.Now())
	if err != nil {
		return "", s.fault(r, err)
	}
	for _, n := range notes {
		s.warn("%s remote %s: %s", r.Role, r.Label(), n)
	}
	return dir, nil
}

// Root returns the directory of root in the files of a ref of a remote. One that
// is not there serves nothing, as in Salt, and is warned of once.
func (s *Store) Root(r *Remote, ref, tree, root string) string {
	dir := filepath.Join(tree, root)
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return dir
	}
	s.mu.Lock()
	known := s.empty[dir]
	if s.empty == nil {
		s.empty = map[string]bool{}
	}
	s.empty[dir] = true
	s.mu.Unlock()
	if !known {
		s.warn("%s remote %s: %s has no directory %q, which is its root; no files are served from it", r.Role, r.Label(), ref, root)
	}
	return dir
}

// A Backend is fileserver_backend gitfs, hgfs, svnfs or s3fs.
type Backend struct {
	role    string
	store   *Store
	remotes []*Remote
	err     error // of the configuration

	mu   sync.Mutex
	dirs map[string]answer // by saltenv
}

type answer struct {
	dirs  []fileserver.Dir
	known bool
}

var _ fileserver.Remote = (*Backend)(nil)

// NewBackend returns the backend of a role, of its option ROLE_remotes. Faults of the
// configuration are what it answers to everything.
func NewBackend(store *Store, role string, opts *value.Map, saltenv string) *Backend {
	b := &Backend{role: role, store: store, dirs: map[string]answer{}}
	if b.err = CheckGlobals(opts, role); b.err != nil {
		return b
	}
	if b.remotes, b.err = Parse(opts, role, opts.At(role+"_remotes")); b.err == nil && role == Files {
		b.err = pin(b.remotes, opts, saltenv)
	}
	return b
}

// Err is what is wrong with the configuration.
func (b *Backend) Err() error { return b.err }

// Name is the role.
func (b *Backend) Name() string { return b.role }

// each calls f for each remote with its refs. Those that have to be fetched are
// fetched side by side first.
func (b *Backend) each(ctx context.Context, f func(*Remote, *state) error) error {
	if b.err != nil {
		return b.err
	}
	var wg sync.WaitGroup
	for _, r := range b.remotes {
		wg.Go(func() { _, _, _ = b.store.look(ctx, r) })
	}
	wg.Wait()
	for _, r := range b.remotes {
		_, st, err := b.store.look(ctx, r)
		if err != nil {
			return err
		}
		if err := f(r, st); err != nil {
			return err
		}
	}
	return nil
}

// Envs returns the saltenvs of all remotes, base first.
func (b *Backend) Envs(ctx context.Context) ([]string, error) {
	var out []string
	err := b.each(ctx, func(r *Remote, st *state) error {
		for _, e := range r.envs(st.Refs) {
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(x, y string) int {
		if (x == "base") != (y == "base") {
			if x == "base" {
				return -1
			}
			return 1
		}
		return strings.Compare(x, y)
	})
	return out, err
}

// Dirs returns the trees of saltenv, in the order of the remotes.
func (b *Backend) Dirs(ctx context.Context, saltenv string) ([]fileserver.Dir, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a, ok := b.dirs[saltenv]; ok {
		return a.dirs, a.known, nil
	}
	var a answer
	err := b.each(ctx, func(r *Remote, _ *state) error {
		ref, commit, ok, err := b.commit(ctx, r, saltenv)
		if err != nil || !ok {
			return err
		}
		tree, err := b.store.tree(ctx, r, commit)
		if err != nil {
			return err
		}
		a.known = true
		a.dirs = append(a.dirs, fileserver.Dir{Path: b.store.Root(r, ref, tree, r.rootOf(saltenv)), Mount: r.mountOf(saltenv), Within: tree})
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	if a.known { // names that are asked for at random are not kept
		b.dirs[saltenv] = a
	}
	return a.dirs, a.known, nil
}

// commit returns the ref and the commit of a saltenv.
func (b *Backend) commit(ctx context.Context, r *Remote, saltenv string) (ref, commit string, ok bool, err error) {
	if !r.exposes(saltenv) {
		return "", "", false, nil
	}
	ref = r.ref(saltenv)
	commit, ok, err = b.store.commit(ctx, r, ref)
	if err == nil && !ok && r.At != "" && saltenv == r.AtEnv {
		return "", "", false, fmt.Errorf("--at %s: remote %s has no such commit, tag or branch", r.At, r.Label())
	}
	if err == nil && !ok && ref != "" && r.Fallback != "" {
		ref = r.Fallback
		commit, ok, err = b.store.commit(ctx, r, ref)
	}
	return ref, commit, ok, err
}

// Update fetches all remotes.
func (b *Backend) Update(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	errs := make([]error, len(b.remotes))
	var wg sync.WaitGroup
	for i, r := range b.remotes {
		wg.Go(func() { errs[i] = b.store.refresh(ctx, r) })
	}
	wg.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.dirs)
	return errors.Join(errs...)
}

// refresh updates a remote now.
func (s *Store) refresh(ctx context.Context, r *Remote) error {
	x := s.of(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.c == nil {
		return s.fault(r, x.err)
	}
	st, err := x.c.update(ctx, s.Dial, s.Now())
	if err != nil {
		return s.fault(r, err)
	}
	x.state, x.err = st, nil
	return nil
}

// ClearCache removes the caches of the remotes.
func (b *Backend) ClearCache(ctx context.Context) ([]string, error) {
	var out []string
	for _, r := range b.remotes {
		x := b.store.of(r)
		x.mu.Lock()
		if x.c != nil {
			if _, err := os.Stat(x.c.dir); err == nil {
				if err := x.c.clear(ctx); err != nil {
					x.mu.Unlock()
					return out, b.store.fault(r, err)
				}
				out = append(out, r.Label())
			}
			x.state, x.err = nil, nil
		}
		x.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.dirs)
	return out, b.err
}

// ClearLock says which remotes are locked. The lock of a process that ended is
// released, and that of a running one is kept.
func (b *Backend) ClearLock(_ context.Context, pattern string) (cleared, failed []string) {
	for _, r := range b.remotes {
		if pattern != "" && !fileserver.MatchesAny([]string{pattern}, r.URL) && !fileserver.MatchesAny([]string{pattern}, r.Name) {
			continue
		}
		if x := b.store.of(r); x.c != nil && x.c.locked() {
			failed = append(failed, fmt.Sprintf("remote %s is being updated by a running process", r.Label()))
		}
	}
	return nil, failed
}

// Sources returns the commit that each remote has for the saltenvs: name, url,
// saltenv, ref and commit.
func (b *Backend) Sources(ctx context.Context) (*value.List, error) {
	out := value.NewList()
	err := b.each(ctx, func(r *Remote, _ *state) error {
		envs := []string{"base"}
		if r.AtEnv != "" && r.AtEnv != "base" {
			envs = append(envs, r.AtEnv)
		}
		for _, env := range envs {
			ref, commit, ok, err := b.commit(ctx, r, env)
			if err != nil {
				return err
			}
			if ok {
				out.Append(value.MapOf("remote", r.Label(), "saltenv", env, "ref", ref, "commit", commit))
			}
		}
		return nil
	})
	if err == nil && out.Len() == 0 && len(b.remotes) > 0 {
		b.warnNoBase(ctx)
	}
	return out, err
}

// warnNoBase says what a remote has where none has the environment base: its main
// branch often has another name than gitfs_base.
func (b *Backend) warnNoBase(ctx context.Context) {
	r := b.remotes[0]
	_, st, err := b.store.look(ctx, r)
	if err != nil {
		return
	}
	var have []string
	for ref := range st.Refs {
		if name, ok := strings.CutPrefix(ref, branchPrefix); ok {
			have = append(have, name)
		}
	}
	slices.Sort(have)
	if b.role == Buckets {
		b.store.warn("no bucket of s3fs has the environment base (option s3.buckets); %s has %s", r.Label(), strings.Join(have[:min(len(have), 10)], ", "))
		return
	}
	if b.role == Subversion {
		b.store.warn("no remote of svnfs has the environment base: svnfs remote %s has no directory %q (option trunk or svnfs_trunk)", r.Label(), r.Trunk)
		return
	}
	b.store.warn("no remote of %s has the environment base: %s remote %s has no branch, tag or commit %q (option base or %s_base)%s; its branches are %s",
		b.role, b.role, r.Label(), r.Base, b.role, source.DidYouMean(r.Base, have), strings.Join(have[:min(len(have), 10)], ", "))
}
