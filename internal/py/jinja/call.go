package jinja

import (
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/value"
)

// A Func is what templates can call: a filter (its first argument is the
// filtered value), a test, a global, a method, a macro.
//
// It returns a *value.PyError where Python would raise; the evaluator adds the
// place.
type Func func(c *Call) (value.Value, error)

// A Call is one call from a template.
type Call struct {
	State *State // the rendering: options, context, other filters and tests
	Args  []value.Value
	Kw    *value.Map // nil where there are none
}

// Params returns the arguments in the order of names, as the parameters of the
// Python function fname. A name that ends in "?" is optional; see
// [pymethod.Given]. hidden is the number of parameters that Jinja2 fills in,
// which Python's messages count too.
func (c *Call) Params(fname string, hidden int, names ...string) ([]value.Value, error) {
	return pymethod.Call{Args: c.Args, Kw: c.Kw}.Bind(fname, hidden, names...)
}

// Bind is Params with None for what was left out.
func (c *Call) Bind(fname string, names ...string) ([]value.Value, error) {
	out, err := c.Params(fname, 0, names...)
	for i, v := range out {
		out[i] = pymethod.OrNil(v)
	}
	return out, err
}

// BoolArg is bool(v), or dflt where v was not given.
func (c *Call) BoolArg(v value.Value, dflt bool) (bool, error) {
	if !pymethod.Given(v) {
		return dflt, nil
	}
	return c.State.Truth(v)
}

// builtin checks the number of arguments as Python does for built-in functions.
func (c *Call) builtin(typ, name string, low, high int) ([]value.Value, error) {
	return pymethod.Call{Args: c.Args, Kw: c.Kw}.Builtin(typ, name, low, high)
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

// python returns the call as methods take it.
func (c *Call) python() pymethod.Call { return pymethod.Call{In: c.State, Args: c.Args, Kw: c.Kw} }

// pythonMethod returns a method of obj as an attribute of another object.
func pythonMethod(obj value.Value, name string) (value.Value, bool, error) {
	fn, ok := pymethod.Of(obj, name)
	if !ok {
		return nil, false, nil
	}
	return &Callable{Name: name, Fn: func(c *Call) (value.Value, error) { return fn(c.python()) }}, true, nil
}

// A boundMethod is a method of a built-in type, bound to an object.
type boundMethod struct {
	name string
	fn   pymethod.Func
	of   value.Value
}

// Call calls the method.
func (m *boundMethod) Call(c *Call) (value.Value, error) { return m.fn(c.python()) }

// Repr prints as Python does, with an address that means nothing.
func (m *boundMethod) Repr() string {
	return "<built-in method " + m.name + " of " + value.TypeName(m.of) + " object at 0x7f0000000000>"
}

// Truth is True.
func (m *boundMethod) Truth() bool { return true }

// TypeName is that of Python's built-in methods.
func (m *boundMethod) TypeName() string { return "builtin_function_or_method" }
