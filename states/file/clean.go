package file

import (
	"context"
	"path/filepath"
	"sort"
	"strings"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// relative returns path as it is below dir.
func relative(dir, path string) string {
	if r, err := filepath.Rel(dir, path); err == nil {
		return r
	}
	return path
}

// included reports whether a relative path passes include_pat and exclude_pat.
// A pattern that is wrong matches nothing, and is warned of.
func (c *call) included(path string, include, exclude value.Value) bool {
	ok, err := fileserver.Included(path, include, exclude)
	if err != nil {
		c.Env.Warn(fun.Warning{Text: "pattern of " + c.path() + ": " + err.Error()})
	}
	return ok || err != nil && !value.Truth(include)
}

// keepFiles returns what the file states that are required have below dir.
//
// Salt: _gen_keep_files.
func (c *call) keepFiles(ctx context.Context, dir string, require value.Value) map[string]bool {
	keep := map[string]bool{}
	add := func(p string) { keep[filepath.Clean(p)] = true }
	reqs, ok := require.(*value.List)
	if !ok || c.Env.Run == nil {
		return keep
	}
	for _, r := range reqs.Items {
		m, ok := r.(*value.Map)
		if !ok || !m.Has("file") {
			continue
		}
		id := value.Str(m.At("file"))
		for _, low := range c.Env.Run.Low() {
			if low.Name == id || low.ID == id {
				c.keepLow(ctx, dir, low, add)
			}
		}
	}
	return keep
}

// keepLow adds what one required state has below dir.
func (c *call) keepLow(ctx context.Context, dir string, low *fun.Chunk, add func(string)) {
	name := c.Expand(low.Name)
	if !filepath.IsAbs(name) {
		return
	}
	if !c.IsDir(name) {
		add(name)
		return
	}
	if r := relative(dir, name); r == ".." || strings.HasPrefix(r, "../") {
		return
	}
	if low.State == "file" && low.Fun == "recurse" {
		set, err := c.recurseSet(ctx, recurseFrom(name, low))
		if err != nil {
			c.Env.Log().Warn("files of a required file.recurse", "id", low.ID, "error", err)
			return
		}
		for p := range set.keep {
			add(p)
		}
		return
	}
	add(name)
	_ = c.Walk(name, false, func(d string, dirs, names []string) error {
		for _, n := range append(append([]string(nil), dirs...), names...) {
			add(filepath.Join(d, n))
		}
		return nil
	})
}

// cleanDir removes what is in a directory and is neither kept nor above what is
// kept, and returns it, sorted. In test mode it only returns it.
//
// Salt: _clean_dir, _find_keep_files.
func (c *call) cleanDir(ctx context.Context, dir string, kept map[string]bool, exclude value.Value) ([]string, error) {
	keep := map[string]bool{dir: true}
	for p := range kept {
		for ; !keep[p]; p = filepath.Dir(p) {
			keep[p] = true
		}
	}
	var removed []string
	below, err := c.Below(dir)
	if err != nil {
		return nil, nil // there is nothing to clean, as where it cannot be read
	}
	defer below.Done()
	err = c.Walk(dir, false, func(d string, dirs, names []string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, n := range append(append([]string(nil), dirs...), names...) {
			full := filepath.Join(d, n)
			if keep[full] || !c.included(relative(dir, full), nil, exclude) {
				continue
			}
			removed = append(removed, full)
			if !c.Test {
				if _, err := below.Remove(full); err != nil {
					return err
				}
			}
		}
		return nil
	})
	sort.Strings(removed)
	return removed, err
}
