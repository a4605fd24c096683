package trial

import (
	"path/filepath"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/casefile"
)

// expectSLS is the SLS with the states that a case expects to report no change.
const expectSLS = "brine_test_expected"

// A workspace has the files of a case that are not part of the tree: its top file, its
// pillar, the states that it expects.
type workspace struct {
	dir    string
	states bool // it has SLS files
	pillar bool // it has a pillar
}

// newWorkspace writes the files of a case into a directory.
func newWorkspace(h host.Host, dir string, c *casefile.Case) (*workspace, error) {
	w := &workspace{dir: dir}
	write := w.writer(h)
	if c.Top != nil {
		w.states = true
		if err := writeYAML(write, "states/top.sls", c.Top); err != nil {
			return nil, err
		}
	}
	if len(c.Expect.States) > 0 {
		w.states = true
		if err := writeYAML(write, "states/"+expectSLS+".sls", expectedStates(c)); err != nil {
			return nil, err
		}
	}
	if len(c.Pillar) == 0 && c.PillarTop == nil {
		return w, nil
	}
	w.pillar = true
	names := value.NewList()
	for _, p := range c.Pillar {
		names.Append(p.Name)
		file := "pillar/" + strings.ReplaceAll(p.Name, ".", "/") + ".sls"
		if p.File == "" {
			if err := writeYAML(write, file, p.Data); err != nil {
				return nil, err
			}
			continue
		}
		text, err := h.ReadFile(p.File)
		if err != nil {
			return nil, &pillarError{p, err}
		}
		if err := write(file, string(text)); err != nil {
			return nil, err
		}
	}
	top := c.PillarTop
	if top == nil {
		top = value.MapOf("base", value.MapOf("*", names))
	}
	return w, writeYAML(write, "pillar/top.sls", top)
}

// write writes a file of a workspace.
func (w *workspace) write(h host.Host, name, text string, mode uint32) error {
	path := filepath.Join(w.dir, name)
	if err := h.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	perm := host.FileMode(mode)
	return h.WriteFile(path, strings.NewReader(text), host.WriteOptions{Mode: &perm})
}

// writer is write for files that everybody in a machine may read.
func (w *workspace) writer(h host.Host) func(name, text string) error {
	return func(name, text string) error { return w.write(h, name, text, 0o644) }
}

// A pillarError says that a file of the pillar of a case cannot be read.
type pillarError struct {
	of  casefile.PillarSLS
	err error
}

func (e *pillarError) Error() string { return "the pillar " + e.of.Name + ": " + e.err.Error() }
func (e *pillarError) Unwrap() error { return e.err }

// writeYAML writes data as an SLS file that is not a template.
func writeYAML(write func(name, text string) error, name string, v value.Value) error {
	text, err := yamlsalt.Dump(v, yamlsalt.DumpOptions{AllowUnicode: true, FlowStyle: yamlsalt.FlowNever, Width: -1})
	if err != nil {
		return err
	}
	return write(name, "#!yaml\n"+text)
}

// expectedStates are the states that a case expects, as high data.
func expectedStates(c *casefile.Case) *value.Map {
	high := value.NewMap(0)
	for i, s := range c.Expect.States {
		args := value.NewList()
		for k, v := range s.Args.All() {
			args.Append(value.MapOf(k, v))
		}
		high.Set(expectID(i), value.MapOf(s.Fun, args))
	}
	return high
}

func expectID(i int) string { return "expected " + value.Str(int64(i+1)) }

// roots returns the directories of SLS files, for a workspace and a tree that are where
// at says.
func (w *workspace) roots(opts *value.Map, c *casefile.Case, at func(string) string) []string {
	var dirs []string
	if w.states {
		dirs = append(dirs, at(filepath.Join(w.dir, "states")))
	}
	l := opts.Map("file_roots").List("base")
	for i := range l.Len() {
		dirs = append(dirs, at(value.Str(l.Items[i])))
	}
	for _, r := range c.Roots {
		dirs = append(dirs, at(r))
	}
	return dirs
}

// options returns the configuration of a case, with directories where at says.
func (w *workspace) options(opts *value.Map, c *casefile.Case, at func(string) string) *value.Map {
	o := opts.Copy()
	roots := func(key string) *value.Map {
		out := value.NewMap(0)
		for env, dirs := range opts.Map(key).All() {
			moved := value.NewList()
			if l, ok := dirs.(*value.List); ok {
				for _, d := range l.Items {
					moved.Append(at(value.Str(d)))
				}
			}
			out.Set(env, moved)
		}
		return out
	}
	states, pillar := roots("file_roots"), roots("pillar_roots")
	states.Set("base", value.Strings(w.roots(opts, c, at)...))
	if w.pillar {
		pillar = value.MapOf("base", value.Strings(at(filepath.Join(w.dir, "pillar"))))
	}
	o.Set("file_roots", states)
	o.Set("pillar_roots", pillar)
	o.Set("file_client", "local")
	return o
}
