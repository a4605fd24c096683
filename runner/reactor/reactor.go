// Package reactor turns events into calls: the option reactor names SLS files by globs of
// tags, and these files, rendered with an event, say what is called. Start at [Read] and
// [Map.React].
//
// Salt: salt/utils/reactor.py.
package reactor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// A Map is the option reactor: which files react to which tags, in their order.
type Map []Entry

// An Entry is the files that react to the tags that a glob matches.
type Entry struct {
	Glob  string
	Files []string // paths, globs of paths, or salt:// URLs
	Pos   source.Pos
}

// maxMap bounds the file that the option may name, in bytes.
const maxMap = 4 << 20

// Read reads the option reactor of a configuration: a list of mappings from a glob of tags
// to files, or the path of a YAML file that has such a list. dir is where relative paths
// begin, place where an option was written. An entry of another
// shape, which Salt passes over silently, is an error.
func Read(h host.Host, opts *value.Map, dir string, place func(option string) source.Pos) (Map, error) {
	v := opts.At("reactor")
	pos := place("reactor")
	if path, ok := v.(string); ok && path != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		var err error
		if v, err = readFile(h, path); err != nil {
			return nil, &source.Error{Pos: pos, Err: fmt.Errorf("reactor: %w", err)}
		}
		pos = source.Pos{File: path}
	}
	switch list := v.(type) {
	case nil:
		return nil, nil
	case *value.List:
		return entries(list, dir, pos)
	case string:
		if list == "" {
			return nil, nil
		}
	}
	return nil, &source.Error{Pos: pos, Err: fmt.Errorf("reactor must be a list, not %s", value.Kind(v)), Hint: `write "- 'salt/minion/*/start': [start.sls]"`}
}

// readFile reads the list of reactors in a file of its own.
func readFile(h host.Host, path string) (value.Value, error) {
	st, err := h.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size > maxMap {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxMap)
	}
	text, err := h.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return yamlsalt.Load(yamlsalt.LoadOptions{Name: path}, text)
}

// entries reads a list of reactors.
func entries(list *value.List, dir string, pos source.Pos) (Map, error) {
	var out Map
	var faults source.Errors
	for i, x := range list.Items {
		at := list.PosAt(i)
		if at.IsZero() {
			at = pos
		}
		bad := func(format string, args ...any) {
			faults = append(faults, &source.Error{Pos: at, Err: fmt.Errorf("reactor: "+format, args...), Hint: `an entry is a glob of tags with a list of files: "- 'deploy/*': [salt://reactor/deploy.sls]"`})
		}
		m, ok := x.(*value.Map)
		if !ok || m.Len() != 1 {
			bad("item %d must be a mapping with one key, not %s", i+1, value.Repr(x))
			continue
		}
		k, v := m.Entry(0)
		glob, isText := k.(string)
		if !isText {
			bad("the glob of item %d must be a string, not %s", i+1, value.Repr(k))
			continue
		}
		if p := m.Pos(k); !p.IsZero() {
			at = p
		}
		e := Entry{Glob: glob, Pos: at}
		switch files := v.(type) {
		case string:
			e.Files = []string{inDir(files, dir)}
		case *value.List:
			for _, f := range files.Items {
				name, isText := f.(string)
				if !isText || name == "" {
					bad("%s: the name of a file must be a string, not %s", glob, value.Repr(f))
					continue
				}
				e.Files = append(e.Files, inDir(name, dir))
			}
		}
		if len(e.Files) == 0 {
			bad("%s: no file reacts", glob)
			continue
		}
		out = append(out, e)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return out, nil
}

func inDir(name, dir string) string {
	if strings.Contains(name, "://") || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Match returns the entries whose globs match a tag, in their order.
func (m Map) Match(tag string) []Entry {
	return slices.DeleteFunc(slices.Clone(m), func(e Entry) bool { return !value.Fnmatch(e.Glob, tag) })
}

// Value is the map as reactor.list returns it: a list of {glob: [file, ...]}.
func (m Map) Value() *value.List {
	out := value.NewList()
	for _, e := range m {
		out.Append(value.MapOf(e.Glob, value.Strings(e.Files...)))
	}
	return out
}
