package agent

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Bounds of the cache.
const (
	maxCached = 1 << 30 // bytes of files that are kept from run to run
	maxMemory = 16 << 20
	maxTrees  = 8
	touchAge  = 24 * time.Hour
)

// A cache keeps files by the hash of their content: below a directory of the
// user's own, or, where there is none that can be written, small ones in
// memory. It is safe for concurrent use.
type cache struct {
	host   host.Host
	dir    string // "" is memory only
	log    func(msg string, args ...any)
	tmp    atomic.Int64
	stored atomic.Bool // something was stored in this run

	mu  sync.Mutex
	mem map[string][]byte
	sum int // bytes in mem
}

// openCache returns the cache in dir. A directory that is not the user's alone
// is not used.
func openCache(h host.Host, dir string, log func(string, ...any)) *cache {
	c := &cache{host: h, log: log, mem: map[string][]byte{}}
	if dir == "" {
		return c
	}
	if err := ownDir(h, dir); err != nil {
		log("files are not kept from run to run", "err", err)
		return c
	}
	c.dir = dir
	return c
}

// ownDir creates dir if it is missing and checks that it belongs to the user,
// that nobody else can enter it and that it is not a link.
func ownDir(h host.Host, dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("directory %s is not absolute", dir)
	}
	if err := h.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	st, err := h.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !st.Mode.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case st.UID != h.Geteuid():
		return fmt.Errorf("directory %s belongs to user %d", dir, st.UID)
	case st.Mode.Perm()&0o022 != 0:
		return fmt.Errorf("directory %s can be written by others", dir)
	}
	if st.Mode.Perm()&0o077 != 0 {
		return h.Chmod(dir, 0o700)
	}
	return nil
}

func (c *cache) path(sum string) string { return filepath.Join(c.dir, "files", sum[:2], sum) }

func isSum(s string) bool {
	return len(s) == hex.EncodedLen(sha256.Size) && strings.Trim(s, "0123456789abcdef") == ""
}

// has reports whether a file of this hash and size is there; size < 0 is any.
func (c *cache) has(sum string, size int64) bool {
	if !isSum(sum) {
		return false
	}
	c.mu.Lock()
	_, ok := c.mem[sum]
	c.mu.Unlock()
	if ok || c.dir == "" {
		return ok
	}
	st, err := c.host.Lstat(c.path(sum))
	if err != nil || !st.Mode.IsRegular() || st.UID != c.host.Geteuid() || size >= 0 && st.Size != size {
		return false
	}
	if now := c.host.Now(); now.Sub(st.Mtime) > touchAge {
		_ = c.host.Chtimes(c.path(sum), now, now) // prune takes the oldest
	}
	return true
}

// open opens a file by its hash; fs.ErrNotExist where it is not there.
func (c *cache) open(sum string, size int64) (io.ReadCloser, error) {
	if !isSum(sum) {
		return nil, fs.ErrNotExist
	}
	c.mu.Lock()
	b, ok := c.mem[sum]
	c.mu.Unlock()
	if ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	if !c.has(sum, size) {
		return nil, fs.ErrNotExist
	}
	return c.host.Open(c.path(sum))
}

// errNoRoom says that the cache cannot keep a file.
var errNoRoom = errors.New("the cache cannot be written")

// put stores what r has and returns its hash and size. An error that is
// errNoRoom says that the cache is at fault and not r; what was read is lost.
func (c *cache) put(r io.Reader) (string, int64, error) {
	if c.dir == "" {
		return c.putMem(r)
	}
	cr := &countReader{r: r, h: sha256.New()}
	name := fmt.Sprintf("tmp-%d-%d", c.host.Getpid(), c.tmp.Add(1))
	tmp := filepath.Join(c.dir, "files", name)
	mode := fs.FileMode(0o600)
	err := c.host.MkdirAll(filepath.Dir(tmp), 0o700)
	if err == nil {
		err = c.host.WriteFile(tmp, cr, host.WriteOptions{Mode: &mode})
	}
	if err != nil {
		if cr.err != nil {
			return "", 0, cr.err
		}
		return "", 0, fmt.Errorf("%w: %w", errNoRoom, err)
	}
	sum := hex.EncodeToString(cr.h.Sum(nil))
	err = c.host.MkdirAll(filepath.Dir(c.path(sum)), 0o700)
	if err == nil {
		err = c.host.Rename(tmp, c.path(sum))
	}
	if err != nil {
		_ = c.host.Remove(tmp)
		return "", 0, fmt.Errorf("%w: %w", errNoRoom, err)
	}
	c.stored.Store(true)
	return sum, cr.n, nil
}

// unseal stores a file that the controller had written, encrypted, beside those of
// the cache: under a name, with a key, and with the hash of its content.
func (c *cache) unseal(at *value.Map) (string, int64, error) {
	name := at.Str("sealed")
	key, err := hex.DecodeString(at.Str("key"))
	if err != nil || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || c.dir == "" {
		return "", 0, errOther
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", 0, err
	}
	p := filepath.Join(c.dir, "files", "tmp-"+name)
	f, err := c.host.Open(p)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = c.host.Remove(p) }() // else it goes when it is old
	defer f.Close()
	sum, size, err := c.put(cipher.StreamReader{S: cipher.NewCTR(block, make([]byte, aes.BlockSize)), R: f})
	if err == nil && sum != at.Str("sum") {
		err = errOther
	}
	return sum, size, err
}

// errOther says that a file is not the one that the controller speaks of.
var errOther = errors.New("what arrived is not what was sent")

// putMem keeps a small file in memory.
func (c *cache) putMem(r io.Reader) (string, int64, error) {
	c.mu.Lock()
	room := maxMemory - c.sum
	c.mu.Unlock()
	b, err := io.ReadAll(io.LimitReader(r, int64(room)+1))
	if err != nil {
		return "", 0, err
	}
	if len(b) > room {
		return "", 0, errNoRoom
	}
	h := sha256.Sum256(b)
	sum := hex.EncodeToString(h[:])
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.mem[sum]; !ok {
		c.mem[sum] = b
		c.sum += len(b)
	}
	return sum, int64(len(b)), nil
}

// A countReader hashes what passes and keeps the error of its source apart.
type countReader struct {
	r   io.Reader
	h   hash.Hash
	n   int64
	err error
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.h.Write(p[:n])
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// trees returns the names of the trees that are kept.
func (c *cache) trees() []string {
	if c.dir == "" {
		return nil
	}
	names, err := c.host.ReadDir(filepath.Join(c.dir, "trees"))
	if err != nil {
		return nil
	}
	var ids []string
	for _, n := range names {
		if isSum(n) && len(ids) < 2*maxTrees {
			ids = append(ids, n)
		}
	}
	return ids
}

// tree returns a kept tree.
func (c *cache) tree(id string) ([]byte, bool) {
	if c.dir == "" || !isSum(id) {
		return nil, false
	}
	p := filepath.Join(c.dir, "trees", id)
	st, err := c.host.Lstat(p)
	if err != nil || !st.Mode.IsRegular() || st.Size > wire.MaxValue {
		return nil, false
	}
	b, err := c.host.ReadFile(p)
	if err != nil || wire.TreeID(b) != id {
		return nil, false
	}
	return b, true
}

// putTree keeps a tree, and few others.
func (c *cache) putTree(id string, b []byte) {
	if c.dir == "" {
		return
	}
	dir := filepath.Join(c.dir, "trees")
	mode := fs.FileMode(0o600)
	if err := c.host.MkdirAll(dir, 0o700); err != nil {
		return
	}
	if err := c.host.WriteFile(filepath.Join(dir, id), bytes.NewReader(b), host.WriteOptions{Mode: &mode}); err != nil {
		return
	}
	c.stored.Store(true)
}

// prune removes the files that were not used for longest, if there is too much.
func (c *cache) prune() {
	if c.dir == "" || !c.stored.Load() {
		return
	}
	c.pruneDir(filepath.Join(c.dir, "trees"), maxTrees, maxCached)
	dirs, err := c.host.ReadDir(filepath.Join(c.dir, "files"))
	if err != nil {
		return
	}
	var all []host.Stat
	for _, d := range dirs {
		if strings.HasPrefix(d, "tmp-") {
			c.stale(filepath.Join(c.dir, "files", d))
			continue
		}
		all = append(all, c.stats(filepath.Join(c.dir, "files", d))...)
	}
	c.drop(all, len(all), maxCached)
}

// stale removes a temporary file that a killed agent left.
func (c *cache) stale(p string) {
	if st, err := c.host.Lstat(p); err == nil && c.host.Now().Sub(st.Mtime) > touchAge {
		_ = c.host.Remove(p)
	}
}

func (c *cache) stats(dir string) []host.Stat {
	names, err := c.host.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []host.Stat
	for _, n := range names {
		p := filepath.Join(dir, n)
		if st, err := c.host.Lstat(p); err == nil && st.Mode.IsRegular() {
			st.Path = p
			out = append(out, st)
		}
	}
	return out
}

func (c *cache) pruneDir(dir string, count int, size int64) { c.drop(c.stats(dir), count, size) }

// drop removes the oldest files beyond a count and a sum of bytes.
func (c *cache) drop(all []host.Stat, count int, size int64) {
	sort.Slice(all, func(i, j int) bool { return all[i].Mtime.After(all[j].Mtime) })
	for i, st := range all {
		size -= st.Size
		if i >= count || size < 0 {
			_ = c.host.Remove(st.Path)
		}
	}
}
