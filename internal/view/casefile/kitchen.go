package casefile

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// kitchenNames are the names of the file of Test Kitchen.
var kitchenNames = []string{"kitchen.yml", ".kitchen.yml"}

// IsKitchen reports whether a file is one of Test Kitchen, by its name.
func IsKitchen(file string) bool { return slices.Contains(kitchenNames, filepath.Base(file)) }

// kitchenFiles returns the kitchen.yml of a tree.
func kitchenFiles(files host.Files, tree string) []string {
	for _, n := range kitchenNames {
		if st, err := files.Stat(filepath.Join(tree, n)); err == nil && st.Mode.IsRegular() {
			return []string{filepath.Join(tree, n)}
		}
	}
	return nil
}

// meant are the keys of a provisioner that have a meaning here.
var meant = []string{"dependencies", "formula", "grains", "name", "pillars", "pillars_from_files", "state_top"}

// A kitchen is one kitchen.yml.
type kitchen struct {
	*reader
	found *Suite
	file  string
	all   *value.Map // the provisioner of all suites
}

// readKitchen reads the kitchen.yml of a formula: each suite is a case, on the systems
// of its platforms.
func (r *reader) readKitchen(name string, text []byte) {
	if i := bytes.Index(text, []byte("<%")); i >= 0 {
		line := bytes.Count(text[:i], []byte("\n")) + 1
		r.Fault(source.Pos{File: name, Line: line, Col: i - bytes.LastIndexByte(text[:i], '\n')}, "ERB templates are not supported: write the value, or a case file (brine test --init)")
		return
	}
	m := r.load(name, text)
	k := &kitchen{reader: r, found: r.suite, file: name, all: r.mapping(m, "provisioner")}
	k.noteKeys(m, "", "platforms", "provisioner", "suites")
	k.noteKeys(k.all, "provisioner", meant...)
	platforms := k.platforms(m)
	suites := m.List("suites")
	for i := range suites.Len() {
		s, ok := suites.Items[i].(*value.Map)
		if !ok || s.Str("name") == "" {
			r.Fault(suites.PosAt(i), "each suite must be a mapping with a name")
			continue
		}
		k.suite(suites.PosAt(i), s, platforms)
	}
}

// noteKeys notes the keys of a mapping that have no meaning.
func (k *kitchen) noteKeys(m *value.Map, of string, known ...string) {
	for key := range m.All() {
		if name := value.Str(key); !slices.Contains(known, name) {
			k.found.note(m.Pos(key), "%s has no meaning here%s", strings.TrimPrefix(of+"."+name, "."), insteadOf[name])
		}
	}
}

// insteadOf says what takes the place of some keys.
var insteadOf = map[string]string{
	"driver": ": machines are chosen by --driver", "driver_config": ": machines are chosen by --driver",
	"verifier":  ": what is expected goes into a case file (brine test --init)",
	"transport": ": machines are chosen by --driver",
}

func (s *Suite) note(pos source.Pos, format string, args ...any) {
	n := Note{pos, fmt.Sprintf(format, args...)}
	// What holds for all suites is read for each, and platforms are alike.
	if !slices.ContainsFunc(s.Notes, func(o Note) bool { return o.Text == n.Text }) {
		s.Notes = append(s.Notes, n)
	}
}

// platforms returns the names of the platforms.
func (k *kitchen) platforms(m *value.Map) (names []string) {
	l := m.List("platforms")
	for i := range l.Len() {
		p, ok := l.Items[i].(*value.Map)
		if !ok || p.Str("name") == "" {
			k.Fault(l.PosAt(i), "each platform must be a mapping with a name")
			continue
		}
		k.noteKeys(p, "platforms", "name")
		if name := p.Str("name"); k.checkName(l.PosAt(i), "the platform", name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// suite reads one suite.
func (k *kitchen) suite(pos source.Pos, s *value.Map, platforms []string) {
	k.noteKeys(s, "suites", "excludes", "includes", "name", "provisioner")
	name := s.Str("name")
	if !k.checkName(pos, "the suite", name) {
		return
	}
	own := k.mapping(s, "provisioner")
	k.noteKeys(own, "suites.provisioner", meant...)
	c := &Case{Name: name, Pos: pos, Systems: k.systems(s, platforms)}
	if len(c.Systems) == 0 {
		return
	}
	with := func(key string) (*value.Map, bool) {
		if own.Has(key) {
			return own, true
		}
		return k.all, k.all.Has(key)
	}
	if m, ok := with("state_top"); ok {
		c.Top = k.mapping(m, "state_top")
	} else if m, ok := with("formula"); ok {
		c.SLS = []string{k.Text(m, "formula")}
	} else {
		k.Fault(pos, "the suite %s has neither state_top nor formula: nothing would be applied", name)
	}
	if m, ok := with("grains"); ok {
		c.Grains = k.mapping(m, "grains")
	}
	for _, m := range []*value.Map{k.all, own} {
		k.pillars(c, m)
		k.dependencies(c, m)
	}
	k.found.Cases = append(k.found.Cases, c)
}

// systems returns the platforms of a suite.
func (k *kitchen) systems(s *value.Map, platforms []string) []string {
	out := platforms
	if s.Has("includes") {
		out = k.Texts(s, "includes")
	}
	without := k.Texts(s, "excludes")
	for _, key := range []string{"includes", "excludes"} {
		for _, p := range k.Texts(s, key) {
			if !slices.Contains(platforms, p) {
				k.found.note(s.Pos(key), "%s: there is no platform %q%s", key, p, source.DidYouMean(p, platforms))
			}
		}
	}
	out = slices.DeleteFunc(slices.Clone(out), func(p string) bool { return !slices.Contains(platforms, p) })
	out = slices.DeleteFunc(slices.Clone(out), func(p string) bool { return slices.Contains(without, p) })
	if len(out) == 0 {
		k.found.note(s.Pos("name"), "the suite %s has no platforms, and is not tested", s.Str("name"))
	}
	return out
}

// pillars reads the pillar of a provisioner: its top file, and the files that it names.
func (k *kitchen) pillars(c *Case, m *value.Map) {
	data := k.mapping(m, "pillars")
	for key, v := range data.All() {
		file := value.Str(key)
		if path.Clean(file) == "top.sls" {
			if c.PillarTop, _ = v.(*value.Map); c.PillarTop == nil {
				k.Fault(data.Pos(key), "the top file must be a mapping, not %s", value.Kind(v))
			}
			continue
		}
		k.pillarFile(c, PillarSLS{Name: file, Data: v, Pos: data.Pos(key)})
	}
	files := k.mapping(m, "pillars_from_files")
	for key, v := range files.All() {
		p, ok := v.(string)
		if !ok {
			k.Fault(files.Pos(key), "%s must be the path of a file, not %s", value.Str(key), value.Kind(v))
			continue
		}
		k.pillarFile(c, PillarSLS{Name: value.Str(key), File: k.path(p), Pos: files.Pos(key)})
	}
}

// pillarFile adds a file of the pillar, instead of one of the same name.
func (k *kitchen) pillarFile(c *Case, p PillarSLS) {
	name, ok := strings.CutSuffix(path.Clean(p.Name), ".sls")
	if !ok || !filepath.IsLocal(name) {
		k.Fault(p.Pos, "%q is not the path of an SLS file below the pillar", p.Name)
		return
	}
	p.Name = strings.ReplaceAll(name, "/", ".")
	c.Pillar = slices.DeleteFunc(c.Pillar, func(q PillarSLS) bool { return q.Name == p.Name })
	c.Pillar = append(c.Pillar, p)
}

// dependencies adds the directories of other formulas.
func (k *kitchen) dependencies(c *Case, m *value.Map) {
	l := m.List("dependencies")
	for i := range l.Len() {
		d, ok := l.Items[i].(*value.Map)
		if !ok {
			k.Fault(l.PosAt(i), "each dependency must be a mapping with a name and a path")
			continue
		}
		if d.Str("path") == "" {
			k.found.note(l.PosAt(i), "the dependency %s has no path and is not fetched: name its directory beside that of the formula: --file-root . --file-root DIR", d.Str("name"))
			continue
		}
		c.Roots = append(c.Roots, k.path(d.Str("path")))
	}
}
