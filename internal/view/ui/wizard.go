package ui

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

// maxItems bounds the items of a list on a page.
const maxItems = 200

// A wizardView is the form of a template.
type wizardView struct {
	T        *orchestration.Template
	Targets  []targetField
	Fields   []fieldView
	Problems []string // those that belong to no field
	Resume   string
	Plan     string // the run whose plan is to run
}

// A targetField asks for a target expression.
type targetField struct {
	orchestration.Target
	Value, Problem string
}

// A fieldView is a field of a form with its value.
type fieldView struct {
	*form.Field
	Input   string // name of the input element
	Value   string
	Problem string
	Fields  []fieldView // of a group
	Items   []itemView  // of an edit-group
}

// An itemView is an item of an edit-group.
type itemView struct {
	Input string
	Key   string // where the items are a dict
	Field fieldView
}

// id is the id of an element for a field.
func (f fieldView) id() string { return "f-" + f.Input }

// choices are the values of a select field as text.
func (f fieldView) choices() []string {
	out := make([]string, len(f.Values))
	for i, v := range f.Values {
		out[i] = value.Str(v)
	}
	return out
}

// A formReader reads the answers that a browser sent. Names of input elements are
// the keys of a field; items are numbered, whether they have keys or not. Others
// begin with a letter and a colon: n: has the number of items, k: the key of one, b:
// says that there was a check box.
type formReader struct {
	form   url.Values
	add    string // the edit-group that gets a further item
	remove string // the item that is to go
	faults []string
}

func (p *formReader) fields(fields []*form.Field, path string) *value.Map {
	m := value.NewMap(len(fields))
	for _, f := range fields {
		if v := p.field(f, join(path, f.Name)); v != nil {
			m.Set(f.Name, v)
		}
	}
	return m
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + ":" + key
}

// field returns an answer; nil: there is none.
func (p *formReader) field(f *form.Field, path string) value.Value {
	switch f.Type {
	case form.Group, form.Namespace:
		return p.fields(f.Fields, path)
	case form.EditGroup:
		return p.items(f, path)
	case form.Boolean:
		if !p.form.Has("b:" + path) {
			return nil
		}
		return p.form.Get("v:"+path) == "yes"
	default:
	}
	if f.ReadOnly || !p.form.Has("v:"+path) || isSecret(f) && p.form.Get("v:"+path) == "" {
		return nil // of a secret, the page had no value: it keeps its default
	}
	return strings.ReplaceAll(p.form.Get("v:"+path), "\r\n", "\n")
}

func (p *formReader) items(f *form.Field, path string) value.Value {
	if !p.form.Has("n:" + path) {
		return nil
	}
	n, err := strconv.Atoi(p.form.Get("n:" + path))
	if err != nil || n < 0 || n > maxItems {
		p.faults = append(p.faults, fmt.Sprintf("%s takes at most %d items on this page", f.Label, maxItems))
		return nil
	}
	list, dict := value.NewList(), value.NewMap(n)
	for i := range n {
		at := join(path, strconv.Itoa(i))
		if at == p.remove {
			continue
		}
		v := p.field(f.Item, at)
		key := p.form.Get("k:" + at)
		if f.Key != nil && dict.Has(key) {
			p.faults = append(p.faults, fmt.Sprintf("%s: two items have the name %q", f.Label, key))
		}
		list.Append(v)
		dict.Set(key, v)
	}
	if path == p.add && list.Len() < maxItems {
		var v value.Value = value.NewMap(0)
		if !f.Item.Holds() {
			v = ""
		}
		list.Append(v)
		for i := dict.Len() + 1; ; i++ {
			if key := fmt.Sprintf("item%d", i); !dict.Has(key) {
				dict.Set(key, v)
				break
			}
		}
	}
	if f.Key != nil {
		return dict
	}
	return list
}

// A formWriter makes the fields of a page.
type formWriter struct {
	inactive map[string]bool
	problems map[string]string // by path
}

// fields are the fields of a group that are shown. real is the path with the keys
// of items, input that with their numbers.
func (p *formWriter) fields(fields []*form.Field, m *value.Map, real, input string) []fieldView {
	var out []fieldView
	for _, f := range fields {
		if p.inactive[join(real, f.Name)] {
			continue
		}
		out = append(out, p.field(f, m.At(f.Name), join(real, f.Name), join(input, f.Name)))
	}
	return out
}

func (p *formWriter) field(f *form.Field, v value.Value, real, input string) fieldView {
	x := fieldView{Field: f, Input: input, Problem: p.problems[real]}
	delete(p.problems, real)
	if isSecret(f) { // never sent to browsers
		return x
	}
	switch f.Type {
	case form.Group, form.Namespace:
		m, _ := v.(*value.Map)
		x.Fields = p.fields(f.Fields, m, real, input)
	case form.EditGroup:
		switch items := v.(type) {
		case *value.Map:
			for k, item := range items.All() {
				x.Items = append(x.Items, p.item(f, value.Str(k), item, join(real, value.Str(k)), input, len(x.Items)))
			}
		case *value.List:
			for i, item := range items.Items {
				x.Items = append(x.Items, p.item(f, "", item, join(real, strconv.Itoa(i)), input, i))
			}
		}
	case form.Boolean:
		if value.Truth(v) {
			x.Value = "yes"
		}
	default:
		if v != nil {
			x.Value = value.Str(v)
		}
	}
	return x
}

func (p *formWriter) item(f *form.Field, key string, v value.Value, real, input string, n int) itemView {
	at := join(input, strconv.Itoa(n))
	return itemView{Input: at, Key: key, Field: p.field(f.Item, v, real, at)}
}

// isSecret reports whether the value of a field is a secret: a password, or text whose
// name is that of a secret in records.
func isSecret(f *form.Field) bool {
	return f.Type == form.Password || f.Type == form.Text && redact.Hides(f.Name, "x")
}

// viewFields makes the fields of a form with values; missing are the paths of values that are
// needed, and what faults say of what is not on the page is in rest.
func viewFields(f *form.Form, values, filled *value.Map, faults []error, missing []string) (fields []fieldView, rest []string) {
	w := &formWriter{inactive: f.Inactive(values), problems: map[string]string{}}
	for _, x := range faults {
		if fe, ok := errors.AsType[form.ValueError](x); ok {
			w.problems[fe.Path] = fe.Text
			continue
		}
		rest = append(rest, x.Error())
	}
	for _, path := range missing {
		w.problems[path] = "This needs a value."
	}
	fields = w.fields(f.Fields, filled, "", "")
	for _, path := range slices.Sorted(maps.Keys(w.problems)) { // of what is not on the page
		rest = append(rest, path+": "+w.problems[path])
	}
	return fields, rest
}

// viewWizard makes the page of a template with answers. tell says that missing
// answers are pointed out.
func viewWizard(t *orchestration.Template, a *orchestration.Answers, problems []string, tell bool) (wizardView, bool) {
	a.Foreign = true
	filled, faults, missing := t.Check(a)
	v := wizardView{T: t}
	lacks, empty := map[string]bool{}, []string(nil)
	for _, m := range missing {
		switch {
		case !tell:
		case m.Target != nil:
			lacks[m.Path] = true
		default:
			empty = append(empty, m.Path)
		}
	}
	for i := range t.Targets {
		x := targetField{Target: t.Targets[i], Value: a.Targets[t.Targets[i].Name]}
		if x.Value == "" {
			x.Value = x.Default
		}
		if lacks[x.Name] {
			x.Problem = "This needs a target expression."
		}
		v.Targets = append(v.Targets, x)
	}
	fields, rest := viewFields(t.Form, a.Values, filled, faults, empty)
	v.Fields, v.Problems = fields, slices.Concat(problems, rest)
	return v, len(faults) == 0 && len(missing) == 0 && len(problems) == 0
}

func (s *Server) wizard(w http.ResponseWriter, r *http.Request, v *visit) {
	t, last, err := s.back(r.Context()).template(r.Context(), r.PathValue("name"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	if last == nil {
		last = orchestration.NewAnswers()
	}
	view, _ := viewWizard(t, last, nil, false)
	if jid := r.URL.Query().Get("resume"); jobs.IsJID(jid) {
		view.Resume = jid
	}
	if id := r.URL.Query().Get("plan"); jobs.IsJID(id) {
		view.Plan = id
	}
	render(w, r, statusOf(r), wizardPage(page{Title: t.Name, At: "start", Who: v, Bad: rejectedOf(r)}, view))
}

// templateAction is what the form of a template was sent for. Most often it only
// is to show other fields.
func templateAction(f url.Values) string {
	switch f.Get("op") {
	case "run":
		return "run"
	case "plan":
		return "plan"
	}
	return "template.form"
}

// runTemplate takes the answers of a wizard: it shows them again with a further item
// or other fields, with what is wrong, or starts the execution.
func (s *Server) runTemplate(w http.ResponseWriter, r *http.Request, v *visit) {
	t, _, err := s.back(r.Context()).template(r.Context(), r.PathValue("name"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	op, path, _ := strings.Cut(r.PostForm.Get("op"), " ")
	in := &formReader{form: r.PostForm}
	switch op {
	case "add":
		in.add = path
	case "remove":
		in.remove = path
	}
	a := orchestration.NewAnswers()
	for i := range t.Targets {
		name := t.Targets[i].Name
		if expr := targetOf(r.PostForm, "t:"+name); expr != "" {
			a.Targets[name] = expr
		}
	}
	a.Values = in.fields(t.Form.Fields, "")
	run := op == "run" || op == "plan"
	view, good := viewWizard(t, a, in.faults, run)
	if jid := r.PostForm.Get("resume"); jobs.IsJID(jid) {
		view.Resume = jid
	}
	view.Plan = r.PostForm.Get("plan")
	status, p := http.StatusOK, page{Title: t.Name, At: "start", Who: v}
	if run {
		if s.matchTargets(r, &view) && good {
			spec := specOf(kept.Templates, t.Name, r)
			spec.Resume, spec.Plan, spec.Answers = view.Resume, view.Plan, answersOf(a)
			if op == "plan" {
				s.beginPlan(w, r, v, runSpec{Spec: kept.Spec{Kind: kept.TemplatePlans, Name: t.Name}, Answers: spec.Answers})
				return
			}
			if view.Plan != "" {
				spec.Test, spec.Resume = false, "" // it is run as it was made
			}
			if spec.Test || r.PostForm.Get("confirm") == "yes" {
				s.begin(w, r, v, spec, "GET /templates/{name}")
				return
			}
			p.Bad = &rejected{Form: "run", Sent: r.PostForm, Faults: []fieldError{{"confirm-run", errUnconfirmed}}}
		}
		status = http.StatusUnprocessableEntity
	}
	render(w, r, status, wizardPage(p, view))
}

// answersOf is answers as their files have them.
func answersOf(a *orchestration.Answers) *value.Map {
	m := a.Values.Copy()
	targets := value.NewMap(len(a.Targets))
	for _, name := range slices.Sorted(maps.Keys(a.Targets)) {
		targets.Set(name, a.Targets[name])
	}
	m.Set("targets", targets)
	return m
}

// matchTargets reports whether all targets mean as many hosts as they may.
func (s *Server) matchTargets(r *http.Request, v *wizardView) bool {
	good := true
	for i := range v.Targets {
		t := &v.Targets[i]
		if t.Value == "" || t.Problem != "" {
			continue
		}
		match := s.back(r.Context()).match
		if t.Value == t.Default {
			match = s.back(r.Context()).matchDefined
		}
		ids, _, err := match(r.Context(), t.Value)
		switch {
		case err != nil:
			t.Problem = err.Error()
		case len(ids) == 0 && t.Required:
			t.Problem = "Nothing matches this."
		case len(ids) > 1 && !t.Multiple:
			t.Problem = fmt.Sprintf("This takes one host, and %d match.", len(ids))
		}
		good = good && t.Problem == ""
	}
	return good
}
