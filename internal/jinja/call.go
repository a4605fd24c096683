package jinja

import (
	"brine/internal/value"
)

// A Func is what templates can call: a filter (its first argument is the
// filtered value), a test, a global, a method, a macro.
//
// It returns a *value.PyError where Python would raise; the evaluator adds the
// place.
type Func func(c *Call) (value.Value, error)

// A Call is one call from a template.
type Call struct {
	S    *State // the rendering: options, context, other filters and tests
	Args []value.Value
	Kw   *value.Map // nil where there are none
}

// A Callable is a Func as a value, with the name that errors print.
type Callable struct {
	Name string
	Fn   Func
}

// Repr prints as Python prints a function, without an address.
func (f *Callable) Repr() string { return "<function " + f.Name + ">" }

// Truth is True, as for every Python function.
func (f *Callable) Truth() bool { return true }

// TypeName is "function".
func (f *Callable) TypeName() string { return "function" }
