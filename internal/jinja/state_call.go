package jinja

import (
	"brine/internal/value"
)

// Filter calls the filter name on args (the filtered value first). An unknown
// one is a TemplateRuntimeError.
func (s *State) Filter(name string, args []value.Value, kw *value.Map) (value.Value, error) {
	fn, ok := s.run.env.filter(name)
	if !ok {
		return nil, value.Raise("TemplateRuntimeError", "No filter named %s.", value.QuoteStr(name))
	}
	return fn(&Call{S: s, Args: args, Kw: kw})
}

// Test calls the test name on args (the tested value first).
func (s *State) Test(name string, args []value.Value, kw *value.Map) (bool, error) {
	fn, ok := s.run.env.test(name)
	if !ok {
		return false, value.Raise("TemplateRuntimeError", "No test named %s.", value.QuoteStr(name))
	}
	v, err := fn(&Call{S: s, Args: args, Kw: kw})
	if err != nil {
		return false, err
	}
	return s.Truth(v)
}

// CallValue calls fn, which may be a *Callable, a macro or a [Caller].
func (s *State) CallValue(fn value.Value, args []value.Value, kw *value.Map) (value.Value, error) {
	c := &Call{S: s, Args: args, Kw: kw}
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

// filter finds a filter: the option's, else a built-in one.
func (e *Env) filter(name string) (Func, bool) {
	if e.opts.Filter != nil {
		if f, ok := e.opts.Filter(name); ok {
			return f, true
		}
	}
	return filter(name)
}

// test finds a test: the option's, else a built-in one.
func (e *Env) test(name string) (Func, bool) {
	if e.opts.Test != nil {
		if f, ok := e.opts.Test(name); ok {
			return f, true
		}
	}
	return test(name)
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
	if v, ok, err := s.attr(obj, name); ok || err != nil {
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
	if name, ok := Text(key); ok {
		if v, ok, err := s.attr(obj, name); ok || err != nil {
			return v, err
		}
	}
	return s.UndefinedIn(obj, key), nil
}

// attr returns a Python attribute of obj: a method, or what obj itself gives.
func (s *State) attr(obj value.Value, name string) (value.Value, bool, error) {
	if g, ok := obj.(AttrGetter); ok {
		return g.GetAttr(s, name)
	}
	if fn, ok := method(obj, name); ok {
		return &Callable{Name: name, Fn: fn}, true, nil
	}
	return nil, false, nil
}

// item returns obj[key], or false where Python raises a LookupError or a
// TypeError.
func (s *State) item(obj, key value.Value) (value.Value, bool, error) {
	switch o := obj.(type) {
	case ItemGetter:
		return o.GetItem(s, key)
	case value.Mapping:
		if !value.Hashable(key) {
			return nil, false, nil
		}
		v, ok := o.Get(key)
		return v, ok, nil
	}
	v, err := value.GetItem(obj, key)
	if isPy(err, "TypeError", "KeyError", "IndexError", "LookupError") {
		return nil, false, nil
	}
	return v, err == nil, err
}
