package jinja

import (
	"strings"

	"brine/internal/value"
)

// printed returns what {{ v }} prints.
//
// Salt passes every printed value through a finalizer that makes dicts print
// as YAML can read them: an OrderedDict as a plain dict, and the values of a
// dict by str rather than repr unless they are text.
func (s *State) printed(v value.Value, escape bool) (string, error) {
	switch x := v.(type) {
	case string:
		if escape {
			return Escape(x), nil
		}
		return x, nil
	case Markup:
		return string(x), nil
	case *Module:
		return x.body, nil
	case *Undefined:
		if x.Kind == Strict {
			return "", x.Err()
		}
		return "", nil
	}
	text, err := s.finalized(v, 0)
	if escape && err == nil {
		text = Escape(text)
	}
	return text, err
}

// finalized is str() of what the finalizer makes of v.
func (s *State) finalized(v value.Value, depth int) (string, error) {
	switch x := v.(type) {
	case value.Mapping:
		if err := tooDeep(depth); err != nil {
			return "", err
		}
		return dictText(x, func(e value.Value) (string, error) { return s.finalizedEntry(e, depth+1) })
	case *value.List, value.Tuple, *value.Set:
		return s.finalizedRepr(v, depth)
	case *groupTuple:
		return "", errGroupTuple()
	}
	return s.Str(v)
}

// errGroupTuple is how Salt's finalizer fails at a group of groupby: it makes
// each tuple anew from a list of its items, which that type does not take.
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
func (s *State) finalizedEntry(v value.Value, depth int) (string, error) {
	if _, ok := Text(v); ok {
		return value.Repr(v), nil
	}
	return s.finalized(v, depth)
}

// finalizedRepr is repr() of what the finalizer makes of v.
func (s *State) finalizedRepr(v value.Value, depth int) (string, error) {
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
			text, err := s.finalizedRepr(x, depth+1)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		}
		b.WriteString(end)
		return b.String(), nil
	}
	switch x := v.(type) {
	case value.Mapping:
		return dictText(x, func(e value.Value) (string, error) { return s.finalizedRepr(e, depth+1) })
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
	case *groupTuple:
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

// debugText is what the debug tag prints.
func debugText(s *State) string {
	strs := func(names []string) value.Value { return value.Strings(names...) }
	m := value.MapOf("context", shallow(s.All(), 1), "filters", strs(filterNames()), "tests", strs(testNames()))
	return value.Pformat(m, 80)
}

// dots stands for a container that is not shown.
type dots string

// Repr prints the brackets with dots between them.
func (d dots) Repr() string { return string(d) }

// shallow returns v with what lies deeper than two levels as dots.
func shallow(v value.Value, depth int) value.Value {
	switch x := v.(type) {
	case value.Mapping:
		if depth > 2 {
			return dots("{...}")
		}
		m := value.NewMap(x.Len())
		for _, k := range x.Keys() {
			e, _ := x.Get(k)
			m.Set(k, shallow(e, depth+1))
		}
		return m
	case *value.List:
		if depth > 2 {
			return dots("[...]")
		}
		l := &value.List{}
		for _, e := range x.Items {
			l.Append(shallow(e, depth+1))
		}
		return l
	case value.Tuple:
		if depth > 2 {
			return dots("(...)")
		}
	}
	return v
}
