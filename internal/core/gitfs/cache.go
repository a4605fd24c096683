package gitfs

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// A cache has what was fetched of one remote, below dir:
//
//	lock        held by who changes anything here
//	refs.json   the refs at the last update; written last
//	repo-*      a bare repository without refs and configuration, which refs.json names
//	trees       the files of commits, by hash; never changed once they are there
//
// Nothing in it tells how the remote is logged in to.
type cache struct {
	dir   string
	r     *Remote
	local string  // the repository itself, where it is on this machine
	vcs   program // what fetches it; nil: this package does, from git
}

// state is refs.json.
type state struct {
	URL         string            `json:"url"`
	Fetched     time.Time         `json:"fetched"`
	Repo        string            `json:"repo,omitempty"`
	Refs        map[string]string `json:"refs"` // commits
	InvalidRefs int               `json:"odd,omitempty"`
}

// maxPack bounds what one update fetches.
const maxPack = 4 << 30

// keepTrees is how long a tree stays that nobody has used.
const keepTrees = 7 * 24 * time.Hour

// maxPacks is with how many packs a cache is fetched from scratch.
const maxPacks = 50

// newCache returns the cache of a remote below dir.
func newCache(dir string, r *Remote, vcs program) (*cache, error) {
	sum := sha256.Sum256([]byte(r.key()))
	if vcs != nil {
		dir = filepath.Join(filepath.Dir(dir), r.Role)
	}
	c := &cache{dir: filepath.Join(dir, hex.EncodeToString(sum[:12])), r: r, vcs: vcs}
	if vcs != nil {
		return c, nil
	}
	if scheme, err := schemeOf(r.URL); err == nil && scheme == "file" {
		p := r.URL
		if strings.Contains(p, "://") {
			u, err := url.Parse(p)
			if err != nil || u.Host != "" && u.Host != "localhost" {
				return nil, fmt.Errorf("%s is not a path of this machine: write file:///path", shownURL(r.URL))
			}
			p = u.Path
		}
		c.local = p
	}
	return c, nil
}

func (c *cache) trees() string { return filepath.Join(c.dir, "trees") }

// repo is the repository of a state; it may be nil.
func (c *cache) repo(s *state) string {
	if s == nil {
		return filepath.Join(c.dir, "none")
	}
	return filepath.Join(c.dir, s.Repo)
}

// lock waits until nobody else changes the cache. A process that ends gives the
// lock back, however it ends.
func (c *cache) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("wait for the lock %s: %w", f.Name(), ctx.Err())
		case <-time.After(wait):
		}
	}
}

// locked reports whether somebody holds the lock.
func (c *cache) locked() bool {
	f, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// read returns the state, nil where there is none that is whole.
func (c *cache) read() *state {
	b, err := os.ReadFile(filepath.Join(c.dir, "refs.json"))
	if err != nil {
		return nil
	}
	s := &state{}
	if json.Unmarshal(b, s) != nil || s.Refs == nil || s.URL != c.r.URL || c.local == "" && !strings.HasPrefix(s.Repo, "repo-") || strings.Contains(s.Repo, "/") {
		return nil
	}
	return s
}

// open opens the repository with the objects.
func (c *cache) open() (*objects, error) {
	if c.local == "" {
		return openObjects(c.repo(c.read())), nil
	}
	dir, err := gitDir(c.local)
	if err != nil {
		return nil, err
	}
	return openObjects(dir), nil
}

// update brings the cache up to what the remote has now, and returns its refs.
// A failed or killed update leaves what was there.
func (c *cache) update(ctx context.Context, dial Dialer, now time.Time) (*state, error) {
	unlock, err := c.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	s := &state{URL: c.r.URL, Fetched: now.UTC(), Refs: map[string]string{}}
	switch {
	case c.vcs != nil:
		s.Repo = "repo-" + c.r.Role
		s.Refs, err = c.vcs.refs(ctx, c.repo(s))
	case c.local != "":
		err = c.readLocal(s)
	default:
		err = c.fetch(ctx, dial, s)
	}
	if err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = writeFile(filepath.Join(c.dir, "refs.json"), b)
	}
	if err != nil {
		return nil, err
	}
	c.prune(s, now)
	return s, nil
}

func (c *cache) readLocal(s *state) error {
	dir, err := gitDir(c.local)
	if err != nil {
		return err
	}
	ad, err := localRefs(dir)
	if err != nil {
		return err
	}
	o := openObjects(dir)
	defer o.Close()
	c.take(o, s, ad)
	return nil
}

// take keeps the refs that the refspecs name, as commits.
func (c *cache) take(o *objects, s *state, ad *refAd) {
	s.InvalidRefs = ad.invalidRefs
	for name, hash := range ad.refs {
		for _, spec := range c.r.Refspecs {
			dst, ok := spec.match(name)
			if !ok || !validRef(dst) {
				continue
			}
			if commit, ok := o.peel(hash); ok {
				s.Refs[dst] = commit
			}
		}
	}
}

// fetch gets the objects that are missing.
func (c *cache) fetch(ctx context.Context, dial Dialer, s *state) error {
	conn, err := connect(ctx, c.r, dial)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ad, err := conn.refs()
	if err != nil {
		return err
	}
	old := c.read()
	c.sweep(old)
	if packs, _ := filepath.Glob(filepath.Join(c.repo(old), "objects", "pack", "*.pack")); old != nil && len(packs) > maxPacks {
		old = nil
	}
	for _, scratch := range []bool{old == nil, true} {
		err = c.fetchInto(ctx, conn, ad, s, old, scratch)
		if err == nil || scratch || !errors.Is(err, errDamaged) {
			return err
		}
		// What is here is not whole: fetch all of it.
		_ = conn.Close()
		if conn, err = connect(ctx, c.r, dial); err != nil {
			return err
		}
		if ad, err = conn.refs(); err != nil {
			return err
		}
	}
	return err
}

var errDamaged = errors.New("the cache is damaged")

// fetchInto fetches what old does not have, or everything, to a repository of its
// own.
func (c *cache) fetchInto(ctx context.Context, conn conn, ad *refAd, s, old *state, scratch bool) error {
	have := openObjects(c.repo(old))
	defer have.Close()
	wants := c.wants(ad, func(hash string) bool { return !scratch && have.has(hash) })
	var haves []string
	if !scratch {
		haves = old.haves(have)
		s.Repo = old.Repo
	}
	if scratch || len(wants) > 0 {
		tmp, err := os.MkdirTemp(c.dir, "repo-")
		if err != nil {
			return err
		}
		defer func() {
			if s.Repo != filepath.Base(tmp) {
				_ = os.RemoveAll(tmp)
			}
		}()
		if err := os.MkdirAll(filepath.Join(tmp, "objects", "pack"), 0o700); err != nil {
			return err
		}
		if len(wants) > 0 {
			if err := receive(conn, ad, request(ad, wants, haves), tmp); err != nil {
				return err
			}
		}
		if scratch {
			s.Repo = filepath.Base(tmp)
		} else if err := adopt(tmp, c.repo(old)); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	o := openObjects(c.repo(s))
	defer o.Close()
	for _, w := range wants {
		if !o.has(w) {
			return fmt.Errorf("%w: the remote did not send %s", errDamaged, w)
		}
	}
	c.take(o, s, ad)
	return nil
}

// wants are the refs to fetch, without those that are here.
func (c *cache) wants(ad *refAd, here func(hash string) bool) []string {
	set := map[string]bool{}
	for name, hash := range ad.refs {
		if slices.ContainsFunc(c.r.Refspecs, func(spec Refspec) bool { _, ok := spec.match(name); return ok }) && !here(hash) {
			set[hash] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// haves are commits of a state that the remote need not send.
func (s *state) haves(o *objects) []string {
	set := map[string]bool{}
	for _, h := range s.Refs {
		if len(set) < 256 && o.has(h) {
			set[h] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// receive writes the pack of an answer to a repository.
func receive(conn conn, ad *refAd, req []byte, dir string) error {
	pack, err := conn.fetch(ad, req)
	if err != nil {
		return err
	}
	o := openObjects(dir)
	defer o.Close()
	limited := &io.LimitedReader{R: pack, N: maxPack}
	f, err := os.Create(filepath.Join(dir, "received"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	if err = checked(limited, f); err == nil {
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			err = packfile.UpdateObjectStorage(o.st, bufio.NewReaderSize(f, 1<<16))
		}
	}
	if limited.N <= 0 {
		return fmt.Errorf("the repository has more than %d bytes", int64(maxPack))
	}
	if err != nil {
		return fmt.Errorf("receive the objects: %w", err)
	}
	return nil
}

// adopt moves the packs of a repository to another one. A pack counts once its
// .pack is there, so that comes last.
func adopt(from, to string) error {
	from, to = filepath.Join(from, "objects", "pack"), filepath.Join(to, "objects", "pack")
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, packs := range []bool{false, true} {
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".pack") != packs || !e.Type().IsRegular() {
				continue
			}
			if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep removes what killed updates left, and repositories other than that of s.
func (c *cache) sweep(s *state) {
	for _, pattern := range []string{"repo-*", "trees/new-*", ".new-*", "trees/.new-*"} {
		left, _ := filepath.Glob(filepath.Join(c.dir, pattern))
		for _, p := range left {
			if s == nil || p != c.repo(s) {
				_ = os.RemoveAll(p)
			}
		}
	}
}

// prune removes trees that no ref has and nobody has used for a while.
func (c *cache) prune(s *state, now time.Time) {
	entries, err := os.ReadDir(c.trees())
	if err != nil {
		return
	}
	live := map[string]bool{}
	for _, commit := range s.Refs {
		live[commit] = true
	}
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil || !e.IsDir() || live[e.Name()] || now.Sub(fi.ModTime()) < keepTrees {
			continue
		}
		p := filepath.Join(c.trees(), e.Name())
		gone := filepath.Join(c.trees(), "new-"+e.Name())
		if os.Rename(p, gone) == nil {
			_ = os.RemoveAll(gone)
			_ = os.Remove(p + ".notes")
		}
	}
}

// ready is tree for a commit whose files are there.
func (c *cache) ready(commit string, now time.Time) (dir string, notes []string, ok bool) {
	dir = filepath.Join(c.trees(), commit)
	fi, err := os.Stat(dir)
	if err != nil || !fi.IsDir() {
		return dir, nil, false
	}
	if now.Sub(fi.ModTime()) > time.Hour {
		_ = os.Chtimes(dir, now, now)
	}
	if b, err := os.ReadFile(dir + ".notes"); err == nil {
		_ = json.Unmarshal(b, &notes)
	}
	return dir, notes, true
}

// tree returns the directory with the files of a commit, and what of the commit
// is not served.
func (c *cache) tree(ctx context.Context, commit string, now time.Time) (string, []string, error) {
	if dir, notes, ok := c.ready(commit, now); ok {
		return dir, notes, nil
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	dir, notes, ok := c.ready(commit, now)
	if ok {
		return dir, notes, nil
	}
	if err := os.MkdirAll(c.trees(), 0o700); err != nil {
		return "", nil, err
	}
	tmp, err := os.MkdirTemp(c.trees(), "new-")
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if notes, err = c.files(ctx, commit, tmp); err != nil {
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		return "", nil, fmt.Errorf("%w (brine run fileserver.clear_cache removes the cache, if it is damaged)", err)
	}
	_ = os.Remove(dir + ".notes")
	if len(notes) > 0 {
		b, err := json.Marshal(notes)
		if err == nil {
			err = writeFile(dir+".notes", b)
		}
		if err != nil {
			return "", nil, err
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		return "", nil, err
	}
	return dir, notes, nil
}

// files writes the files of a commit to the empty directory dir.
func (c *cache) files(ctx context.Context, commit, dir string) (notes []string, err error) {
	if c.vcs != nil {
		return exported(ctx, c.vcs, c.repo(c.read()), commit, dir)
	}
	o, err := c.open()
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return checkoutTree(ctx, o, commit, dir)
}

// writeFile writes a file that is whole or not there.
func writeFile(name string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// clear removes the cache. Who uses it at that time may fail.
func (c *cache) clear(ctx context.Context) error {
	if _, err := os.Stat(c.dir); err != nil {
		return nil
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	_ = os.Remove(filepath.Join(c.dir, "refs.json"))
	c.sweep(nil)
	return os.RemoveAll(c.trees())
}
