// Package orchestration is orchestration templates: orchestrations that one
// person defines, with a description of what they need, and others execute.
//
// A template NAME is the directory states/NAME of a root, with the orchestration
// in init.sls, and metadata/NAME/metadata.yml. [Find] and [List] read them,
// [Template.Check] makes a pillar of the answers of a person, and [Store] keeps
// answers.
package orchestration

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/host"
	"brine/internal/fleet/approval"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/form"
)

// A Template is an orchestration with the description of what it needs.
type Template struct {
	Name        string
	Dir         string // with its SLS files
	States      string // the directory above Dir
	Metadata    string // the file
	Description string
	Notify      []string       // destinations of notifications
	Approve     *approval.Rule // before it starts
	Targets     []Target
	Steps       []Step
	Form        *form.Form // of its pillar
}

// A Target is a name under which the orchestration finds ids in
// pillar['targets'].
type Target struct {
	Name, Description string
	// AllowSSH says that the template has steps of its own for targets that are
	// reached over SSH: their ids are those of NAME_ssh.
	AllowSSH bool
	Required bool     // there must be a target
	Multiple bool     // there may be more than one
	Types    []string // the allowed types of target expressions; none: all
	Default  string   // target expression
}

// A Step describes a part of the orchestration for people.
type Step struct {
	Name, Description string
	IDs               []string       // of the SLS
	Approve           *approval.Rule // before the first of them
	Pos               source.Pos
}

// The files of a template.
const (
	entryName    = "init.sls"
	metadataName = "metadata.yml"
	formName     = "form.yml"
	targetsKey   = "targets"
)

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`) })

// ValidName reports whether a template, a label or a chain can have the name.
func ValidName(name string) bool { return namePattern().MatchString(name) }

// CheckName returns an error if no template can have the name.
func CheckName(name string) error {
	if !ValidName(name) {
		return fmt.Errorf("%q cannot be the name of a template: letters, digits, _ and - can", name)
	}
	return nil
}

// A NotFoundError says that no root has a template.
type NotFoundError struct {
	Name  string
	Names []string // the templates that there are
	Roots []string
}

// Error names the nearest template, or where none was found.
func (e *NotFoundError) Error() string {
	if len(e.Names) == 0 {
		return fmt.Sprintf("there is no template %q: no templates were found in %s", e.Name, strings.Join(e.Roots, ", "))
	}
	return fmt.Sprintf("there is no template %q%s", e.Name, source.DidYouMean(e.Name, e.Names))
}

// Names returns the names of the templates of roots, sorted.
func Names(files host.Files, roots []string) ([]string, error) {
	var names []string
	for _, root := range roots {
		for _, part := range parts {
			found, err := files.ReadDir(filepath.Join(root, part))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, n := range found {
				st, err := files.Stat(filepath.Join(root, part, n))
				if err == nil && st.Mode.IsDir() && ValidName(n) {
					names = append(names, n)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Find reads a template: that of the first root that has it. It returns a
// *NotFoundError if there is none, and source.Errors if it is not right.
func Find(files host.Files, roots []string, name string) (*Template, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	for _, root := range roots {
		states, meta := filepath.Join(root, "states"), filepath.Join(root, "metadata", name)
		_, err1 := files.Stat(filepath.Join(states, name))
		_, err2 := files.Stat(meta)
		if err1 != nil && err2 != nil {
			continue
		}
		return read(files, &Template{Name: name, States: states, Dir: filepath.Join(states, name), Metadata: filepath.Join(meta, metadataName)})
	}
	names, err := Names(files, roots)
	if err != nil {
		return nil, err
	}
	return nil, &NotFoundError{Name: name, Names: names, Roots: roots}
}

// read reads the files of a template.
func read(files host.Files, t *Template) (*Template, error) {
	if _, err := files.Stat(filepath.Join(t.Dir, entryName)); err != nil {
		return nil, fmt.Errorf("template %s has no orchestration: %w", t.Name, err)
	}
	meta, err := mapping(files, t.Metadata)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", t.Name, err)
	}
	p := &parser{}
	p.Keys(meta, "the metadata", "approve", "description", "notify", targetsKey, "steps", "pillar")
	t.Description, t.Notify = p.Text(meta, "description"), p.Texts(meta, "notify")
	t.Approve = ParseApprove(&p.Checker, meta)
	p.each(meta, targetsKey, func(name string, m *value.Map) { t.Targets = append(t.Targets, p.target(name, m)) })
	p.each(meta, "steps", func(name string, m *value.Map) {
		p.Keys(m, "step "+name, "approve", "description", "ids")
		x := Step{Name: name, Description: p.Text(m, "description"), IDs: p.Texts(m, "ids"), Approve: ParseApprove(&p.Checker, m), Pos: m.Pos("ids")}
		if x.Approve != nil && len(x.IDs) == 0 {
			p.Fault(m.Pos("approve"), "step %s: approve needs ids, the states before which somebody is asked", name)
		}
		t.Steps = append(t.Steps, x)
	})
	t.Form = p.form(files, t, meta)
	if len(p.Errs) > 0 {
		return nil, p.Errs
	}
	return t, nil
}

// Hash identifies what a template is: its metadata, its form, and its orchestration.
func (t *Template) Hash(files host.Files) (string, error) {
	h := sha256.New()
	for _, path := range []string{t.Metadata, filepath.Join(filepath.Dir(t.Metadata), formName), filepath.Join(t.Dir, entryName)} {
		b, err := files.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		fmt.Fprintf(h, "%q\n", b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// mapping reads a YAML file whose top is a mapping.
func mapping(files host.Files, path string) (*value.Map, error) {
	b, err := files.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseMapping(path, b)
}

// parseMapping reads the text of a YAML file whose top is a mapping.
func parseMapping(path string, b []byte) (*value.Map, error) {
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: path}, b)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok && v != nil {
		return nil, &source.Error{Pos: source.Pos{File: path, Line: 1, Col: 1}, Err: fmt.Errorf("must be a mapping, not %s", value.Kind(v))}
	}
	if m == nil {
		m = value.NewMap(0)
	}
	return m, nil
}

type parser struct{ yamlsalt.Checker }

func (p *parser) flag(m *value.Map, key string, or bool) bool {
	v, ok := m.Get(key)
	if !ok {
		return or
	}
	b, ok := v.(bool)
	if !ok {
		p.Fault(m.Pos(key), "%s must be True or False, not %s", key, value.Repr(v))
	}
	return b
}

// each calls f for each entry of the mapping at key. The entries are mappings, or
// lists of mappings with one key, which are the same.
func (p *parser) each(m *value.Map, key string, f func(name string, m *value.Map)) {
	all, ok := m.At(key).(*value.Map)
	if v := m.At(key); !ok && v != nil {
		p.Fault(m.Pos(key), "%s must be a mapping of names, not %s", key, value.Kind(v))
		return
	}
	for k, v := range all.All() {
		name := value.Str(k)
		switch x := v.(type) {
		case *value.Map:
			f(name, x)
		case *value.List:
			f(name, p.joined(x, name))
		case nil:
			f(name, value.NewMap(0))
		default:
			p.Fault(all.Pos(k), "%s: %s must have keys such as description, not %s", key, name, value.Kind(v))
		}
	}
}

// joined makes one mapping of a list of mappings.
func (p *parser) joined(l *value.List, name string) *value.Map {
	out := value.NewMap(l.Len())
	for i, v := range l.Items {
		m, ok := v.(*value.Map)
		if !ok {
			p.Fault(l.PosAt(i), "%s: each item must be a key and a value, not %s", name, value.Kind(v))
			continue
		}
		for k, v := range m.All() {
			if !out.Add(k, v, m.Pos(k)) {
				p.Fault(m.Pos(k), "%s: %s is given twice", name, value.Str(k))
			}
		}
	}
	return out
}

func (p *parser) target(name string, m *value.Map) Target {
	p.Keys(m, "target "+name, "allow_ssh", "default", "description", "multiple", "required", "tgt_type")
	t := Target{
		Name: name, Description: p.Text(m, "description"), AllowSSH: p.flag(m, "allow_ssh", false), Required: p.flag(m, "required", true),
		Multiple: p.flag(m, "multiple", true), Types: p.Texts(m, "tgt_type"), Default: p.Text(m, "default"),
	}
	for _, typ := range t.Types {
		if !slices.Contains(targetTypes, typ) {
			p.Fault(m.Pos("tgt_type"), "target %s: unknown tgt_type %q%s; there are %s", name, typ, source.DidYouMean(typ, targetTypes), strings.Join(targetTypes, ", "))
		}
	}
	if t.Default != "" && len(p.Errs) == 0 {
		if err := t.allows(t.read(t.Default)); err != nil {
			p.Fault(m.Pos("default"), "target %s: default: %w", name, err)
		}
	}
	return t
}

// form reads the fields of the pillar: the key pillar of the metadata, or the
// file form.yml beside it.
func (p *parser) form(files host.Files, t *Template, meta *value.Map) *form.Form {
	fields, ok := meta.At("pillar").(*value.Map)
	if v := meta.At("pillar"); !ok && v != nil {
		p.Fault(meta.Pos("pillar"), "pillar must be a mapping of fields, not %s", value.Kind(v))
	}
	path := filepath.Join(filepath.Dir(t.Metadata), formName)
	m, err := mapping(files, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		p.Errs = append(p.Errs, faultOf(err, path))
	case meta.Has("pillar"):
		p.Fault(meta.Pos("pillar"), "the fields of the pillar are described here and in %s; keep one of them", path)
	default:
		fields = m
	}
	f, errs := form.Parse(fields)
	p.Errs = append(p.Errs, errs...)
	if fields.Has(targetsKey) {
		p.Fault(fields.Pos(targetsKey), "a field cannot be called targets, where the orchestration finds its targets")
	}
	return f
}

// ParseForm reads the text of a file form.yml, which describes the pillar of a formula.
func ParseForm(path string, text []byte) (*form.Form, error) {
	m, err := parseMapping(path, text)
	if err != nil {
		return nil, faultOf(err, path)
	}
	f, errs := form.Parse(m)
	if len(errs) > 0 {
		return nil, errs
	}
	return f, nil
}

// faultOf is an error with the place of a file.
func faultOf(err error, path string) *source.Error {
	if se, ok := errors.AsType[*source.Error](err); ok {
		return se
	}
	return &source.Error{Pos: source.Pos{File: path}, Err: err}
}
