// Package pyformat formats values as Python does: the % operator and format()
// of texts, format specs, strftime, pprint and textwrap.
package pyformat

import "brine/internal/py/value"

// Mod returns a % b as Python evaluates it: a formatted text where a is a text
// or bytes, else the remainder.
func Mod(a, b value.Value) (value.Value, error) {
	switch x := a.(type) {
	case string:
		return percentValue(x, b)
	case value.Bytes:
		s, err := percentBytes(string(x), b)
		return value.Bytes(s), err
	case value.Texter:
		if o, ok := a.(value.Operator); ok {
			if v, ok, err := o.BinaryOp("%", b, false); ok || err != nil {
				return v, err
			}
		}
		return percentValue(x.Text(), b)
	}
	return value.Mod(a, b)
}

func percentValue(format string, args value.Value) (value.Value, error) {
	out, err := Percent(format, args)
	if err != nil {
		return nil, err
	}
	return out, nil
}
