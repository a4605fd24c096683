package jinja

import (
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// printed returns what {{ v }} prints.
func (s *State) printed(v value.Value, escape bool) (string, error) {
	switch x := v.(type) {
	case string:
		if escape {
			return markupsafe.Escape(x), nil
		}
		return x, nil
	case markupsafe.Markup:
		return string(x), nil
	case *Module:
		return x.body, nil
	case *Undefined:
		if x.Kind == Strict {
			return "", x.Err()
		}
		return "", nil
	}
	finalize := s.run.env.opts.Extension.Finalize
	if finalize == nil {
		finalize = (*State).Str
	}
	text, err := finalize(s, v)
	if escape && err == nil {
		text = markupsafe.Escape(text)
	}
	return text, err
}

// debugText is what the debug tag prints.
func debugText(s *State) string {
	strs := func(names []string) value.Value { return value.Strings(names...) }
	m := value.MapOf("context", shallow(s.All(), 1), "filters", strs(s.run.env.FilterNames()), "tests", strs(s.run.env.TestNames()))
	return pyformat.Pformat(m, 80)
}

// dots is printed instead of a container.
type dots string

// Repr prints the brackets with dots between them.
func (d dots) Repr() string { return string(d) }

// shallow returns v with dots for containers deeper than two levels.
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
