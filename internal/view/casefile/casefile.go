// Package casefile reads what brine test runs: the case files of a tree, and the
// kitchen.yml of a formula. Start with [Find].
//
// A case says what is applied, with which pillar, on which systems, and what is
// expected of the machine then.
package casefile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Dir is where the case files of a tree are, and Golden where their golden files are.
const (
	Dir    = "tests"
	Golden = "tests/golden"
	// Systems has the recorded grains of further systems, a file NAME.yml each.
	Systems = "tests/systems"
	// Lock says which images may be used.
	Lock = "tests/images.lock"
)

// A Suite has all cases of a tree.
type Suite struct {
	Tree  string // absolute
	Cases []*Case
	// Notes say what of a kitchen.yml has no meaning here.
	Notes []Note
}

// A Note is a place that was read and has no effect.
type Note struct {
	Pos  source.Pos
	Text string
}

// A Case is what is applied to a fresh machine of each of some systems.
type Case struct {
	Name    string
	Pos     source.Pos
	Systems []string
	SLS     []string // what is applied; none: the highstate
	Prepare []string // SLS files that are applied before the test
	Clean   []string // SLS files that undo what is applied
	// Top is the top file of the case; nil: that of the tree.
	Top *value.Map
	// Pillar are the SLS files of the pillar of the case, by name; none: the pillar of
	// the tree. PillarTop is their top file; nil: each of them holds.
	Pillar    []PillarSLS
	PillarTop *value.Map
	Grains    *value.Map // over those of the system
	Answers   *value.Map // of execution functions that templates call, where no machine is
	Roots     []string   // further directories of SLS files, absolute
	Expect    Expect
	Always    []string // globs for the IDs of states that may change something each time
	TestFails []string // globs for the IDs of states that may fail with test=True
	Machine   Machine
	// Orchestrate are the SLS files of an orchestration that is run over Nodes, instead
	// of states that are applied.
	Orchestrate []string
	Nodes       []Node
}

// A PillarSLS is one SLS file of a pillar: a file, or data.
type PillarSLS struct {
	Name string // as in a top file
	File string // absolute; "" is Data
	Data value.Value
	Pos  source.Pos
}

// A Machine says what a case runs on.
type Machine struct {
	Driver  string            // "" is the default
	Images  map[string]string // of systems: absolute paths of directories or archives
	Network bool
	Hosts   map[string]Host // of systems: given ones, for the driver ssh
	// Packages can be installed without a network, and so can those of PackageDirs.
	Packages    []Package
	PackageDirs []PackageDir
}

// A PackageDir is a directory of packages.
type PackageDir struct {
	Pos  source.Pos
	Path string // absolute
}

// An Expect is what a machine is to be like after the run.
type Expect struct {
	Functions []Function
	States    []State
	Files     []FileWant
	Ports     []Port
	Scripts   []Script
}

// A Function is a call of an execution function, and what it is to return.
type Function struct {
	Pos    source.Pos
	Name   string
	Args   []value.Value
	Kwargs *value.Map
	Is     value.Value // with HasIs
	HasIs  bool
	Has    *value.Map     // keys that a mapping has; nil: any
	Match  *regexp.Regexp // what its text matches; nil: any
	Status *int64         // exit status of a command; nil: any
}

// A State is a state that reports no change.
type State struct {
	Pos  source.Pos
	Fun  string
	Args *value.Map
}

// A FileWant is what a file is to be like. What is "" or nil may be anything.
type FileWant struct {
	Pos                           source.Pos
	Path, Type, Mode, User, Group string
	Target                        string
	Content                       *string
	Match                         *regexp.Regexp
}

// A Port is one on which something is to listen.
type Port struct {
	Pos    source.Pos
	Number int64
}

// A Script is a shell script that is to succeed on the machine.
type Script struct {
	Pos  source.Pos
	Text string
}

// ErrNone is returned (wrapped) for a tree without cases.
var ErrNone = errors.New("no cases")

// Find reads all cases of a tree: those of tests/*.yml, else those of a kitchen.yml.
// name returns a path as the user knows it. All faults are returned together.
func Find(files host.Files, tree string, name func(string) string) (*Suite, error) {
	s := &Suite{Tree: tree}
	paths, err := caseFiles(files, filepath.Join(tree, Dir))
	if err != nil {
		return nil, err
	}
	kitchen := len(paths) == 0
	if kitchen {
		paths = kitchenFiles(files, tree)
	}
	var faults source.Errors
	for _, path := range paths {
		text, err := files.ReadFile(path)
		if err != nil {
			return nil, err
		}
		r := &reader{files: files, tree: tree, suite: s}
		if kitchen {
			r.readKitchen(name(path), text)
		} else {
			r.read(name(path), text)
		}
		faults = append(faults, r.Errs...)
	}
	faults = append(faults, duplicates(s.Cases)...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if len(s.Cases) == 0 {
		return nil, fmt.Errorf("%w in %s: there is neither a file %s/*.yml nor a kitchen.yml with suites", ErrNone, name(tree), Dir)
	}
	return s, nil
}

// caseFiles returns the files of a directory that are case files.
func caseFiles(files host.Files, dir string) ([]string, error) {
	names, err := files.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range names {
		if ext := filepath.Ext(n); (ext == ".yml" || ext == ".yaml") && !strings.HasPrefix(n, ".") {
			out = append(out, filepath.Join(dir, n))
		}
	}
	return out, nil
}

func duplicates(cases []*Case) (faults source.Errors) {
	first := map[string]*Case{}
	for _, c := range cases {
		if f := first[c.Name]; f != nil {
			faults = append(faults, &source.Error{Pos: c.Pos, Err: fmt.Errorf("the case %q is already at %s", c.Name, f.Pos)})
			continue
		}
		first[c.Name] = c
	}
	return faults
}

// reader reads one file.
type reader struct {
	yamlsalt.Checker
	files host.Files
	tree  string
	suite *Suite
}

var validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`) })

// checkName complains of a name that cannot be that of a file.
func (r *reader) checkName(pos source.Pos, what, name string) bool {
	if validName().MatchString(name) {
		return true
	}
	r.Fault(pos, "%s %q: names have letters, digits, '.', '_' and '-'", what, name)
	return false
}

// load reads a YAML mapping; nil where it is none, which is a fault.
func (r *reader) load(name string, text []byte) *value.Map {
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: name}, text)
	if err != nil {
		r.Errs = append(r.Errs, source.Faults(err)...)
		return nil
	}
	m, ok := v.(*value.Map)
	if !ok {
		r.Fault(source.Pos{File: name, Line: 1, Col: 1}, "the file must be a mapping with the key %q, not %s", "cases", value.Kind(v))
	}
	return m
}

// settings are what a file says for all its cases, and a case for itself.
var settings = []string{"answers", "driver", "grains", "hosts", "images", "network", "package_dirs", "packages", "pillar", "prepare", "pillar_files", "roots", "systems"}

// read reads a case file.
func (r *reader) read(name string, text []byte) {
	m := r.load(name, text)
	if m == nil {
		return
	}
	r.Keys(m, "the file", append([]string{"cases"}, settings...)...)
	r.values(m)
	r.dirs(m)
	cases := r.mapping(m, "cases")
	if cases.Len() == 0 && len(r.Errs) == 0 {
		r.Fault(source.Pos{File: name, Line: 1, Col: 1}, "the file has no cases")
	}
	for k, v := range cases.All() {
		c, ok := v.(*value.Map)
		if !ok {
			r.Fault(cases.Pos(k), "the case %s must be a mapping, not %s", value.Str(k), value.Kind(v))
			continue
		}
		r.readCase(cases.Pos(k), value.Str(k), m, c)
	}
}

// readCase reads one case; all has what holds for each case of its file.
func (r *reader) readCase(pos source.Pos, name string, all, m *value.Map) {
	if !r.checkName(pos, "the case", name) {
		return
	}
	r.Keys(m, "the case "+name, append([]string{"always_changes", "clean", "expect", "highstate", "machines", "orchestrate", "sls", "test_fails", "top"}, settings...)...)
	r.values(m)
	r.dirs(m)
	c := &Case{Name: name, Pos: pos, Top: r.mapping(m, "top"), Always: r.Texts(m, "always_changes"), TestFails: r.Texts(m, "test_fails")}
	c.SLS, c.Clean = r.Texts(m, "sls"), r.Texts(m, "clean")
	r.notEmpty(m, "clean")
	if m.Has("highstate") && m.At("highstate") != true {
		r.Fault(m.Pos("highstate"), "highstate must be true, not %s", value.Repr(m.At("highstate")))
	}
	switch high := m.Has("highstate"); {
	case m.Has("machines") || m.Has("orchestrate"):
		r.orchestration(c, m)
	case high && len(c.SLS) > 0:
		r.Fault(m.Pos("highstate"), "the case %s has both sls and highstate", name)
	case c.Top != nil && len(c.SLS) > 0:
		r.Fault(m.Pos("top"), "top has no effect on sls: it is for highstate")
	case !high && len(c.SLS) == 0:
		r.Fault(pos, "the case %s has neither sls, highstate nor orchestrate: nothing would be applied", name)
	}
	for _, from := range []*value.Map{all, m} {
		r.settings(c, from)
	}
	if len(c.Systems) == 0 {
		c.Systems = []string{"debian"}
	}
	c.Expect = r.expect(m)
	r.systemsOf(c, m)
	if len(c.Nodes) > 0 {
		c.Prepare = nil // that of the file is for its other cases
		r.checkNodes(c, m)
	}
	r.suite.Cases = append(r.suite.Cases, c)
}

// complainOfNothing are keys whose readers complain themselves where they have no value.
var complainOfNothing = []string{"cases", "clean", "expect", "highstate", "network", "packages", "systems"}

// values complains of keys without a value, which would be passed over.
func (r *reader) values(m *value.Map) {
	for k, v := range m.All() {
		if key := value.Str(k); v == nil && !slices.Contains(complainOfNothing, key) {
			r.Fault(m.Pos(k), "%s has no value: write one, or leave it away", key)
		}
	}
}

// systemsOf complains of systems that m names under a key and the case does not have: what they
// say would have no effect. Those of a file are for all its cases.
func (r *reader) systemsOf(c *Case, m *value.Map) {
	has := slices.Clone(c.Systems)
	for _, n := range c.Nodes {
		has = append(has, n.System)
	}
	for _, key := range []string{"images", "hosts"} {
		named := m.Map(key)
		for k := range named.All() {
			if system := value.Str(k); !slices.Contains(has, system) {
				r.Fault(named.Pos(k), "%s: the case %s has no system %q%s: there are %s", key, c.Name, system, source.DidYouMean(system, has), strings.Join(c.Systems, ", "))
			}
		}
	}
}

// settings reads what may be in a file and in a case. That of a case goes over that of
// its file: mappings are merged, others replaced.
func (r *reader) settings(c *Case, m *value.Map) {
	r.notEmpty(m, "systems")
	if m.Has("systems") {
		c.Systems = r.Texts(m, "systems")
	}
	for i, s := range c.Systems {
		if r.checkName(m.Pos("systems"), "the system", s) && slices.Contains(c.Systems[:i], s) {
			r.Fault(m.Pos("systems"), "the system %s is named twice", s)
		}
	}
	merge := func(into **value.Map, key string) {
		if got := r.mapping(m, key); got != nil {
			base := value.NewMap(0)
			if *into != nil {
				base = value.Clone(*into).(*value.Map)
			}
			*into = value.Update(base, got, true, false)
		}
	}
	merge(&c.Grains, "grains")
	merge(&c.Answers, "answers")
	r.pillar(c, m)
	if m.Has("prepare") {
		c.Prepare = r.Texts(m, "prepare")
	}
	for _, root := range r.Texts(m, "roots") {
		c.Roots = append(c.Roots, r.path(root))
	}
	if d := r.Text(m, "driver"); d != "" {
		c.Machine.Driver = d
	}
	if v, ok := m.Get("network"); ok {
		if c.Machine.Network, ok = v.(bool); !ok {
			r.Fault(m.Pos("network"), "network must be true or false, not %s", value.Repr(v))
		}
	}
	r.hosts(c, m)
	r.packages(c, m)
	images := r.mapping(m, "images")
	for k, v := range images.All() {
		path, ok := v.(string)
		if !ok || path == "" {
			r.Fault(images.Pos(k), "the image of %s must be the path of a directory or an archive, not %s", value.Str(k), value.Kind(v))
			continue
		}
		if c.Machine.Images == nil {
			c.Machine.Images = map[string]string{}
		}
		if !strings.HasPrefix(path, "oci:") { // an image of podman or docker
			path = r.path(path)
		}
		c.Machine.Images[value.Str(k)] = path
	}
}

// caseSLS is the name of the SLS of a pillar that a case has as data.
const caseSLS = "case"

// pillar reads pillar and pillar_files.
func (r *reader) pillar(c *Case, m *value.Map) {
	if data := r.mapping(m, "pillar"); data != nil {
		i := slices.IndexFunc(c.Pillar, func(p PillarSLS) bool { return p.Name == caseSLS })
		if i < 0 {
			c.Pillar = append(c.Pillar, PillarSLS{Name: caseSLS, Data: data, Pos: m.Pos("pillar")})
		} else {
			base := value.Clone(c.Pillar[i].Data).(*value.Map)
			c.Pillar[i].Data = value.Update(base, data, true, false)
		}
	}
	for _, path := range r.Texts(m, "pillar_files") {
		base := filepath.Base(path)
		name := strings.ReplaceAll(strings.TrimSuffix(base, filepath.Ext(base)), ".", "_")
		c.Pillar = append(c.Pillar, PillarSLS{Name: name, File: r.path(path), Pos: m.Pos("pillar_files")})
	}
}

// path returns a path of a file as an absolute one: it is relative to the tree.
func (r *reader) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(r.tree, p)
}

// dirs complains of roots that are not there, whose SLS files nobody would miss.
func (r *reader) dirs(m *value.Map) {
	roots := m.At("roots")
	if l, ok := roots.(*value.List); !ok || l == nil {
		roots = value.NewList(roots)
	}
	for _, v := range roots.(*value.List).Items {
		root, ok := v.(string)
		if !ok {
			continue
		}
		if st, err := r.files.Stat(r.path(root)); err != nil {
			r.Fault(m.Pos("roots"), "roots: %s: %w; paths are relative to the tree", root, err)
		} else if !st.Mode.IsDir() {
			r.Fault(m.Pos("roots"), "roots: %s is not a directory", root)
		}
	}
}

// mapping returns the mapping at a key, nil where there is none.
func (r *reader) mapping(m *value.Map, key string) *value.Map {
	v := m.At(key)
	got, ok := v.(*value.Map)
	if !ok && v != nil {
		r.Fault(m.Pos(key), "%s must be a mapping, not %s", key, value.Kind(v))
	}
	return got
}
