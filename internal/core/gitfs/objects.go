package gitfs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	objcache "github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"brine/internal/core/printable"
)

// Bounds of a tree that is served.
const (
	maxFile    = 512 << 20
	maxTotal   = 8 << 30
	maxEntries = 1_000_000
	maxDepth   = 100
	maxTreeObj = 64 << 20
	maxNotes   = 20
)

// objects reads the objects of a repository, bare or .git.
type objects struct{ st *filesystem.Storage }

func openObjects(dir string) *objects {
	return &objects{st: filesystem.NewStorageWithOptions(osfs.New(dir), objcache.NewObjectLRU(32<<20), filesystem.Options{
		KeepDescriptors: true, LargeObjectThreshold: 16 << 20, AlternatesFS: osfs.New("/"),
	})}
}

func (o *objects) Close() { _ = o.st.Close() }

func (o *objects) has(hash string) bool {
	return o.st.HasEncodedObject(plumbing.NewHash(hash)) == nil
}

// small returns an object that is held in memory.
func (o *objects) small(t plumbing.ObjectType, hash string) (plumbing.EncodedObject, []byte, error) {
	obj, err := o.st.EncodedObject(t, plumbing.NewHash(hash))
	if err != nil {
		return nil, nil, fmt.Errorf("object %s: %w", hash, err)
	}
	if obj.Size() > maxTreeObj {
		return nil, nil, fmt.Errorf("object %s has %d bytes, more than %d", hash, obj.Size(), maxTreeObj)
	}
	r, err := obj.Reader()
	if err != nil {
		return nil, nil, fmt.Errorf("object %s: %w", hash, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxTreeObj))
	if err != nil {
		return nil, nil, fmt.Errorf("object %s: %w", hash, err)
	}
	return obj, b, nil
}

// peel returns the commit that a commit or annotated tag names. ok is false
// where it names something else.
func (o *objects) peel(hash string) (commit string, ok bool) {
	for range 10 {
		obj, b, err := o.small(plumbing.AnyObject, hash)
		if err != nil {
			return "", false
		}
		switch obj.Type() {
		case plumbing.CommitObject:
			return hash, true
		case plumbing.TagObject:
			if hash = header(b, "object"); hash == "" {
				return "", false
			}
		default:
			return "", false
		}
	}
	return "", false
}

// header returns a header of a commit or tag.
func header(b []byte, key string) string {
	for line := range bytes.Lines(b) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 {
			break
		}
		if v, ok := bytes.CutPrefix(line, []byte(key+" ")); ok && len(v) == 40 {
			return string(v)
		}
	}
	return ""
}

// find returns the commit whose hash begins with prefix, if it is the only one.
func (o *objects) find(prefix string) (string, bool) {
	prefix = strings.ToLower(prefix)
	if len(prefix) == 40 {
		return o.peel(prefix)
	}
	b, err := hex.DecodeString(prefix[:len(prefix)/2*2])
	if err != nil {
		return "", false
	}
	all, err := o.st.HashesWithPrefix(b)
	if err != nil {
		return "", false
	}
	found := ""
	for _, h := range all {
		if s := h.String(); strings.HasPrefix(s, prefix) && s != found {
			if _, _, err := o.small(plumbing.CommitObject, s); err != nil {
				continue
			}
			if found != "" {
				return "", false
			}
			found = s
		}
	}
	return found, found != ""
}

// An entry is one name of a tree.
type entry struct {
	mode uint32
	name string
	hash string
}

// readTree takes a tree object apart.
func readTree(b []byte) ([]entry, error) {
	var out []entry
	for len(b) > 0 {
		head, rest, ok := bytes.Cut(b, []byte{0})
		modeText, name, ok2 := bytes.Cut(head, []byte(" "))
		if !ok || !ok2 || len(rest) < 20 || len(modeText) > 7 {
			return nil, errors.New("a tree of the repository is damaged")
		}
		var mode uint32
		for _, c := range modeText {
			if c < '0' || c > '7' {
				return nil, errors.New("a tree of the repository is damaged")
			}
			mode = mode<<3 | uint32(c-'0')
		}
		out = append(out, entry{mode: mode, name: string(name), hash: hex.EncodeToString(rest[:20])})
		b = rest[20:]
	}
	return out, nil
}

// A checkout writes the tree of a commit to a directory.
type checkout struct {
	o     *objects
	root  *os.Root
	notes []string
	left  int   // entries
	room  int64 // bytes
}

// checkoutTree writes the files of a commit to the empty directory dir. It never
// leaves dir, and follows no links. notes tell what of the tree is not served.
func checkoutTree(ctx context.Context, o *objects, commit, dir string) (notes []string, err error) {
	_, b, err := o.small(plumbing.CommitObject, commit)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	c := &checkout{o: o, root: root, left: maxEntries, room: maxTotal}
	if err := c.tree(ctx, header(b, "tree"), "", 0); err != nil {
		return nil, fmt.Errorf("commit %s: %w", commit, err)
	}
	return c.notes, nil
}

func (c *checkout) note(format string, args ...any) {
	if len(c.notes) < maxNotes {
		c.notes = append(c.notes, fmt.Sprintf(format, args...))
	}
}

func (c *checkout) tree(ctx context.Context, hash, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, b, err := c.o.small(plumbing.TreeObject, hash)
	if err != nil {
		return err
	}
	entries, err := readTree(b)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		p := path.Join(dir, e.name)
		if c.left--; c.left < 0 {
			return fmt.Errorf("it has more than %d files", maxEntries)
		}
		switch {
		case !validName(e.name):
			c.note("%s: a file must not have the name %s; it is left out", printable.Line(orDot(dir)), printable.Line(fmt.Sprintf("%q", e.name)))
			continue
		case seen[e.name]:
			c.note("%s is in the tree twice; the first is served", printable.Line(p))
			continue
		}
		seen[e.name] = true
		if err := c.entry(ctx, e, p, depth); err != nil {
			return err
		}
	}
	return nil
}

func orDot(dir string) string {
	if dir == "" {
		return "the top directory"
	}
	return dir
}

func (c *checkout) entry(ctx context.Context, e entry, p string, depth int) error {
	switch e.mode & 0o170000 {
	case 0o040000:
		if depth >= maxDepth {
			c.note("%s is more than %d directories deep; it is left out", printable.Line(p), maxDepth)
			return nil
		}
		if err := c.root.Mkdir(p, 0o755); err != nil {
			return err
		}
		return c.tree(ctx, e.hash, p, depth+1)
	case 0o120000:
		_, b, err := c.o.small(plumbing.BlobObject, e.hash)
		if err != nil {
			return err
		}
		if len(b) == 0 || len(b) > 4095 || bytes.IndexByte(b, 0) >= 0 {
			c.note("%s is not a usable symbolic link; it is left out", printable.Line(p))
			return nil
		}
		return c.root.Symlink(string(b), p)
	case 0o160000:
		c.note("%s is a submodule, which is not followed; add its repository to gitfs_remotes with a mountpoint", printable.Line(p))
		return nil
	case 0o100000:
		return c.file(e, p)
	}
	c.note("%s has the unknown mode %o; it is left out", printable.Line(p), e.mode)
	return nil
}

func (c *checkout) file(e entry, p string) error {
	obj, err := c.o.st.EncodedObject(plumbing.BlobObject, plumbing.NewHash(e.hash))
	if err != nil {
		return fmt.Errorf("%s: object %s: %w", printable.Line(p), e.hash, err)
	}
	if obj.Size() > maxFile {
		c.note("%s has %d bytes, more than %d; it is left out", printable.Line(p), obj.Size(), maxFile)
		return nil
	}
	if c.room -= obj.Size(); c.room < 0 {
		return fmt.Errorf("its files have more than %d bytes", int64(maxTotal))
	}
	mode := fs.FileMode(0o644)
	if e.mode&0o100 != 0 {
		mode = 0o755
	}
	r, err := obj.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := c.root.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.LimitReader(r, maxFile))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// validName reports whether a file of a tree may have a name: git refuses the
// others itself.
func validName(name string) bool {
	switch strings.ToLower(strings.TrimRight(name, ". ")) {
	case "", ".git", "git~1":
		return false
	}
	return name != "." && name != ".." && len(name) <= 255 && !strings.ContainsAny(name, "/\x00")
}

// gitDir returns the repository of a directory: itself where it is bare, its
// .git, or what the file .git of a linked work tree names.
func gitDir(dir string) (string, error) {
	bare := func(d string) bool {
		h, err1 := os.Stat(filepath.Join(d, "HEAD"))
		o, err2 := os.Stat(filepath.Join(d, "objects"))
		return err1 == nil && err2 == nil && h.Mode().IsRegular() && o.IsDir()
	}
	if bare(dir) {
		return dir, nil
	}
	git := filepath.Join(dir, ".git")
	if b, err := os.ReadFile(git); err == nil {
		if to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: "); ok {
			if !filepath.IsAbs(to) {
				to = filepath.Join(dir, to)
			}
			git = to
		}
	}
	if b, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil {
		to := strings.TrimSpace(string(b))
		if !filepath.IsAbs(to) {
			to = filepath.Join(git, to)
		}
		git = to
	}
	if bare(git) {
		return git, nil
	}
	if _, err := os.Stat(dir); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%s is not a git repository", dir)
}

// localRefs returns the refs of a repository on this machine.
func localRefs(dir string) (*refAd, error) {
	if err := supported(dir); err != nil {
		return nil, err
	}
	ad := &refAd{refs: map[string]string{}}
	if err := ad.packed(dir); err != nil {
		return nil, err
	}
	err := filepath.WalkDir(filepath.Join(dir, "refs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		text := strings.TrimSpace(string(b))
		if to, ok := strings.CutPrefix(text, "ref: "); ok {
			text = ad.refs[to]
		}
		ad.add(filepath.ToSlash(rel), text)
		return err
	})
	return ad, err
}

// add takes a ref with a hash and a name that git allows.
func (ad *refAd) add(name, hash string) {
	switch {
	case len(hash) != 40 || !isHex(hash):
	case !validRef(name):
		ad.invalidRefs++
	default:
		ad.refs[name] = strings.ToLower(hash)
	}
}

// packed reads the refs of packed-refs.
func (ad *refAd) packed(dir string) error {
	f, err := os.Open(filepath.Join(dir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if hash, name, ok := strings.Cut(sc.Text(), " "); ok {
			ad.add(name, hash)
		}
	}
	return sc.Err()
}

// supported says which extension of a repository on this machine is not read.
func supported(dir string) error {
	cfg, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(strings.ToLower(string(cfg))) {
		f := strings.Fields(strings.ReplaceAll(line, "=", " "))
		if slices.Equal(f, []string{"objectformat", "sha256"}) || slices.Equal(f, []string{"refstorage", "reftable"}) {
			return fmt.Errorf("repositories with %s %s are not supported", f[0], f[1])
		}
	}
	return nil
}
