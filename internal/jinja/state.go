package jinja

import (
	"context"

	"brine/internal/source"
	"brine/internal/value"
)

// A State is one template at work within a rendering: Jinja2's context. What
// templates call gets it in [Call.S].
type State struct {
	run        *run
	tmpl       *Template
	vars       map[string]value.Value // set at top level, and what the template was given
	autoescape bool
	pos        source.Pos
}

// run is what the templates of one rendering share.
type run struct {
	ctx  context.Context
	env  *Env
	vars *value.Map // the context of the rendering; imported templates see it too
}

// Context returns the context of the rendering; it ends with its time limit.
func (s *State) Context() context.Context { return s.run.ctx }

// Env returns the environment that the template belongs to.
func (s *State) Env() *Env { return s.run.env }

// Autoescape reports whether the template escapes what it prints.
func (s *State) Autoescape() bool { return s.autoescape }

// Pos returns the place in the template that is being evaluated.
func (s *State) Pos() source.Pos { return s.pos }

// Template returns the name of the template that is being evaluated.
func (s *State) Template() string { return s.tmpl.Name }

// Undefined returns what stands for the variable name; with a hint, that is
// its whole message.
func (s *State) Undefined(name string, hint ...string) value.Value {
	u := &Undefined{Kind: s.run.env.opts.Undefined, Name: name}
	if len(hint) > 0 {
		u.Hint = hint[0]
	}
	return u
}

// UndefinedIn returns what stands for the attribute or item name that obj
// lacks.
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
	return value.Equal(a, b), nil
}
