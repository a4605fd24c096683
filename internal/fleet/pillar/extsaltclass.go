//go:build !slim

package pillar

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fileserver"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// saltclassPath is where the classes are if nothing else is configured.
const saltclassPath = "/srv/saltclass"

// maxClasses bounds how many classes a machine may have.
const maxClasses = 10_000

// saltclass renders what a machine has of a directory with nodes/ID.yml and
// classes/*.yml.
type saltclass struct {
	*classTree
	j      *job
	pillar *value.Map // what templates see: it grows with each class

	seen  map[string]*value.Map // what was rendered, by class
	order []string              // of the classes, those that a class names before it
}

// A classTree is a directory of classes and nodes, which is listed once for all machines
// of a run.
type classTree struct {
	dir     string
	files   *fileserver.Server
	paths   map[string]bool     // of all files
	nodes   map[string][]string // by their names without .yml
	listing []string            // the files of classes, sorted
}

// classTreeKey is the key of a classTree.
type classTreeKey string

func (j *job) classTree(ctx context.Context, dir string) (*classTree, error) {
	v, err := j.c.shared.Once(classTreeKey(dir), func() (any, error) {
		srv := fileserver.New(j.env.Host, &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {dir}}})
		all, err := srv.List(ctx, "base", "")
		if err != nil {
			return nil, err
		}
		t := &classTree{dir: dir, files: srv, paths: make(map[string]bool, len(all)), nodes: map[string][]string{}}
		for _, fi := range all {
			t.paths[fi.Path] = true
			if strings.HasPrefix(fi.Path, "classes/") {
				t.listing = append(t.listing, fi.Path)
			} else if id, isNode := strings.CutSuffix(path.Base(fi.Path), ".yml"); isNode && strings.HasPrefix(fi.Path, "nodes/") {
				t.nodes[id] = append(t.nodes[id], fi.Path)
			}
		}
		slices.Sort(t.listing)
		return t, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*classTree), nil
}

// A classified is what saltclass has for a machine.
type classified struct {
	pillars     *value.Map
	states      *value.List
	classes     []string
	environment string
}

// extSaltclass makes pillar of the classes of a machine.
//
// Salt: salt/pillar/saltclass.py. Differences: classes of classes all count, and lists
// are not extended twice.
func (j *job) extSaltclass(ctx context.Context, pillar *value.Map, a extArgs) (value.Mapping, error) {
	dir := saltclassPath
	for _, x := range append(slices.Clone(a.pos), value.Value(a.kw)) {
		if m, ok := x.(*value.Map); ok && m.Str("path") != "" {
			dir = m.Str("path")
		}
	}
	c, err := j.classify(ctx, dir, pillar)
	if err != nil {
		return nil, err
	}
	pillars, err := expandRefs(c.pillars)
	if err != nil {
		return nil, err
	}
	out := value.MapOf("__saltclass__", value.MapOf("states", c.states, "classes", value.Strings(c.classes...),
		"environment", c.environment, "nodename", j.env.ID))
	out.Update(pillars)
	return out, nil
}

// topSaltclass gives a machine the states of its classes.
//
// Salt: salt/tops/saltclass.py. Difference: without an environment it is base.
func (j *job) topSaltclass(ctx context.Context, args value.Value) (*value.Map, error) {
	dir := saltclassPath
	if m, ok := args.(*value.Map); ok && m.Str("path") != "" {
		dir = m.Str("path")
	}
	c, err := j.classify(ctx, dir, value.NewMap(0))
	if err != nil {
		return nil, err
	}
	if c.environment == "" {
		c.environment = "base"
	}
	return value.MapOf(c.environment, c.states), nil
}

// classify reads what is for the machine.
func (j *job) classify(ctx context.Context, dir string, pillar *value.Map) (*classified, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("the path %q is not absolute", dir)
	}
	if st, err := j.env.Host.Stat(dir); err != nil {
		return nil, err
	} else if !st.Mode.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	t, err := j.classTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	s := &saltclass{classTree: t, j: j, seen: map[string]*value.Map{}, pillar: cloneMap(pillar)}
	node := ""
	for i, file := range t.nodes[j.env.ID] {
		if i > 0 {
			return nil, fmt.Errorf("%s is in the nodes twice: %s and %s", j.env.ID, node, file)
		}
		node = file
	}
	own := value.NewMap(0)
	if node == "" {
		j.warn(source.Pos{}, "saltclass: %s has no file %s.yml", filepath.Join(dir, "nodes"), j.env.ID)
	} else if own, err = s.render(ctx, node); err != nil {
		return nil, err
	}
	if err := s.expand(ctx, own); err != nil {
		return nil, err
	}
	out := &classified{pillars: value.NewMap(8), states: value.NewList(), classes: s.order}
	for _, name := range append(slices.Clone(s.order), "") {
		m := own
		if name != "" {
			m = s.seen[name]
		}
		if p := m.Map("pillars"); p != nil {
			mergeClass(out.pillars, cloneMap(p))
		}
		if l := m.List("states"); l != nil {
			out.states.Append(l.Items...)
		}
		if m.Has("environment") {
			out.environment = m.Str("environment")
		}
	}
	return out, nil
}

// cloneMap returns a map that shares nothing with m.
func cloneMap(m *value.Map) *value.Map { return value.Clone(m).(*value.Map) }

// expand renders the classes that m names, and those that they name.
func (s *saltclass) expand(ctx context.Context, m *value.Map) error {
	if p := m.Map("pillars"); p != nil {
		mergeClass(s.pillar, cloneMap(p))
	}
	names, err := s.match(m.At("classes"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.seen[name] != nil {
			continue
		}
		if len(s.seen) >= maxClasses {
			return fmt.Errorf("%s has more than %d classes", s.j.env.ID, maxClasses)
		}
		class, err := s.render(ctx, s.fileOf(name))
		if err != nil {
			return err
		}
		s.seen[name] = class
		if err := s.expand(ctx, class); err != nil {
			return err
		}
		s.order = append(s.order, name)
	}
	return nil
}

// fileOf returns the file of a class, which there is.
func (s *saltclass) fileOf(name string) string {
	for _, p := range classPaths(name) {
		if s.paths[p] {
			return p
		}
	}
	return ""
}

// classPaths are the files that a class may be in, the first that there is counts.
func classPaths(name string) []string {
	slashed := strings.ReplaceAll(name, ".", "/")
	return []string{"classes/" + name + ".yml", "classes/" + slashed + ".yml", "classes/" + slashed + "/init.yml"}
}

// match returns the classes that a list of names and globs means, each once.
func (s *saltclass) match(v value.Value) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	list, ok := v.(*value.List)
	if !ok {
		return nil, fmt.Errorf("classes must be a list, not %s", value.Kind(v))
	}
	var out []string
	for _, x := range list.Items {
		name, found := value.Str(x), false
		for _, pattern := range classPaths(name) {
			files := []string{pattern}
			if value.HasGlob(name) {
				files = slices.DeleteFunc(slices.Clone(s.listing), func(f string) bool {
					ok, err := path.Match(pattern, f)
					return err != nil || !ok
				})
			}
			for _, f := range files {
				if !s.paths[f] || !strings.HasSuffix(f, ".yml") {
					continue
				}
				found = true
				class := strings.TrimSuffix(strings.TrimPrefix(f, "classes/"), ".yml")
				class = strings.TrimSuffix(strings.ReplaceAll(class, "/", "."), ".init")
				if !slices.Contains(out, class) {
					out = append(out, class)
				}
			}
		}
		if !found {
			s.j.warn(source.Pos{}, "saltclass: there is no class %s", name)
		}
	}
	return out, nil
}

// render renders a file to a mapping.
func (s *saltclass) render(ctx context.Context, file string) (*value.Map, error) {
	fi, err := s.files.Stat(ctx, "base", file)
	if err != nil {
		return nil, err
	}
	text, err := render.Read(ctx, s.files, fi)
	if err != nil {
		return nil, err
	}
	// Templates include files by their place below the directory of the file.
	dir := filepath.Join(s.dir, path.Dir(file))
	beside := fileserver.New(s.j.env.Host, &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {dir}}})
	engine := render.New(s.j.env, beside).NameAbsolute().Lenient()
	abs := filepath.Join(s.dir, file)
	out, err := engine.Template(ctx, "jinja", render.Input{
		Path: path.Base(file), Abs: fi.Abs, Name: abs, Text: text, Pillar: s.pillar,
		Vars: value.MapOf("__opts__", s.j.opts, "__salt__", engine.Salt(), "__grains__", s.j.env.SubjectGrains(), "__pillar__", s.pillar, "minion_id", s.j.env.ID),
	})
	if err != nil {
		return nil, err
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: abs}, []byte(out))
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if v == nil {
		m, ok = value.NewMap(0), true
	}
	if !ok {
		return nil, &source.Error{Pos: source.Pos{File: abs}, Err: fmt.Errorf("the file must be a mapping, not %s", value.Kind(v))}
	}
	for key, kind := range map[string]string{"pillars": "a mapping", "classes": "a list", "states": "a list"} {
		x := m.At(key)
		_, isMap := x.(*value.Map)
		_, isList := x.(*value.List)
		if x != nil && (kind == "a mapping" && !isMap || kind == "a list" && !isList) {
			return nil, &source.Error{Pos: source.Pos{File: abs, Line: m.Pos(key).Line}, Err: fmt.Errorf("%s must be %s, not %s", key, kind, value.Kind(x))}
		}
	}
	return m, nil
}

// mergeClass merges b into a: lists are extended, or replaced by one that begins with
// "^"; everything else of b goes over that of a.
func mergeClass(a, b *value.Map) {
	for k, v := range b.All() {
		switch v := v.(type) {
		case *value.List:
			if have, ok := a.At(k).(*value.List); ok {
				if v.Len() == 0 || v.Items[0] != "^" {
					have.Append(v.Items...)
					continue
				}
				v.Items = v.Items[1:]
			}
		case *value.Map:
			if have, ok := a.At(k).(*value.Map); ok {
				mergeClass(have, v)
				continue
			}
		}
		a.Set(k, v)
	}
}

// refs are references in text: ${a:b}, and \${a:b}, which stands for itself.
var refs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\?\$\{[^}]*\}`) })

// maxRefs bounds how often a text whose references lead to others is expanded.
const maxRefs = 100

// expandRefs returns pillar with values in the place of references to other keys. One
// that leads nowhere stays.
func expandRefs(pillar *value.Map) (*value.Map, error) {
	var expand func(v value.Value) (value.Value, error)
	expand = func(v value.Value) (value.Value, error) {
		switch v := v.(type) {
		case string:
			return expandText(pillar, v)
		case *value.List:
			for i, x := range v.Items {
				y, err := expand(x)
				if err != nil {
					return nil, err
				}
				v.Items[i] = y
			}
		case *value.Map:
			for k, x := range v.All() {
				y, err := expand(x)
				if err != nil {
					return nil, err
				}
				v.Set(k, y)
			}
		}
		return v, nil
	}
	_, err := expand(pillar)
	return pillar, err
}

// expandText puts values in the place of the references of a text.
func expandText(pillar *value.Map, text string) (string, error) {
	for range maxRefs {
		changed := false
		var fault error
		next := refs().ReplaceAllStringFunc(text, func(ref string) string {
			if strings.HasPrefix(ref, `\`) {
				return ref
			}
			v, ok := value.TraverseKey(pillar, ref[2:len(ref)-1], ":")
			switch x := v.(type) {
			case string:
				changed = true
				return x
			case nil:
				if !ok {
					return ref
				}
			}
			if ok && fault == nil {
				fault = fmt.Errorf("the reference %s is to %s; only text can be put into text", ref, value.Kind(v))
			}
			return ref
		})
		if fault != nil {
			return "", fault
		}
		if !changed || next == text {
			return strings.ReplaceAll(next, `\${`, "${"), nil
		}
		if text = next; len(text) > render.MaxText {
			break
		}
	}
	return "", errors.New("references of the pillar lead to themselves")
}
