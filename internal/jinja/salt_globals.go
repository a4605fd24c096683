package jinja

import (
	"math/big"

	"brine/internal/value"
)

// saltGlobal returns a global that Salt adds.
func saltGlobal(name string) (value.Value, bool) {
	switch name {
	case "ifelse":
		return &Callable{"ifelse", saltIfelse}, true
	case "odict":
		return &class{"collections.OrderedDict", func(c *Call) (value.Value, error) { return newDict(c, true) }}, true
	case "raise":
		return &Callable{"jinja_raise", saltRaise}, true
	case "show_full_context":
		return &Callable{"show_full_context", saltShowContext}, true
	}
	return nil, false
}

// saltTest returns a test that Salt adds.
func saltTest(name string) Func {
	switch name {
	case "match":
		return testMatch
	case "equalto":
		return func(c *Call) (value.Value, error) {
			a, err := c.bind("test_equalto", 0, "value", "other")
			if err != nil {
				return nil, err
			}
			return c.S.Equal(a[0], a[1])
		}
	case "list":
		return saltIsList
	}
	return nil
}

// saltIfelse returns the value behind the first matcher that matches this
// minion, else the last argument; it is the execution function match.ifelse.
func saltIfelse(c *Call) (value.Value, error) {
	salt, ok := c.S.Resolve("salt")
	if !ok {
		return nil, c.S.Undefined("salt").(*Undefined).Err()
	}
	fn, err := c.S.GetItem(salt, "match.ifelse")
	if err != nil {
		return nil, err
	}
	return c.S.CallValue(fn, c.Args, c.Kw)
}

// saltRaise ends the rendering with a message.
func saltRaise(c *Call) (value.Value, error) {
	a, err := c.bind("jinja_raise", 0, "msg")
	if err != nil {
		return nil, err
	}
	msg, err := c.S.Str(a[0])
	if err != nil {
		return nil, err
	}
	return nil, &value.PyError{Type: "TemplateError", Msg: msg}
}

// saltShowContext returns the variables that the template sees, what is not
// plain data as text. Salt: salt/utils/jinja.py show_full_context.
func saltShowContext(c *Call) (value.Value, error) {
	if _, err := c.bind("show_full_context", 1); err != nil {
		return nil, err
	}
	return simpleTypes(c.S.All(), 0), nil
}

// simpleTypes is salt.utils.data.simple_types_filter.
func simpleTypes(v value.Value, depth int) value.Value {
	if depth > 200 {
		return value.Repr(v)
	}
	item := func(v value.Value) value.Value {
		switch v.(type) {
		case nil, string, bool, int64, *big.Int, float64:
			return v
		case *value.List, value.Tuple, value.Mapping:
			return simpleTypes(v, depth+1)
		}
		if s, ok := Text(v); ok {
			return s
		}
		return value.Repr(v)
	}
	list := func(items []value.Value) *value.List {
		l := &value.List{Items: make([]value.Value, len(items))}
		for i, x := range items {
			l.Items[i] = item(x)
		}
		return l
	}
	switch x := v.(type) {
	case *value.List:
		return list(x.Items)
	case value.Tuple:
		return list(x)
	case value.Mapping:
		m := value.NewMap(x.Len())
		for _, k := range x.Keys() {
			e, _ := x.Get(k)
			switch k.(type) {
			case nil, string, bool, int64, *big.Int, float64:
			default:
				k = value.Repr(k)
			}
			m.Set(k, item(e))
		}
		return m
	}
	return v
}
