package jinja

import (
	"brine/internal/value"
)

// Markup and Undefined as operands of Python's operators.

// Text returns the text: Markup is a subclass of str.
func (m Markup) Text() string { return string(m) }

// Retext returns a part of the text as Markup.
func (m Markup) Retext(s string) value.Value { return Markup(s) }

// BinaryOp escapes the other side of +, the arguments of %, and stays Markup
// under *.
func (m Markup) BinaryOp(op string, other value.Value, swapped bool) (value.Value, bool, error) {
	switch op {
	case "+":
		s, ok := Text(other)
		if !ok {
			return nil, false, nil
		}
		if _, safe := other.(Markup); !safe {
			s = Escape(s)
		}
		if err := value.CheckSize(len(s) + len(m)); err != nil {
			return nil, true, err
		}
		if swapped {
			return Markup(s) + m, true, nil
		}
		return m + Markup(s), true, nil
	case "*":
		if _, isInt := value.AsBig(other); !isInt {
			return nil, false, nil
		}
		v, err := value.Mul(string(m), other)
		if err != nil {
			return nil, true, err
		}
		return Markup(v.(string)), true, nil
	case "%":
		if swapped {
			return nil, false, nil
		}
		if s, ok := other.(Markup); ok {
			other = value.Tuple{s}
		}
		s, err := value.PercentFunc(string(m), other, func(v value.Value) (string, error) {
			s, err := escaped(v)
			return string(s), err
		}, func(v value.Value) string { return Escape(value.Repr(v)) })
		if err != nil {
			return nil, true, err
		}
		return Markup(s), true, nil
	}
	return nil, false, nil
}

// escaped is markupsafe's escape(v): Markup stays as it is.
func escaped(v value.Value) (Markup, error) {
	if m, ok := v.(Markup); ok {
		return m, nil
	}
	s, err := value.StrOf(v)
	return Markup(Escape(s)), err
}

// Fault says which uses of an undefined are errors: all of a strict one; a
// plain one can be printed, counted, looped over and hashed.
func (u *Undefined) Fault(op string) error {
	if u.Kind == Strict {
		return u.Err()
	}
	switch op {
	case "str", "iter", "len", "hash", "in", "==":
		return nil
	}
	return u.Err()
}
