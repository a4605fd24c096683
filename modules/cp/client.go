package cp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/digest"
	"brine/internal/py/value"
)

// A Client fetches files for one Env: from file_roots, from this machine, and
// from web servers.
type Client struct {
	Env     *fun.Env
	SaltEnv string // of URLs that name none; "" is the Env's, else base
}

// Options are how a file is fetched.
type Options struct {
	SourceHash string // of a remote file: a copy in the cache that has it is not fetched again
	NoVerify   bool   // take any TLS certificate
	UseETag    bool   // ask the server whether the copy in the cache is still good
	Copy       bool   // copy a file of local file_roots to the cache, too
}

// New returns the client of env.
func New(env *fun.Env, saltenv string) *Client {
	if saltenv == "" {
		saltenv = env.SaltEnv
	}
	if saltenv == "" {
		saltenv = "base"
	}
	return &Client{Env: env, SaltEnv: saltenv}
}

// split returns path and saltenv of a salt:// URL or of a path on the server.
func (c *Client) split(source string) (rel, saltenv string, ok bool) {
	rel, saltenv, _ = fun.SplitURL(source)
	if saltenv == "" {
		saltenv = c.SaltEnv
	}
	rel, ok = cleanRel(rel)
	return rel, saltenv, ok
}

// Stat returns a file of the file server.
func (c *Client) Stat(ctx context.Context, source string) (fun.FileInfo, error) {
	rel, saltenv, ok := c.split(source)
	if !ok || c.Env.Up == nil {
		return fun.FileInfo{}, &fs.PathError{Op: "stat", Path: source, Err: fs.ErrNotExist}
	}
	return c.Env.Up.Stat(ctx, saltenv, rel)
}

// Exists reports whether a salt:// URL is a file or directory.
func (c *Client) Exists(ctx context.Context, source string) (bool, error) {
	_, err := c.Stat(ctx, source)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Open opens a source: a salt:// URL, a file:// URL, a path, or a remote URL,
// which is cached first.
func (c *Client) Open(ctx context.Context, source string, o Options) (io.ReadCloser, error) {
	switch {
	case Scheme(source) == "salt":
		rel, saltenv, ok := c.split(source)
		if !ok || c.Env.Up == nil {
			return nil, &fs.PathError{Op: "open", Path: source, Err: fs.ErrNotExist}
		}
		return c.Env.Up.Open(ctx, saltenv, rel)
	case IsRemote(source):
		p, err := c.CacheFile(ctx, source, o)
		if err != nil {
			return nil, err
		}
		return c.Env.Host.Open(p)
	}
	return c.Env.Host.Open(filePath(source))
}

// CacheFile brings a source to this machine and returns where it is, "" where
// it does not exist. A file that is on this machine already (a path, and unless
// o.Copy a file below local file_roots) is not copied.
// Salt: salt/modules/cp.py cache_file.
func (c *Client) CacheFile(ctx context.Context, source string, o Options) (string, error) {
	switch s := Scheme(source); {
	case s == "salt":
		return c.cacheSalt(ctx, source, o.Copy)
	case s == "http" || s == "https":
		return c.cacheWeb(ctx, source, "", o)
	case IsRemote(source):
		return "", fun.Errorf("%s sources are not supported: %s", s, Redact(source))
	}
	p := filePath(source)
	if !filepath.IsAbs(p) {
		return "", fun.Errorf("Path '%s' is not absolute", p)
	}
	if _, err := c.Env.Host.Stat(p); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return "", err
	}
	return p, nil
}

func (c *Client) cacheSalt(ctx context.Context, source string, always bool) (string, error) {
	info, err := c.Stat(ctx, source)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode.IsDir() {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if info.Abs != "" && !always {
		return info.Abs, nil
	}
	dest := filepath.Join(c.CacheDir(), "files", info.SaltEnv, filepath.FromSlash(info.Path))
	if ok, err := c.sameAsServer(ctx, info, dest); ok || err != nil {
		return dest, err
	}
	r, err := c.Env.Up.Open(ctx, info.SaltEnv, info.Path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if err := c.Put(r, dest, true); err != nil {
		if info.Abs != "" {
			return info.Abs, nil // who may not write the cache still has the file
		}
		return "", err
	}
	return dest, nil
}

// sameAsServer reports whether dest has the content of a server's file.
func (c *Client) sameAsServer(ctx context.Context, info fun.FileInfo, dest string) (bool, error) {
	if _, err := c.Env.Host.Stat(dest); err != nil {
		return false, nil
	}
	have, err := HashFile(c.Env.Host, dest, "sha256")
	if err != nil {
		return false, nil
	}
	want, err := c.Env.Up.Hash(ctx, info.SaltEnv, info.Path, "sha256")
	return have == want, err
}

// Put writes a file below the cache, or at a place of the user's, atomically. Below
// the cache, nobody else can read it: the tree may have secrets.
// Salt: salt/fileclient.py Client._cache_loc.
func (c *Client) Put(r io.Reader, dest string, makedirs bool) error {
	dirs, opts := fs.FileMode(0o755), c.options(dest)
	if opts.Mode != nil {
		dirs = 0o700
	}
	if makedirs {
		if err := c.Env.Host.MkdirAll(filepath.Dir(dest), dirs); err != nil {
			return err
		}
	}
	return c.Env.Host.WriteFile(dest, r, opts)
}

// options are those by which a file is written.
func (c *Client) options(dest string) host.WriteOptions {
	opts := host.WriteOptions{FollowLinks: true}
	if rel, err := filepath.Rel(c.CacheDir(), dest); err == nil && filepath.IsLocal(rel) {
		opts.Mode = new(fs.FileMode(0o600))
	}
	return opts
}

// CacheDir returns the directory of the cache.
func (c *Client) CacheDir() string {
	if c.Env.CacheDir != "" {
		return c.Env.CacheDir
	}
	return c.Env.Opts.Str("cachedir")
}

// A Sum is a digest and its algorithm.
type Sum struct{ Type, Hex string }

// Hash returns the digest of a salt:// file in the configured hash_type, and
// false where there is none. A path that is not a URL is a file on this machine.
// Salt: salt/modules/cp.py hash_file.
func (c *Client) Hash(ctx context.Context, source string) (Sum, bool, error) {
	algo := c.Env.Opts.Str("hash_type")
	if algo == "" {
		algo = "sha256"
	}
	var hex string
	var err error
	if Scheme(source) == "salt" {
		rel, saltenv, ok := c.split(source)
		if !ok || c.Env.Up == nil {
			return Sum{}, false, nil
		}
		if hex, err = c.Env.Up.Hash(ctx, saltenv, rel, algo); err != nil {
			if fi, no := c.Env.Up.Stat(ctx, saltenv, rel); no == nil && fi.Mode.IsDir() {
				return Sum{}, false, nil // directories are not files of the server
			}
		}
	} else {
		hex, err = HashFile(c.Env.Host, filePath(source), algo)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Sum{}, false, nil
	}
	return Sum{algo, hex}, err == nil, err
}

// IsCached returns where a source is in the cache, "" where it is not.
// Salt: salt/fileclient.py is_cached.
func (c *Client) IsCached(source string) string {
	var candidates []string
	switch {
	case Scheme(source) == "salt":
		rel, saltenv, ok := c.split(source)
		if !ok {
			return ""
		}
		candidates = []string{
			filepath.Join(c.CacheDir(), "files", saltenv, rel),
			c.extern(source, saltenv),
		}
	case IsRemote(source):
		candidates = []string{c.extern(source, c.SaltEnv)}
	default:
		p := filePath(source)
		candidates = []string{filepath.Join(c.CacheDir(), "localfiles", strings.TrimLeft(p, "/"))}
	}
	for _, p := range candidates {
		if st, err := c.Env.Host.Stat(p); err == nil && !st.Mode.IsDir() {
			return p
		}
	}
	return ""
}

// extern returns the place in the cache of a file from elsewhere.
// Salt: salt/fileclient.py _extrn_path.
func (c *Client) extern(source, saltenv string) string {
	host, name := urlName(source)
	if len(name) > 255 {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return filepath.Join(c.CacheDir(), "extrn_files", saltenv, host, filepath.Clean("/"+name))
}

// Fetch brings a source to dest, or to the cache where dest is "", and returns
// where it is, "" where the source does not exist or is a directory, or dest's
// directory is missing and makedirs is not set.
func (c *Client) Fetch(ctx context.Context, source, dest string, makedirs bool, o Options) (string, error) {
	if dest == "" {
		return c.CacheFile(ctx, source, o)
	}
	if Scheme(source) == "salt" {
		if fi, err := c.Stat(ctx, source); err == nil && fi.Mode.IsDir() {
			return "", nil
		}
	}
	h := c.Env.Host
	if st, err := h.Stat(dest); strings.HasSuffix(dest, "/") || err == nil && st.Mode.IsDir() {
		rel, _, _ := fun.SplitURL(source)
		dest = filepath.Join(dest, filepath.Base(rel))
	}
	if _, err := h.Stat(filepath.Dir(dest)); err != nil && !makedirs {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return "", err
	}
	if s := Scheme(source); s == "http" || s == "https" {
		if makedirs {
			if err := h.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
				return "", err
			}
		}
		return c.cacheWeb(ctx, source, dest, o)
	}
	r, err := c.Open(ctx, source, o)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer r.Close()
	return dest, c.Put(r, dest, makedirs)
}

// NewHash returns the hash function of a name, or an error in Salt's words.
func NewHash(algo string) (hash.Hash, error) {
	if h := digest.New(algo); h != nil {
		return h, nil
	}
	return nil, &value.PyError{Type: "ValueError", Msg: "Invalid hash type: " + algo}
}

// HashFile returns the hex digest of a file.
func HashFile(files host.Files, path, algo string) (string, error) {
	h, err := NewHash(algo)
	if err != nil {
		return "", err
	}
	f, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
