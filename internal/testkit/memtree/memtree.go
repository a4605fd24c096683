// Package memtree is an [fun.Upstream] in memory, for tests.
package memtree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"sort"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A Tree is files by path. A path "dev:web.sls" is of the environment dev,
// others are of base.
type Tree map[string]string

// Parse returns the tree of a text in which a line "-- PATH --" begins each
// file.
func Parse(archive string) Tree {
	t := Tree{}
	name := ""
	for _, line := range strings.SplitAfter(archive, "\n") {
		trim := strings.TrimSpace(line)
		if strings.HasPrefix(trim, "-- ") && strings.HasSuffix(trim, " --") {
			name = strings.TrimSpace(trim[3 : len(trim)-3])
			t[name] = ""
		} else if name != "" {
			t[name] += line
		}
	}
	return t
}

// Env returns an environment for tests with t as its files. Warnings go to the
// test's log.
func (t Tree) Env(tb testing.TB, opts ...value.Value) *fun.Env {
	return &fun.Env{
		Identity:  fun.Identity{ID: "minion1", SaltEnv: "base", JID: "20260102030405000000"},
		Data:      fun.Data{Opts: value.MapOf(opts...), Grains: value.MapOf("id", "minion1", "role", "web"), Pillar: value.NewMap(0), Memo: &fun.Memo{}},
		Machine:   fun.Machine{Up: t},
		Functions: fun.Functions{Table: fun.NewTable(nil)},
		UI: fun.UI{Logger: slog.New(slog.DiscardHandler), OnWarn: func(w fun.Warning) {
			if tb != nil {
				tb.Logf("warning: %s: %s", w.Where, w.Text)
			}
		}},
	}
}

func split(name string) (saltenv, file string) {
	if e, p, ok := strings.Cut(name, ":"); ok {
		return e, p
	}
	return "base", name
}

func (t Tree) key(saltenv, p string) (string, bool) {
	for _, k := range []string{saltenv + ":" + p, p} {
		if e, _ := split(k); e != saltenv {
			continue
		}
		if _, ok := t[k]; ok {
			return k, true
		}
	}
	return "", false
}

// Envs returns base and the environments of paths, sorted.
func (t Tree) Envs(context.Context) ([]string, error) {
	seen := map[string]bool{"base": true}
	for name := range t {
		e, _ := split(name)
		seen[e] = true
	}
	var envs []string
	for e := range seen {
		envs = append(envs, e)
	}
	sort.Strings(envs)
	return envs, nil
}

// Stat returns a file.
func (t Tree) Stat(_ context.Context, saltenv, p string) (fun.FileInfo, error) {
	if k, ok := t.key(saltenv, p); ok {
		return fun.FileInfo{Path: p, SaltEnv: saltenv, Mode: 0o644, Size: int64(len(t[k]))}, nil
	}
	return fun.FileInfo{}, fmt.Errorf("%s: %w", p, fs.ErrNotExist)
}

// List returns the files below prefix.
func (t Tree) List(_ context.Context, saltenv, prefix string) ([]fun.FileInfo, error) {
	var out []fun.FileInfo
	for name := range t {
		if e, p := split(name); e == saltenv && (prefix == "" || strings.HasPrefix(p, strings.TrimSuffix(prefix, "/")+"/")) {
			out = append(out, fun.FileInfo{Path: p, SaltEnv: e, Mode: 0o644})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// Dirs returns the directories below prefix.
func (t Tree) Dirs(ctx context.Context, saltenv, prefix string) ([]string, error) {
	files, _ := t.List(ctx, saltenv, prefix)
	seen := map[string]bool{}
	var dirs []string
	for _, f := range files {
		for d := path.Dir(f.Path); d != "." && !seen[d]; d = path.Dir(d) {
			seen[d] = true
			dirs = append(dirs, d)
		}
	}
	sort.Strings(dirs)
	return dirs, nil
}

// Open opens a file.
func (t Tree) Open(_ context.Context, saltenv, p string) (io.ReadCloser, error) {
	k, ok := t.key(saltenv, p)
	if !ok {
		return nil, fmt.Errorf("%s: %w", p, fs.ErrNotExist)
	}
	return io.NopCloser(strings.NewReader(t[k])), nil
}

// Hash returns the SHA-256 of a file, whatever algo says.
func (t Tree) Hash(_ context.Context, saltenv, p, _ string) (string, error) {
	k, ok := t.key(saltenv, p)
	if !ok {
		return "", fmt.Errorf("%s: %w", p, fs.ErrNotExist)
	}
	sum := sha256.Sum256([]byte(t[k]))
	return hex.EncodeToString(sum[:]), nil
}

// Pillar returns the override alone.
func (t Tree) Pillar(_ context.Context, req fun.PillarRequest) (*value.Map, error) {
	return req.Override.Copy(), nil
}
