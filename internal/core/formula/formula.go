package formula

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fileserver"
	"brine/internal/core/gitfs"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Add adds a formula to the manifest and the lock.
func (t *Tree) Add(ctx context.Context, f Formula) (Locked, error) {
	have, err := t.Manifest()
	if err != nil {
		return Locked{}, err
	}
	if f.Name == "" {
		f.Name = NameOf(f.URL)
	}
	if !namePattern().MatchString(f.Name) {
		return Locked{}, fmt.Errorf("%q is not a name for a formula; give one with --name", f.Name)
	}
	if f.Ref == "" {
		return Locked{}, fmt.Errorf("no version was given: write %s@VERSION, a tag, commit or branch", f.URL)
	}
	for _, h := range have {
		if h.Name == f.Name {
			return Locked{}, fmt.Errorf("formula %s exists; 'brine formula update %s@%s' changes its version", f.Name, f.Name, f.Ref)
		}
	}
	if err := f.setRemote(); err != nil {
		return Locked{}, err
	}
	l, err := t.resolve(ctx, f)
	if err != nil {
		return Locked{}, err
	}
	ls, err := t.Lock()
	if err != nil {
		return Locked{}, err
	}
	err = t.editManifest(func(lines []string) []string {
		if len(have) == 0 {
			lines = slices.DeleteFunc(lines, func(s string) bool { return strings.HasPrefix(s, "formulas:") })
			lines = append(lines, "formulas:")
		}
		lines = append(lines, "  "+f.Name+":", "    url: "+quote(f.URL), "    ref: "+quote(f.Ref))
		if f.Root != "" {
			lines = append(lines, "    root: "+quote(f.Root))
		}
		if f.Mountpoint != "" {
			lines = append(lines, "    mountpoint: "+quote(f.Mountpoint))
		}
		return lines
	})
	if err != nil {
		return Locked{}, err
	}
	ls = slices.DeleteFunc(ls, func(o Locked) bool { return o.Name == l.Name })
	return l, t.writeLock(append(ls, l))
}

func (f *Formula) setRemote() (err error) {
	f.remote, err = gitfs.NewRemote("formula", f.Name, f.URL, f.Root, f.Mountpoint)
	return err
}

// resolve fetches a formula and returns its entry for the lock.
func (t *Tree) resolve(ctx context.Context, f Formula) (Locked, error) {
	commit, err := t.Store.Fetch(ctx, f.remote, f.Ref)
	if err != nil {
		return Locked{}, err
	}
	hash, err := t.hash(ctx, f, commit)
	return Locked{Name: f.Name, URL: f.URL, Ref: f.Ref, Commit: commit, Hash: hash}, err
}

func (t *Tree) hash(ctx context.Context, f Formula, commit string) (string, error) {
	dir, err := t.Store.Tree(ctx, f.remote, commit)
	if err != nil {
		return "", err
	}
	return hashTree(dir)
}

// Update brings the lock up to the manifest: the named formulas, else all, are
// resolved again. A name may be NAME@REF, which changes the version in the
// manifest first. It returns the new lock.
func (t *Tree) Update(ctx context.Context, names []string) ([]Locked, error) {
	fs, err := t.Manifest()
	if err != nil {
		return nil, err
	}
	old, err := t.Lock()
	if err != nil {
		return nil, err
	}
	chosen := map[string]bool{}
	refs := map[int]string{} // by line
	for _, n := range names {
		name, ref, _ := strings.Cut(n, "@")
		i, err := find(fs, name)
		if err != nil {
			return nil, err
		}
		chosen[name] = true
		if ref != "" {
			fs[i].Ref = ref
			refs[fs[i].at.ref] = ref
		}
	}
	var out []Locked
	for _, f := range fs {
		k := slices.IndexFunc(old, func(l Locked) bool { return l.Name == f.Name && l.URL == f.URL && l.Ref == f.Ref })
		if len(names) > 0 && !chosen[f.Name] && k >= 0 {
			out = append(out, old[k])
			continue
		}
		l, err := t.resolve(ctx, f)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	if len(refs) > 0 {
		err := t.editManifest(func(lines []string) []string {
			for n, ref := range refs {
				indent := lines[n-1][:len(lines[n-1])-len(strings.TrimLeft(lines[n-1], " "))]
				lines[n-1] = indent + "ref: " + quote(ref)
			}
			return lines
		})
		if err != nil {
			return nil, err
		}
		if now, err := t.Manifest(); err != nil || len(Differences(now, out)) > 0 {
			return nil, fmt.Errorf("%s could not be changed: write each key on a line of its own", ManifestName)
		}
	}
	return out, t.writeLock(out)
}

func find(fs []Formula, name string) (int, error) {
	names := make([]string, 0, len(fs))
	for i, f := range fs {
		if f.Name == name {
			return i, nil
		}
		names = append(names, f.Name)
	}
	return 0, fmt.Errorf("there is no formula %q%s", name, source.DidYouMean(name, names))
}

// Remove takes formulas out of the manifest and the lock.
func (t *Tree) Remove(names []string) error {
	for _, name := range names {
		if err := t.remove(name); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) remove(name string) error {
	fs, err := t.Manifest()
	if err != nil {
		return err
	}
	i, err := find(fs, name)
	if err != nil {
		return err
	}
	ls, err := t.Lock()
	if err != nil {
		return err
	}
	err = t.editManifest(func(lines []string) []string {
		lines = without(lines, fs[i].at)
		if k := slices.Index(lines, "formulas:"); len(fs) == 1 && k >= 0 {
			lines[k] = "formulas: {}"
		}
		return lines
	})
	if err != nil {
		return err
	}
	if now, err := t.Manifest(); err != nil || len(now) != len(fs)-1 {
		return fmt.Errorf("%s could not be changed: write each key on a line of its own", ManifestName)
	}
	return t.writeLock(slices.DeleteFunc(ls, func(l Locked) bool { return l.Name == name }))
}

// without removes the lines of an entry. Of the last one, those that are
// indented further than its name belong to it.
func without(lines []string, at span) []string {
	if at.end == 0 {
		at.end = at.first + 1
		for at.end <= len(lines) && strings.HasPrefix(lines[at.end-1], "   ") {
			at.end++
		}
	}
	return slices.Delete(lines, at.first-1, min(at.end-1, len(lines)))
}

// Verify returns what is wrong: manifest and lock differ, a commit is not
// available, or its files do not have the hash of the lock. It changes no file
// of the tree.
func (t *Tree) Verify(ctx context.Context) error {
	fs, err := t.Manifest()
	if err != nil {
		return err
	}
	ls, err := t.Lock()
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range Differences(fs, ls) {
		errs = append(errs, errors.New(d))
	}
	for _, l := range ls {
		i, err := find(fs, l.Name)
		if err != nil {
			continue
		}
		hash, err := t.hash(ctx, fs[i], l.Commit)
		switch {
		case err != nil:
			errs = append(errs, err)
		case hash != l.Hash:
			errs = append(errs, fmt.Errorf("the files of %s at %s have the hash %s, not %s as in %s", l.Name, l.Commit, hash, l.Hash, LockName))
		}
	}
	return errors.Join(errs...)
}

// hashTree returns the hash of the names, kinds and contents of files.
func hashTree(dir string) (string, error) {
	all := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		kind, one := "file", sha256.New()
		if fi.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			kind = "link"
			_, _ = io.WriteString(one, to)
		} else {
			if fi.Mode()&0o100 != 0 {
				kind = "program"
			}
			f, err := os.Open(p)
			if err != nil {
				return err
			}
			_, err = io.Copy(one, f)
			_ = f.Close()
			if err != nil {
				return err
			}
		}
		fmt.Fprintf(all, "%s %x %s\x00", kind, one.Sum(nil), filepath.ToSlash(rel))
		return nil
	})
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), err
}

// A Backend serves the formulas of the lock.
type Backend struct {
	t *Tree

	mu   sync.Mutex
	done bool
	dirs []fileserver.Dir
	err  error
	list *value.List
}

// Backend returns the backend "formulas".
func (t *Tree) Backend() *Backend { return &Backend{t: t} }

// Name is "formulas".
func (b *Backend) Name() string { return "formulas" }

// Envs returns none: formulas are roots of the saltenvs that there are.
func (b *Backend) Envs(context.Context) ([]string, error) { return nil, nil }

// Dirs returns the trees of the formulas, for any saltenv that another backend
// has. It fails where manifest and lock differ.
func (b *Backend) Dirs(ctx context.Context, _ string) ([]fileserver.Dir, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		b.dirs, b.list, b.err = b.load(ctx)
		b.done = ctx.Err() == nil
	}
	return b.dirs, false, b.err
}

// Sources returns the commit of each formula.
func (b *Backend) Sources(ctx context.Context) (*value.List, error) {
	_, _, err := b.Dirs(ctx, "")
	return b.list, err
}

func (b *Backend) load(ctx context.Context) ([]fileserver.Dir, *value.List, error) {
	fs, err := b.t.Manifest()
	if err != nil {
		return nil, nil, err
	}
	ls, err := b.t.Lock()
	if err != nil {
		return nil, nil, err
	}
	if d := Differences(fs, ls); len(d) > 0 {
		return nil, nil, fmt.Errorf("%s: %s; run 'brine formula update'", b.t.path(ManifestName), strings.Join(d, "; "))
	}
	var dirs []fileserver.Dir
	list := value.NewList()
	for i, f := range fs {
		tree, err := b.t.Store.Tree(ctx, f.remote, ls[i].Commit)
		if err != nil {
			return nil, nil, err
		}
		dirs = append(dirs, fileserver.Dir{Path: b.t.Store.Root(f.remote, f.Ref, tree, f.remote.Root), Mount: f.remote.Mountpoint, Within: tree})
		list.Append(value.MapOf("remote", f.Name, "ref", f.Ref, "commit", ls[i].Commit))
	}
	return dirs, list, nil
}
