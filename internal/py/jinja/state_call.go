package jinja

import (
	"errors"
	"sort"
	"strings"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Filter calls the filter name on args (the filtered value first). An unknown
// one is a TemplateRuntimeError.
func (s *State) Filter(name string, args []value.Value, kw *value.Map) (value.Value, error) {
	fn, ok := s.run.env.filter(name)
	if !ok {
		return nil, value.Raise("TemplateRuntimeError", "No filter named %s.", value.QuoteStr(name))
	}
	v, err := fn(&Call{State: s, Args: args, Kw: kw})
	if err == nil {
		err = s.run.made(v)
	}
	return v, err
}

// Test calls the test name on args (the tested value first).
func (s *State) Test(name string, args []value.Value, kw *value.Map) (bool, error) {
	fn, ok := s.run.env.test(name)
	if !ok {
		return false, value.Raise("TemplateRuntimeError", "No test named %s.", value.QuoteStr(name))
	}
	v, err := fn(&Call{State: s, Args: args, Kw: kw})
	if err != nil {
		return false, err
	}
	return s.Truth(v)
}

// CallValue calls fn, which may be a *Callable, a macro or a [Caller].
func (s *State) CallValue(fn value.Value, args []value.Value, kw *value.Map) (value.Value, error) {
	return callValue(fn, &Call{State: s, Args: args, Kw: kw})
}

func callValue(fn value.Value, c *Call) (value.Value, error) {
	switch fn := fn.(type) {
	case *Callable:
		return fn.Fn(c)
	case Caller:
		return fn.Call(c)
	case *Undefined:
		return nil, fn.Err()
	}
	return nil, value.Raise("TypeError", "%s object is not callable", value.QuoteStr(value.TypeName(fn)))
}

// IsCallable reports whether v can be called, as Python's callable.
func IsCallable(v value.Value) bool {
	switch v.(type) {
	case *Callable, Caller:
		return true
	}
	return false
}

// GetAttr returns obj.name by Jinja2's rule: the attribute, else the item,
// else an undefined.
func (s *State) GetAttr(obj value.Value, name string) (value.Value, error) {
	if u, ok := obj.(*Undefined); ok {
		return nil, u.Err()
	}
	if v, ok, err := s.Attr(obj, name); ok || err != nil {
		return v, err
	}
	if v, ok, err := s.item(obj, name); ok || err != nil {
		return v, err
	}
	return s.UndefinedIn(obj, name), nil
}

// GetItem returns obj[key] by Jinja2's rule: the item, else for a str key the
// attribute, else an undefined.
func (s *State) GetItem(obj, key value.Value) (value.Value, error) {
	if u, ok := obj.(*Undefined); ok {
		return nil, u.Err()
	}
	if v, ok, err := s.item(obj, key); ok || err != nil {
		return v, err
	}
	if name, ok := value.AsText(key); ok {
		if v, ok, err := s.Attr(obj, name); ok || err != nil {
			return v, err
		}
	}
	return s.UndefinedIn(obj, key), nil
}

// Attr returns a Python attribute of obj: a method, or what obj itself gives.
// Names that start with an underscore are hidden from templates.
func (s *State) Attr(obj value.Value, name string) (value.Value, bool, error) {
	if g, ok := obj.(AttrGetter); ok {
		if v, ok, err := g.GetAttr(s, name); ok || err != nil {
			return v, ok, err
		}
	} else {
		if fn, ok := pymethod.Of(obj, name); ok {
			return &boundMethod{name, fn, obj}, true, nil
		}
		if v, ok := pymethod.Attribute(obj, name); ok {
			return v, true, nil
		}
	}
	if unsafeAttr(obj, name) {
		return &Undefined{
			Kind: s.run.env.opts.Undefined, Obj: obj, HasObj: true, Name: name, Exc: "SecurityError",
			Hint: "access to attribute " + value.QuoteStr(name) + " of " + value.QuoteStr(value.TypeName(obj)) + " object is unsafe.",
		}, true, nil
	}
	return nil, false, nil
}

// unsafeAttr reports whether Python has an attribute that the sandbox hides.
func unsafeAttr(obj value.Value, name string) bool {
	switch obj.(type) {
	case *Generator:
		return name == "gi_frame" || name == "gi_code" || name == "__next__" || name == "__iter__" || objectAttr(name)
	case *Namespace:
		return name == "__class__" || name == "_Namespace__attrs"
	case *Macro:
		switch name {
		case "_environment", "_func", "_argument_count", "_default_autoescape", "_invoke", "__call__":
			return true
		}
	case *Module:
		if name == "_body_stream" || name == "__name__" || name == "__html__" {
			return true
		}
	case *Callable, Caller:
		switch name {
		case "__call__", "__name__", "__qualname__", "__self__", "__globals__", "__code__", "__closure__", "__defaults__", "__kwdefaults__", "__func__":
			return true
		}
	case string, markupsafe.Markup, *value.List, value.Tuple, value.Mapping, *value.Set, value.Bytes:
		switch name {
		case "__len__", "__contains__", "__iter__", "__getitem__", "__add__", "__mul__", "__rmul__", "__class_getitem__":
			return true
		case "__setitem__", "__delitem__", "__reversed__":
			_, isList := obj.(*value.List)
			_, isMap := obj.(value.Mapping)
			return isList || isMap
		case "__mod__", "__rmod__", "__getnewargs__":
			_, ok := value.AsText(obj)
			return ok
		}
	case bool, int64, float64:
		switch name {
		case "__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__", "__neg__", "__abs__", "__int__", "__float__", "__bool__":
			return true
		}
	}
	return objectAttr(name)
}

// objectAttr reports whether every Python object has the attribute.
func objectAttr(name string) bool {
	switch name {
	case "__class__", "__delattr__", "__dir__", "__doc__", "__eq__", "__format__", "__ge__", "__getattribute__",
		"__getstate__", "__gt__", "__hash__", "__init__", "__init_subclass__", "__le__", "__lt__", "__ne__",
		"__new__", "__reduce__", "__reduce_ex__", "__repr__", "__setattr__", "__sizeof__", "__str__", "__subclasshook__":
		return true
	}
	return false
}

// item returns obj[key], or false where Python raises a LookupError or a
// TypeError.
func (s *State) item(obj, key value.Value) (value.Value, bool, error) {
	switch o := obj.(type) {
	case ItemGetter:
		if u, ok := key.(*Undefined); ok {
			return nil, false, u.Err()
		}
		return o.GetItem(s, key)
	case value.Mapping:
		switch key.(type) {
		case string, int64, bool, nil:
			v, ok := o.Get(key)
			return v, ok, nil
		}
	}
	v, err := value.GetItem(obj, key)
	if err != nil && pymethod.Raised(err, "TypeError", "KeyError", "IndexError", "LookupError") {
		return nil, false, nil
	}
	return v, err == nil, err
}

// compare evaluates a comparison.
func (s *State) compare(op string, a, b value.Value) (bool, error) {
	switch op {
	case "==":
		if x, ok := a.(string); ok {
			if y, ok := b.(string); ok {
				return x == y, nil
			}
		}
		return s.Equal(a, b)
	case "!=":
		v, err := s.Equal(a, b)
		return !v, err
	case "in", "not in":
		v, err := s.contains(b, a)
		return v != (op == "not in"), err
	}
	return value.Compare(op, a, b)
}

// contains reports whether x is in container.
func (s *State) contains(container, x value.Value) (bool, error) {
	if h, ok := container.(Container); ok {
		return h.Has(s, x)
	}
	var items []value.Value
	switch c := container.(type) {
	case *value.List:
		items = c.Items
	case value.Tuple:
		items = c
	case *Undefined:
		return value.Contains(container, x)
	}
	for i, item := range items {
		if i&0xfff == 0xfff {
			if err := s.run.late(); err != nil {
				return false, err
			}
		}
		// An undefined item fails when its turn comes.
		if u, ok := item.(*Undefined); ok && u.Kind == Strict && value.Value(u) != x {
			return false, u.Err()
		}
		if eq, err := s.Equal(item, x); eq || err != nil {
			return eq && err == nil, err
		}
	}
	if len(items) > 0 {
		return false, nil
	}
	if u, ok := x.(*Undefined); ok && u.Kind == Strict {
		// The comparison with the first item fails, if there is one.
		if n, err := value.Len(container); err != nil || n > 0 {
			if _, isText := value.AsText(container); isText {
				return false, value.Raise("TypeError", "'in <string>' requires string as left operand, not StrictUndefined")
			}
			if value.IsIterable(container) {
				return false, u.Err()
			}
		}
	}
	return value.Contains(container, x)
}

// known returns the names of the context, for hints.
func (s *State) known() []string {
	var names []string
	for _, vars := range []map[string]value.Value{s.vars, s.given} {
		names = append(names, sortedKeys(vars)...)
	}
	for _, m := range []*value.Map{s.run.vars, s.run.env.opts.Globals} {
		for _, k := range m.Keys() {
			if name, ok := k.(string); ok {
				names = append(names, name)
			}
		}
	}
	return append(names, "cycler", "dict", "joiner", "namespace", "range")
}

func sortedKeys(m map[string]value.Value) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// runtimeError places a Python error at off of t.
func runtimeError(t *Template, off int32, p *value.PyError, hint string, err error) *Error {
	kind := Runtime
	switch p.Type {
	case "UndefinedError":
		kind = UndefinedName
	case "TemplateNotFound", "TemplatesNotFound":
		kind = NotFound
	}
	return &Error{
		Kind: kind, PyType: p.Type, Msg: p.Msg, Hint: hint, Err: err, Source: t.text,
		Pos: place(t.Name, t.text, off),
	}
}

// wrapError places any other error at off of t.
func wrapError(t *Template, off int32, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	var (
		missing *NotFoundError
		none    *notFoundError
		py      *value.PyError
		hint    *hinted
		far     *elsewhere
		up      *timeUpError
	)
	switch {
	case errors.As(err, &missing):
		what := ""
		if missing.Hint != nil {
			what = missing.Hint()
		}
		return runtimeError(t, off, &value.PyError{Type: "TemplateNotFound", Msg: missing.Name}, what, err)
	case errors.As(err, &none):
		return runtimeError(t, off, &value.PyError{Type: "TemplatesNotFound", Msg: none.msg}, "", err)
	case errors.As(err, &hint):
		return runtimeError(t, off, hint.PyError, hint.hint, err)
	case errors.As(err, &far):
		e := runtimeError(t, off, far.PyError, "", err)
		e.At = source.Pos{File: e.Pos.File, Line: e.Pos.Line}
		e.Via, e.Pos = []source.Pos{e.Pos}, far.at
		return e
	case errors.As(err, &py):
		return runtimeError(t, off, py, "", err)
	case errors.As(err, &up):
		return runtimeError(t, off, &value.PyError{Type: "TimeoutError", Msg: up.msg}, "", err)
	}
	return runtimeError(t, off, &value.PyError{Type: "Exception", Msg: err.Error()}, "", err)
}

// didYouMean is the hint for a name that is not among the candidates.
func didYouMean(name string, candidates []string) string {
	return strings.Trim(source.DidYouMean(name, candidates), " ()")
}
