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

// A boundMethod is a method of a built-in type, bound to an object.
type boundMethod struct {
	name string
	fn   Func
	of   value.Value
}

// Call calls the method.
func (m *boundMethod) Call(c *Call) (value.Value, error) { return m.fn(c) }

// Repr prints as Python does, with an address that means nothing.
func (m *boundMethod) Repr() string {
	return "<built-in method " + m.name + " of " + value.TypeName(m.of) + " object at 0x7f0000000000>"
}

// Truth is True.
func (m *boundMethod) Truth() bool { return true }

// TypeName is that of Python's built-in methods.
func (m *boundMethod) TypeName() string { return "builtin_function_or_method" }
