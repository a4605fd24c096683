package saltjinja

import (
	"strings"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
)

// finalize returns what {{ v }} prints. Salt passes every printed value through
// a finalizer that makes dicts print as YAML can read them: an OrderedDict as a
// plain dict, and the values of a dict by str rather than repr unless they are
// text.
func finalize(s *jinja.State, v value.Value) (string, error) { return finalized(s, v, 0) }

// finalized is str() of what the finalizer makes of v.
func finalized(s *jinja.State, v value.Value, depth int) (string, error) {
	switch x := v.(type) {
	case jinja.Optional:
		return value.Str(v), nil
	case value.Mapping:
		if err := tooDeep(depth); err != nil {
			return "", err
		}
		return dictText(x, func(e value.Value) (string, error) { return finalizedEntry(s, e, depth+1) })
	case *value.List, value.Tuple, *value.Set:
		return finalizedRepr(s, v, depth)
	case *jinja.Group:
		return "", errGroupTuple()
	}
	return s.Str(v)
}

// errGroupTuple is the error of Salt's finalizer for a group of groupby: it copies
// each tuple from a list of its items, which that type does not accept.
func errGroupTuple() error {
	return value.Raise("TypeError", "_GroupTuple.__new__() missing 1 required positional argument: 'list'")
}

// dictText is a dict as Python prints it, with the text of each value by entry.
func dictText(m value.Mapping, entry func(value.Value) (string, error)) (string, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range m.Keys() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(value.Repr(k))
		b.WriteString(": ")
		e, _ := m.Get(k)
		text, err := entry(e)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	b.WriteByte('}')
	return b.String(), nil
}

// finalizedEntry is a value of a dict that the finalizer made.
func finalizedEntry(s *jinja.State, v value.Value, depth int) (string, error) {
	if _, ok := value.AsText(v); ok {
		return value.Repr(v), nil
	}
	return finalized(s, v, depth)
}

// finalizedRepr is repr() of what the finalizer makes of v.
func finalizedRepr(s *jinja.State, v value.Value, depth int) (string, error) {
	if err := tooDeep(depth); err != nil {
		return "", err
	}
	items := func(open, end string, items []value.Value) (string, error) {
		var b strings.Builder
		b.WriteString(open)
		for i, x := range items {
			if i > 0 {
				b.WriteString(", ")
			}
			text, err := finalizedRepr(s, x, depth+1)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		}
		b.WriteString(end)
		return b.String(), nil
	}
	switch x := v.(type) {
	case jinja.Optional:
		return value.Repr(v), nil
	case value.Mapping:
		return dictText(x, func(e value.Value) (string, error) { return finalizedRepr(s, e, depth+1) })
	case *value.List:
		return items("[", "]", x.Items)
	case value.Tuple:
		if len(x) == 1 {
			return items("(", ",)", x)
		}
		return items("(", ")", x)
	case *value.Set:
		if x.Len() == 0 {
			return "set()", nil
		}
		return items("{", "}", x.Items())
	case *jinja.Group:
		return "", errGroupTuple()
	}
	return value.Repr(v), nil
}

// tooDeep stops at what contains itself, which the finalizer cannot walk.
func tooDeep(depth int) error {
	if depth > 300 {
		return value.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	return nil
}
