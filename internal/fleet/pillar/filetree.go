package pillar

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"brine/internal/core/render"
	"brine/internal/core/target"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Bounds of a file tree.
const (
	treeMaxDepth = 64
	treeMaxFile  = 64 << 20 // bytes
)

// A fileTree is the external pillar file_tree: directories are dicts, files
// are text.
type fileTree struct {
	j           *job
	followLinks bool
	keepNewline value.Value // a bool, or a list of globs
	template    bool
	renderer    string
}

// extFileTree makes pillar of the files below root_dir: those of the
// nodegroups that the target is in, then those of its own id.
//
// Text is text here; Salt gives bytes, which outputs print as b'...'.
//
// Salt: salt/pillar/file_tree.py.
func (j *job) extFileTree(ctx context.Context, a extArgs) (value.Mapping, error) {
	root, _ := a.get(0, "root_dir").(string)
	if root == "" {
		return nil, fmt.Errorf("file_tree: no root_dir specified")
	}
	if st, err := j.env.Host.Stat(root); err != nil || !st.Mode.IsDir() {
		j.warn(source.Pos{}, "ext_pillar file_tree: root_dir %s does not exist or is not a directory", root)
		return nil, nil
	}
	t := &fileTree{
		j:           j,
		followLinks: value.Truth(a.get(1, "follow_dir_links")),
		keepNewline: a.get(3, "keep_newline"),
		template:    value.Truth(a.kw.At("template")),
	}
	t.renderer, _ = a.kw.At("render_default").(string)
	switch t.keepNewline.(type) {
	case nil, bool, *value.List:
	default:
		j.warn(source.Pos{}, "ext_pillar file_tree: keep_newline must be either True/False or a list of file globs")
		return nil, nil
	}
	out := value.NewMap(0)
	groups := j.opts.Map("nodegroups")
	names, err := j.env.Host.ReadDir(filepath.Join(root, "nodegroups"))
	if err == nil {
		for _, name := range names {
			expr, ok := groups.Get(name)
			if !ok || !j.inGroup(name, expr, groups) {
				continue
			}
			m, err := t.dir(ctx, filepath.Join(root, "nodegroups", name), "", nil)
			if err != nil {
				return nil, err
			}
			out.Update(m)
		}
	}
	if id := j.env.ID; id != "" && filepath.Base(id) == id && id != ".." && id != "." {
		dir := filepath.Join(root, "hosts", id)
		if st, err := j.env.Host.Stat(dir); err == nil && st.Mode.IsDir() {
			m, err := t.dir(ctx, dir, "", nil)
			if err != nil {
				return nil, err
			}
			out = value.Update(out, m, true, false)
		}
	}
	return out, nil
}

func (j *job) inGroup(name string, expr value.Value, groups *value.Map) bool {
	m, err := target.Compile(name, "nodegroup", groups)
	if err != nil {
		j.warn(source.Pos{}, "nodegroup %q (%s): %v", name, value.Str(expr), err)
		return false
	}
	ok, err := m.Match(j.minion())
	return err == nil && ok
}

// dir makes a dict of a directory. open are the directories without links that
// led here: a link back to one is a loop and is not followed.
func (t *fileTree) dir(ctx context.Context, abs, rel string, open []string) (*value.Map, error) {
	h := t.j.env.Host
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	real, err := h.ReadTarget(abs)
	if err != nil {
		return nil, fmt.Errorf("file_tree: %w", err)
	}
	if slices.Contains(open, real) {
		return value.NewMap(0), nil
	}
	names, err := h.ReadDir(abs)
	if err != nil {
		return nil, fmt.Errorf("file_tree: %w", err)
	}
	m := value.NewMap(len(names))
	for _, name := range names {
		full, sub := filepath.Join(abs, name), filepath.Join(rel, name)
		st, err := h.Stat(full)
		switch {
		case err != nil:
			t.j.warn(source.Pos{}, "ext_pillar file_tree: %s: not a regular file", full)
		case st.Mode.IsDir():
			lst, err := h.Lstat(full)
			if err == nil && lst.Mode&fs.ModeSymlink != 0 && !t.followLinks || len(open) >= treeMaxDepth {
				m.Set(name, value.NewMap(0))
				continue
			}
			d, err := t.dir(ctx, full, sub, append(slices.Clip(open), real))
			if err != nil {
				return nil, err
			}
			m.Set(name, d)
		case st.Mode.IsRegular():
			v, err := t.file(ctx, full, sub, st.Size)
			if err != nil {
				return nil, err
			}
			m.Set(name, v)
		default:
			t.j.warn(source.Pos{}, "ext_pillar file_tree: %s: not a regular file", full)
		}
	}
	return m, nil
}

// file returns what is in a file: text, or bytes where it is none.
func (t *fileTree) file(ctx context.Context, abs, rel string, size int64) (value.Value, error) {
	if size > treeMaxFile {
		return nil, fmt.Errorf("file_tree: %s is larger than %d bytes", abs, treeMaxFile)
	}
	raw, err := t.j.env.Host.ReadFile(abs)
	if err != nil {
		return nil, fmt.Errorf("file_tree: %w", err)
	}
	if !utf8.Valid(raw) || strings.ContainsRune(string(raw), 0) {
		return value.Bytes(raw), nil
	}
	var v value.Value = string(raw)
	if t.template {
		v, err = t.j.engine.SLS(ctx, render.Input{Path: ":string:", Name: abs, Text: raw, Pipeline: t.renderer})
		if err != nil {
			return nil, err
		}
	}
	if s, ok := v.(string); ok && !t.keeps(rel) {
		v = strings.TrimSuffix(s, "\n")
	}
	return v, nil
}

// keeps reports whether a file keeps the newline at its end.
func (t *fileTree) keeps(rel string) bool {
	switch k := t.keepNewline.(type) {
	case bool:
		return k
	case *value.List:
		for _, pat := range k.Items {
			if value.Fnmatch(value.Str(pat), rel) {
				return true
			}
		}
	}
	return false
}
