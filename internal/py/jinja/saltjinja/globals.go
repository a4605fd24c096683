package saltjinja

import (
	"math/big"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/value"
)

// globals returns Salt's globals.
func globals() map[string]value.Value {
	return map[string]value.Value{
		"ifelse":            &jinja.Callable{Name: "ifelse", Fn: globalIfelse},
		"odict":             &jinja.Class{Name: "collections.OrderedDict", Make: globalOdict},
		"raise":             &jinja.Callable{Name: "jinja_raise", Fn: globalRaise},
		"show_full_context": &jinja.Callable{Name: "show_full_context", Fn: globalShowContext},
	}
}

func globalOdict(c *jinja.Call) (value.Value, error) { return pymethod.NewDict(c.Args, c.Kw, true) }

// tests returns Salt's tests.
func tests() map[string]jinja.Func {
	return map[string]jinja.Func{"equalto": testEqualto, "list": filterIsList, "match": testMatch}
}

func testEqualto(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("test_equalto", 0, "value", "other")
	if err != nil {
		return nil, err
	}
	return c.State.Equal(a[0], a[1])
}

// globalIfelse returns the value behind the first matcher that matches this
// minion, else the last argument; it is the execution function match.ifelse.
func globalIfelse(c *jinja.Call) (value.Value, error) {
	salt, ok := c.State.Resolve("salt")
	if !ok {
		return nil, c.State.Undefined("salt").(*jinja.Undefined).Err()
	}
	fn, err := c.State.GetItem(salt, "match.ifelse")
	if err != nil {
		return nil, err
	}
	return c.State.CallValue(fn, c.Args, c.Kw)
}

// globalRaise ends the rendering with a message.
func globalRaise(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("jinja_raise", 0, "msg")
	if err != nil {
		return nil, err
	}
	msg, err := c.State.Str(a[0])
	if err != nil {
		return nil, err
	}
	return nil, &value.PyError{Type: "TemplateError", Msg: msg}
}

// globalShowContext returns the variables that the template sees, what is not
// plain data as text. Salt: salt/utils/jinja.py show_full_context.
func globalShowContext(c *jinja.Call) (value.Value, error) {
	if _, err := c.Params("show_full_context", 1); err != nil {
		return nil, err
	}
	return simpleTypes(c.State.All(), 0), nil
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
		if s, ok := value.AsText(v); ok {
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
