// Package formula adds formulas of known versions to a tree: formulas.yaml names
// git repositories and the versions that are wanted, formulas.lock the commits
// that are used and the hashes of their files.
//
// Both are in the directory of a [Tree]. [Tree.Backend] serves the formulas as
// roots after all others.
package formula

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/gitfs"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// The files of a tree.
const (
	ManifestName = "formulas.yaml"
	LockName     = "formulas.lock"
)

// A Formula is an entry of formulas.yaml.
type Formula struct {
	Name, URL, Ref string
	Root           string // directory of the repository that is served
	Mountpoint     string // where, below salt://

	remote *gitfs.Remote
	at     span
}

// A Locked formula is an entry of formulas.lock.
type Locked struct{ Name, URL, Ref, Commit, Hash string }

// span are the lines of an entry, from 1: the first, that of the ref, and the
// one after the last.
type span struct{ first, ref, end int }

// A Tree is a directory with formulas.
type Tree struct {
	Dir   string
	Store *gitfs.Store
}

func (t *Tree) path(name string) string { return filepath.Join(t.Dir, name) }

// Has reports whether there are formulas.
func (t *Tree) Has() bool {
	_, err1 := os.Stat(t.path(ManifestName))
	_, err2 := os.Stat(t.path(LockName))
	return err1 == nil || err2 == nil
}

func faultAt(pos source.Pos, format string, args ...any) error {
	return &source.Error{Pos: pos, Err: fmt.Errorf(format, args...)}
}

// entries reads the mapping "formulas" of a file; a missing file has none.
func entries(file string, keys []string, f func(name string, pos source.Pos, m *value.Map) error) error {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: file}, b)
	if err != nil {
		return err
	}
	top, ok := v.(*value.Map)
	if v != nil && !ok {
		return faultAt(source.Pos{File: file, Line: 1}, "must be a mapping with the key formulas, not %s", value.Kind(v))
	}
	for k := range top.All() {
		if value.Str(k) != "formulas" {
			return faultAt(top.Pos(k), "unknown key %q; there is formulas", value.Str(k))
		}
	}
	all, ok := top.At("formulas").(*value.Map)
	if !ok && top.At("formulas") != nil {
		return faultAt(top.Pos("formulas"), "formulas must be a mapping, not %s", value.Kind(top.At("formulas")))
	}
	for k, v := range all.All() {
		name, m := value.Str(k), all.Map(k)
		if _, ok := v.(*value.Map); !ok || !namePattern().MatchString(name) {
			return faultAt(all.Pos(k), "formula %q must be a name with the keys %s", name, strings.Join(keys, ", "))
		}
		for k, v := range m.All() {
			if !slices.Contains(keys, value.Str(k)) {
				return faultAt(m.Pos(k), "formula %s: unknown key %q%s", name, value.Str(k), source.DidYouMean(value.Str(k), keys))
			}
			if _, ok := v.(string); !ok {
				return faultAt(m.Pos(k), "formula %s: %s must be a string: write it in quotes", name, value.Str(k))
			}
		}
		if err := f(name, all.Pos(k), m); err != nil {
			return err
		}
	}
	return nil
}

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })

// Manifest reads formulas.yaml.
func (t *Tree) Manifest() ([]Formula, error) {
	var out []Formula
	file := t.path(ManifestName)
	err := entries(file, []string{"mountpoint", "ref", "root", "url"}, func(name string, pos source.Pos, m *value.Map) error {
		f := Formula{Name: name, URL: m.Str("url"), Ref: m.Str("ref"), Root: m.Str("root"), Mountpoint: m.Str("mountpoint")}
		f.at.first, f.at.ref = pos.Line, m.Pos("ref").Line
		if f.URL == "" || f.Ref == "" {
			return faultAt(pos, "formula %s needs url and ref", name)
		}
		if err := f.setRemote(); err != nil {
			return faultAt(pos, "formula %s: %w", name, err)
		}
		if n := len(out); n > 0 {
			out[n-1].at.end = pos.Line
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// Lock reads formulas.lock.
func (t *Tree) Lock() ([]Locked, error) {
	var out []Locked
	err := entries(t.path(LockName), []string{"commit", "hash", "ref", "url"}, func(name string, pos source.Pos, m *value.Map) error {
		l := Locked{Name: name, URL: m.Str("url"), Ref: m.Str("ref"), Commit: m.Str("commit"), Hash: m.Str("hash")}
		if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(l.Commit) || !strings.HasPrefix(l.Hash, "sha256:") {
			return faultAt(pos, "formula %s needs commit and hash; 'brine formula update %s' writes them", name, name)
		}
		out = append(out, l)
		return nil
	})
	return out, err
}

// Differences tells in what manifest and lock differ.
func Differences(fs []Formula, ls []Locked) []string {
	var out []string
	for i, f := range fs {
		k := slices.IndexFunc(ls, func(l Locked) bool { return l.Name == f.Name })
		switch {
		case k < 0:
			out = append(out, fmt.Sprintf("%s is not in %s", f.Name, LockName))
		case ls[k].URL != f.URL:
			out = append(out, fmt.Sprintf("%s has the URL %s in %s and %s in %s", f.Name, f.URL, ManifestName, ls[k].URL, LockName))
		case ls[k].Ref != f.Ref:
			out = append(out, fmt.Sprintf("%s has the version %s in %s and %s in %s", f.Name, f.Ref, ManifestName, ls[k].Ref, LockName))
		case k != i && len(fs) == len(ls):
			out = append(out, fmt.Sprintf("%s is at another place in %s", f.Name, LockName))
		}
	}
	for _, l := range ls {
		if !slices.ContainsFunc(fs, func(f Formula) bool { return f.Name == l.Name }) {
			out = append(out, fmt.Sprintf("%s is not in %s", l.Name, ManifestName))
		}
	}
	return out
}

// SplitURL takes URL@REF apart; the ref may be "".
func SplitURL(s string) (url, ref string) {
	i := strings.LastIndexByte(s, '@')
	if i <= strings.LastIndexAny(s, "/:") {
		return s, ""
	}
	return s[:i], s[i+1:]
}

// NameOf returns the name of the formula of a URL.
func NameOf(url string) string {
	return strings.TrimSuffix(path.Base(strings.TrimRight(strings.ReplaceAll(url, ":", "/"), "/")), ".git")
}

func quote(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }

// editManifest changes the lines of formulas.yaml; comments stay.
func (t *Tree) editManifest(edit func(lines []string) []string) error {
	b, err := os.ReadFile(t.path(ManifestName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := strings.TrimRight(string(b), "\n")
	var lines []string
	if text != "" {
		lines = strings.Split(text, "\n")
	}
	return t.write(ManifestName, strings.Join(edit(lines), "\n")+"\n")
}

func (t *Tree) writeLock(ls []Locked) error {
	var b strings.Builder
	b.WriteString("# Written by brine formula. Keep it in version control, and do not edit it.\nformulas:")
	if len(ls) == 0 {
		b.WriteString(" {}")
	}
	b.WriteString("\n")
	for _, l := range ls {
		fmt.Fprintf(&b, "  %s:\n    url: %s\n    ref: %s\n    commit: %s\n    hash: %s\n", l.Name, quote(l.URL), quote(l.Ref), quote(l.Commit), quote(l.Hash))
	}
	return t.write(LockName, b.String())
}

// write replaces a file as a whole.
func (t *Tree) write(name, text string) error {
	f, err := os.CreateTemp(t.Dir, "."+name+"-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), t.path(name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
