package jinja

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A State is one template at work within a rendering: Jinja2's context. What
// templates call gets it in [Call.S].
type State struct {
	run        *run
	tmpl       *Template
	vars       map[string]value.Value // set at top level
	exported   []string               // those of vars that an import gets
	given      map[string]value.Value // what the including template saw
	blocks     map[string][]*code
	autoescape bool
}

// newState returns the state of a template that sees given beside the context
// of the rendering.
func newState(r *run, t *Template, given map[string]value.Value) *State {
	s := &State{run: r, tmpl: t, given: given, autoescape: r.env.opts.Autoescape}
	if len(t.blocks) > 0 {
		s.blocks = make(map[string][]*code, len(t.blocks))
		for name, k := range t.blocks {
			s.blocks[name] = []*code{k}
		}
	}
	return s
}

// Context returns the context of the rendering; it ends with its time limit.
func (s *State) Context() context.Context { return s.run.ctx }

// Env returns the environment that the template belongs to.
func (s *State) Env() *Env { return s.run.env }

// Autoescape reports whether the template escapes what it prints.
func (s *State) Autoescape() bool { return s.autoescape }

// Pos returns the place of the call that is being evaluated.
func (s *State) Pos() source.Pos {
	if s.run.at == nil {
		return source.Pos{File: s.tmpl.Name}
	}
	return place(s.run.at.Name, s.run.at.text, s.run.off)
}

// Template returns the name of the template that is being evaluated.
func (s *State) Template() string { return s.tmpl.Name }

// Resolve returns the variable name of the context: what the template set at
// top level, what it was given, the context of the rendering, the globals.
func (s *State) Resolve(name string) (value.Value, bool) {
	if v, ok := s.vars[name]; ok {
		return v, true
	}
	if v, ok := s.given[name]; ok {
		return v, true
	}
	if v, ok := s.importVar(name); ok {
		return v, true
	}
	if v, ok := s.run.vars.Get(name); ok {
		if lazy, ok := v.(*value.LazyMap); ok {
			return lazy.Map(), true // a template may change the dict that it names
		}
		return v, true
	}
	if v, ok := s.run.env.opts.Globals.Get(name); ok {
		return v, true
	}
	return s.run.env.global(name)
}

// All returns the context as a dict: the variables that [State.Resolve] finds,
// without the built-in globals.
func (s *State) All() *value.Map {
	m := value.NewMap(s.run.vars.Len() + len(s.vars))
	m.Update(s.run.env.opts.Globals)
	m.Update(s.run.vars)
	for _, vars := range []map[string]value.Value{s.given, s.vars} {
		for _, name := range sortedKeys(vars) {
			m.Set(name, vars[name])
		}
	}
	return m
}

// set notes a variable that was set at top level.
func (s *State) set(name string, v value.Value, export bool) {
	if s.vars == nil {
		s.vars = make(map[string]value.Value, 8)
	}
	s.vars[name] = v
	if export {
		if slices.Contains(s.exported, name) {
			return
		}
		s.exported = append(s.exported, name)
	}
}

// setPrivate notes a variable that import bound: it is not exported, not even
// if a variable of that name was.
func (s *State) setPrivate(name string, v value.Value) {
	s.set(name, v, false)
	if private(name) {
		return
	}
	for i, e := range s.exported {
		if e == name {
			s.exported = append(s.exported[:i:i], s.exported[i+1:]...)
			return
		}
	}
}

// snapshot returns what a template sees that is included here with context.
func (s *State) snapshot(f *frame, names []string, get []getter) map[string]value.Value {
	m := make(map[string]value.Value, len(s.given)+len(s.vars)+len(names))
	maps.Copy(m, s.given)
	maps.Copy(m, s.vars)
	for i, name := range names {
		v := get[i].get(f)
		if _, ok := v.(missing); !ok {
			m[name] = v
		}
	}
	return m
}

// derived returns the state of a scoped block here: it sees the local
// variables.
func (s *State) derived(f *frame, names []string, get []getter) *State {
	d := &State{run: s.run, tmpl: s.tmpl, given: s.snapshot(f, names, get), autoescape: s.autoescape}
	d.blocks = make(map[string][]*code, len(s.blocks))
	maps.Copy(d.blocks, s.blocks)
	return d
}

// super returns the block that k overrides.
func (s *State) super(k *code) value.Value {
	stack := s.blocks[k.name]
	for i := range stack {
		if stack[i] == k && i+1 < len(stack) {
			return &blockRef{k.name, s, stack, i + 1}
		}
	}
	return noParent(s, k.name)
}

// module returns the module of a template that is imported without context;
// it is made once in a rendering.
func (s *State) module(t, from *Template, off int32) (*Module, error) {
	if m := s.run.modules[t]; m != nil {
		return m, nil
	}
	m, err := newModule(newState(s.run, t, nil), from, off)
	if err != nil {
		return nil, err
	}
	if s.run.modules == nil {
		s.run.modules = map[*Template]*Module{}
	}
	s.run.modules[t] = m
	return m, nil
}

// template returns the template that v names.
func (s *State) template(v value.Value, from *Template) (*Template, error) {
	if u, ok := v.(*Undefined); ok {
		return nil, u.Err()
	}
	name, ok := value.AsText(v)
	if !ok {
		name = value.Str(v)
	}
	key := loadKey{name, from.Name}
	if t := s.run.loaded[key]; t != nil {
		return t, nil
	}
	t, err := s.run.env.Get(s.run.ctx, name, from.Name)
	if err != nil {
		return nil, err
	}
	if s.run.loaded == nil {
		s.run.loaded = map[loadKey]*Template{}
	}
	s.run.loaded[key] = t
	return t, nil
}

// selectTemplate returns the template that v names, or the first that exists if v
// is a list of names.
func (s *State) selectTemplate(v value.Value, from *Template) (*Template, error) {
	switch v.(type) {
	case string, markupsafe.Markup, *Undefined:
		return s.template(v, from)
	}
	if !value.Truth(v) {
		return nil, &notFoundError{msg: "Tried to select from an empty list of templates."}
	}
	names, err := value.Items(v)
	if err != nil {
		return nil, err
	}
	var list strings.Builder
	for i, name := range names {
		if err := value.CheckHash(name); err != nil {
			if _, ok := name.(*Undefined); !ok {
				return nil, err
			}
		}
		t, err := s.template(name, from)
		if err == nil {
			return t, nil
		}
		if !isNotFound(err) && !pymethod.Raised(err, "UndefinedError") {
			return nil, err
		}
		if i > 0 {
			list.WriteString(", ")
		}
		if u, ok := name.(*Undefined); ok {
			list.WriteString(u.Msg())
		} else {
			list.WriteString(value.Str(name))
		}
	}
	return nil, &notFoundError{msg: "none of the templates given were found: " + list.String()}
}

// notFoundError is Jinja2's TemplatesNotFound.
type notFoundError struct{ msg string }

func (n *notFoundError) Error() string { return n.msg }

func isNotFound(err error) bool {
	var a *NotFoundError
	var b *notFoundError
	return errors.As(err, &a) || errors.As(err, &b)
}

// Undefined returns the undefined value of the variable name. A hint replaces its
// message.
func (s *State) Undefined(name string, hint ...string) value.Value {
	u := &Undefined{Kind: s.run.env.opts.Undefined, Name: name}
	if len(hint) > 0 {
		u.Hint = hint[0]
	}
	return u
}

// UndefinedIn returns the undefined value of an attribute or item that obj does
// not have.
func (s *State) UndefinedIn(obj, name value.Value) value.Value {
	return &Undefined{Kind: s.run.env.opts.Undefined, Obj: obj, HasObj: true, Name: name}
}

// Str returns v as str(v) does; a strict undefined is an error.
func (s *State) Str(v value.Value) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case *Undefined:
		if v.Kind == Strict {
			return "", v.Err()
		}
		return "", nil
	}
	return value.Str(v), nil
}

// Truth returns bool(v); a strict undefined is an error.
func (s *State) Truth(v value.Value) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case *Undefined:
		if v.Kind == Strict {
			return false, v.Err()
		}
		return false, nil
	}
	return value.Truth(v), nil
}

// Equal returns a == b; a strict undefined is an error.
func (s *State) Equal(a, b value.Value) (bool, error) {
	if u, ok := a.(*Undefined); ok && u.Kind == Strict {
		return false, u.Err()
	}
	if u, ok := b.(*Undefined); ok && u.Kind == Strict {
		return false, u.Err()
	}
	return equalDeep(a, b, 0)
}

// EqualItem returns a == b as Python compares items of containers: what is the
// same object is equal, and is not asked.
func (s *State) EqualItem(a, b value.Value) (bool, error) { return equalItem(a, b, 0) }

// equalDeep compares as value.Equal does, but fails at the strict undefined
// items that Python would compare.
func equalDeep(a, b value.Value, depth int) (bool, error) {
	if depth > 500 {
		return false, nil
	}
	var x, y []value.Value
	switch a := a.(type) {
	case *value.List:
		b, ok := b.(*value.List)
		if !ok {
			break
		}
		if a == b {
			return true, nil
		}
		x, y = a.Items, b.Items
	case value.Tuple:
		if b, ok := b.(value.Tuple); ok {
			x, y = a, b
		}
	case *value.Map:
		b, ok := b.(*value.Map)
		if !ok || a.Len() != b.Len() {
			break
		}
		for k, v := range a.All() {
			w, ok := b.Get(k)
			if !ok {
				return false, nil
			}
			if eq, err := equalItem(v, w, depth+1); !eq || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if x == nil || len(x) != len(y) {
		return value.Equal(a, b), nil
	}
	for i := range x {
		if eq, err := equalItem(x[i], y[i], depth+1); !eq || err != nil {
			return false, err
		}
	}
	return true, nil
}

// equalItem compares two items of containers: what is the same object is equal
// without being asked.
func equalItem(a, b value.Value, depth int) (bool, error) {
	u, ok := a.(*Undefined)
	w, also := b.(*Undefined)
	switch {
	case ok && also && u == w:
		return true, nil
	case ok && u.Kind == Strict:
		return false, u.Err()
	case also && w.Kind == Strict:
		return false, w.Err()
	}
	return equalDeep(a, b, depth)
}
