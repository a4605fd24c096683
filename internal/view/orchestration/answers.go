package orchestration

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/form"
)

// An Expr is a target expression of Salt.
type Expr struct{ Text, Type string }

// letters are the types of target expressions by their letters in compound
// ones.
var letters = map[byte]string{
	'C': "compound", 'E': "pcre", 'G': "grain", 'I': "pillar", 'J': "pillar_pcre", 'L': "list", 'N': "nodegroup", 'P': "grain_pcre", 'R': "range", 'S': "ipcidr",
}

var targetTypes = []string{"compound", "glob", "grain", "grain_pcre", "ipcidr", "list", "nodegroup", "pcre", "pillar", "pillar_pcre", "range"}

// ParseExpr reads a target expression with its type: X@EXPR with the letter of a
// compound expression (C@ is a compound expression itself), ids with commas, and
// else a glob.
func ParseExpr(text string) Expr {
	text = strings.TrimSpace(text)
	if len(text) > 2 && text[1] == '@' && letters[text[0]] != "" {
		return Expr{Text: text[2:], Type: letters[text[0]]}
	}
	if strings.Contains(text, ",") {
		return Expr{Text: text, Type: "list"}
	}
	return Expr{Text: text, Type: "glob"}
}

// String is the expression as ParseExpr reads it.
func (e Expr) String() string {
	for letter, kind := range letters {
		if kind == e.Type && (e.Type != "list" || !strings.Contains(e.Text, ",")) {
			return string(letter) + "@" + e.Text
		}
	}
	return e.Text
}

// allows returns an error if the type of an expression is not allowed.
func (t *Target) allows(e Expr) error {
	if len(t.Types) > 0 && !slices.Contains(t.Types, e.Type) {
		return fmt.Errorf("%q is a target expression of the type %s; this target takes %s", e.Text, e.Type, strings.Join(t.Types, ", "))
	}
	return nil
}

// Answers are what a person says for an execution of a template.
type Answers struct {
	Targets map[string]string // target expressions
	Values  *value.Map        // of the pillar
	// Foreign says that somebody else gave the values: they are data, of which nothing is
	// looked up or evaluated.
	Foreign bool
}

// NewAnswers returns no answers.
func NewAnswers() *Answers { return &Answers{Targets: map[string]string{}, Values: value.NewMap(0)} }

// Find returns the target with a name.
func (t *Template) Find(name string) (*Target, error) {
	names := make([]string, len(t.Targets))
	for i := range t.Targets {
		if names[i] = t.Targets[i].Name; names[i] == name {
			return &t.Targets[i], nil
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("template %s has no targets", t.Name)
	}
	return nil, fmt.Errorf("template %s has no target %q%s; it has %s", t.Name, name, source.DidYouMean(name, names), strings.Join(names, ", "))
}

// Read reads answers: the pillar, with the target expressions in "targets". It
// returns an error for targets that the template does not have.
func (t *Template) Read(m *value.Map) (*Answers, error) {
	a := NewAnswers()
	for k, v := range m.All() {
		if k != targetsKey {
			a.Values.Set(k, v)
		}
	}
	targets, ok := m.At(targetsKey).(*value.Map)
	if v := m.At(targetsKey); !ok && v != nil {
		return nil, fmt.Errorf("targets must be a mapping of names, not %s", value.Kind(v))
	}
	for k, v := range targets.All() {
		if _, err := t.Find(value.Str(k)); err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case string:
			a.Targets[value.Str(k)] = v
		case *value.List: // ids
			ids := make([]string, v.Len())
			for i, x := range v.Items {
				ids[i] = value.Str(x)
			}
			a.Targets[value.Str(k)] = "L@" + strings.Join(ids, ",")
		default:
			return nil, fmt.Errorf("target %s must be a target expression or a list of ids, not %s", value.Str(k), value.Kind(v))
		}
	}
	return a, nil
}

// dict returns answers as they are kept: without passwords.
func (t *Template) dict(a *Answers) *value.Map {
	out := value.NewMap(1 + a.Values.Len())
	targets := value.NewMap(len(a.Targets))
	for _, tgt := range t.Targets {
		if e, ok := a.Targets[tgt.Name]; ok {
			targets.Set(tgt.Name, e)
		}
	}
	out.Set(targetsKey, targets)
	out.Update(t.Form.Public(a.Values))
	return out
}

// Expr returns the target expression of a target: the answer, or its default.
// ok is false where there is none.
func (t *Target) Expr(a *Answers) (e Expr, ok bool) {
	text, given := a.Targets[t.Name]
	if !given {
		text = t.Default
	}
	return t.read(text), strings.TrimSpace(text) != ""
}

// read reads the expression of a target. Without a letter, it is of the only type
// that the target takes, or a list of one ID where lists are taken and globs are not.
func (t *Target) read(text string) Expr {
	e := ParseExpr(text)
	if e.Type != "glob" || t.allows(e) == nil {
		return e
	}
	switch {
	case slices.Contains(t.Types, "list") && !strings.ContainsAny(e.Text, "*?["):
		e.Type = "list"
	case len(t.Types) == 1 && t.Types[0] != "list":
		e.Type = t.Types[0]
	}
	return e
}

// Check makes the pillar of answers, without the targets, and says what is wrong
// and what is missing.
func (t *Template) Check(a *Answers) (pillar *value.Map, faults []error, missing []Missing) {
	for i := range t.Targets {
		tgt := &t.Targets[i]
		e, ok := tgt.Expr(a)
		switch {
		case !ok && tgt.Required:
			missing = append(missing, Missing{Target: tgt, Path: tgt.Name})
		case ok:
			if err := tgt.allows(e); err != nil {
				faults = append(faults, fmt.Errorf("target %s: %w", tgt.Name, err))
			}
		}
	}
	pillar, problems := t.Form.Check(a.Values)
	if a.Foreign {
		problems = append(problems, t.Form.Foreign(a.Values)...)
	}
	for _, p := range problems {
		if p.Missing {
			missing = append(missing, Missing{Field: p.Field, Path: p.Path})
		} else {
			faults = append(faults, p)
		}
	}
	return pillar, faults, missing
}

// A Missing is a question without an answer: about a target, or about a field.
type Missing struct {
	Target *Target
	Field  *form.Field
	Path   string // of the field, or the name of the target
}

// A Store keeps answers in the files of a directory: NAME.json has those of the
// last execution, NAME@LABEL.json those with a label.
type Store struct {
	Files host.Host
	Dir   string
}

// Last is the label of the answers of the last execution.
const Last = "last"

func (s *Store) path(name, label string) string {
	if label == Last {
		return filepath.Join(s.Dir, name+".json")
	}
	return filepath.Join(s.Dir, name+"@"+label+".json")
}

// CheckLabel returns an error if no answers can have the label.
func CheckLabel(label string) error {
	if !ValidName(label) {
		return fmt.Errorf("%q cannot be a label: letters, digits, _ and - can", label)
	}
	return nil
}

// Labels returns the labels of the answers that are kept for a template.
func (s *Store) Labels(name string) ([]string, error) {
	files, err := s.Files.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, f := range files {
		base, ok := strings.CutSuffix(f, ".json")
		if !ok {
			continue
		}
		if base == name {
			out = append(out, Last)
		} else if label, ok := strings.CutPrefix(base, name+"@"); ok {
			out = append(out, label)
		}
	}
	slices.Sort(out)
	return out, err
}

// Load reads the answers with a label.
func (s *Store) Load(t *Template, label string) (*Answers, error) {
	if err := CheckLabel(label); err != nil {
		return nil, err
	}
	a, err := ReadFile(s.Files, t, s.path(t.Name, label))
	if errors.Is(err, fs.ErrNotExist) {
		labels, lerr := s.Labels(t.Name)
		if lerr == nil && len(labels) == 0 {
			return nil, fmt.Errorf("no answers are kept for %s; they are after its first execution, in %s", t.Name, s.Dir)
		}
		return nil, fmt.Errorf("there are no answers %q for %s%s; there are %s", label, t.Name, source.DidYouMean(label, labels), strings.Join(labels, ", "))
	}
	return a, err
}

// ReadFile reads answers from a JSON or YAML file.
func ReadFile(files host.Files, t *Template, path string) (*Answers, error) {
	text, err := files.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(t, path, text)
}

// parse reads answers from the text of a file.
func parse(t *Template, path string, text []byte) (*Answers, error) {
	m, err := parseMapping(path, text)
	if err != nil {
		return nil, err
	}
	a, err := t.Read(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// Save keeps answers, without passwords, for the user alone.
func (s *Store) Save(t *Template, label string, a *Answers) error {
	if err := CheckLabel(label); err != nil {
		return err
	}
	if err := s.Files.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	text, err := value.AppendJSON(nil, t.dict(a), value.JSONOptions{Indent: 2, Repr: true})
	if err != nil {
		return err
	}
	return s.Files.WriteFile(s.path(t.Name, label), bytes.NewReader(append(text, '\n')), host.WriteOptions{Mode: new(fs.FileMode(0o600)), Sync: true})
}

// Dump returns answers as YAML, as they are kept.
func (t *Template) Dump(a *Answers) (string, error) {
	return yamlsalt.Dump(t.dict(a), yamlsalt.SafeOptions())
}

// Delete removes the answers with a label.
func (s *Store) Delete(t *Template, label string) error {
	if err := CheckLabel(label); err != nil {
		return err
	}
	return s.Files.Remove(s.path(t.Name, label))
}
