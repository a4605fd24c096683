package jinja

import (
	"fmt"
	"math/big"
	"strings"

	"brine/internal/value"
)

// absent stands for an argument that was not given.
type absent struct{}

// given reports whether an argument is there.
func given(v value.Value) bool { return v != absent{} }

// orNil returns v, or None where it was not given.
func orNil(v value.Value) value.Value {
	if !given(v) {
		return nil
	}
	return v
}

// bind orders the arguments of a call to the Python function fname by names;
// a name that ends in "?" may be left out (then it is [absent]). hidden counts
// the parameters that Jinja2 fills in itself, which Python's messages count
// too. Errors are a Python function's.
func (c *Call) bind(fname string, hidden int, names ...string) ([]value.Value, error) {
	out := make([]value.Value, len(names))
	optional := 0
	for i, n := range names {
		out[i] = absent{}
		if strings.HasSuffix(n, "?") {
			optional++
		}
	}
	copy(out, c.Args)
	if c.Kw != nil {
		for k, v := range c.Kw.All() {
			i := paramIndex(names, k)
			if i < 0 {
				return nil, value.Raise("TypeError", "%s() got an unexpected keyword argument %s", fname, value.Repr(k))
			}
			if given(out[i]) {
				return nil, value.Raise("TypeError", "%s() got multiple values for argument %s", fname, value.Repr(k))
			}
			out[i] = v
		}
	}
	if len(c.Args) > len(names) {
		low, high := hidden+len(names)-optional, hidden+len(names)
		takes := fmt.Sprint(high)
		if low < high {
			takes = fmt.Sprintf("from %d to %d", low, high)
		}
		s, was := "s", "were"
		if high == 1 {
			s = ""
		}
		if hidden+len(c.Args) == 1 {
			was = "was"
		}
		return nil, value.Raise("TypeError", "%s() takes %s positional argument%s but %d %s given", fname, takes, s, hidden+len(c.Args), was)
	}
	var missing []string
	for i, n := range names {
		if !given(out[i]) && !strings.HasSuffix(n, "?") {
			missing = append(missing, "'"+n+"'")
		}
	}
	if missing != nil {
		return nil, value.Raise("TypeError", "%s() %s", fname, value.MissingArguments(missing))
	}
	return out, nil
}

// Bind orders the arguments of a call to the Python function fname by names, as
// a function of another room needs them; a name that ends in "?" may be left
// out, and is None then.
func (c *Call) Bind(fname string, names ...string) ([]value.Value, error) {
	out, err := c.bind(fname, 0, names...)
	for i, v := range out {
		out[i] = orNil(v)
	}
	return out, err
}

func paramIndex(names []string, k value.Value) int {
	key, ok := Text(k)
	if !ok {
		return -1
	}
	for i, n := range names {
		if strings.TrimSuffix(n, "?") == key {
			return i
		}
	}
	return -1
}

// builtin checks the number of arguments of a method of a built-in type, in
// the words of Python's own, and returns them padded with [absent]. It takes
// no keywords.
func (c *Call) builtin(typ, name string, low, high int) ([]value.Value, error) {
	full := name
	if typ != "" {
		full = typ + "." + name
	}
	if c.Kw.Len() > 0 {
		return nil, value.Raise("TypeError", "%s() takes no keyword arguments", full)
	}
	n := len(c.Args)
	switch {
	case n >= low && n <= high:
	case high == 0:
		return nil, value.Raise("TypeError", "%s() takes no arguments (%d given)", full, n)
	case low == 1 && high == 1:
		return nil, value.Raise("TypeError", "%s() takes exactly one argument (%d given)", full, n)
	case n < low:
		most := "at least "
		if low == high {
			most = ""
		}
		return nil, value.Raise("TypeError", "%s expected %s%d argument%s, got %d", name, most, low, value.Plural(low), n)
	default:
		most := "at most "
		if low == high {
			most = ""
		}
		return nil, value.Raise("TypeError", "%s expected %s%d argument%s, got %d", name, most, high, value.Plural(high), n)
	}
	out := make([]value.Value, high)
	for i := range out {
		out[i] = absent{}
	}
	copy(out, c.Args)
	return out, nil
}

// asIndex returns an int argument, bounded so that sums cannot overflow.
func asIndex(v value.Value) (int, error) {
	const far = 1 << 30
	if i, ok := value.AsInt(v); ok {
		return int(min(max(i, -far), far)), nil
	}
	if b, ok := v.(*big.Int); ok {
		return b.Sign() * far, nil
	}
	if u, ok := v.(*Undefined); ok {
		return 0, u.Err()
	}
	return 0, value.Raise("TypeError", "'%s' object cannot be interpreted as an integer", value.TypeName(v))
}

// intArg is asIndex, or dflt where v was not given.
func intArg(v value.Value, dflt int) (int, error) {
	if !given(v) {
		return dflt, nil
	}
	return asIndex(v)
}

// boolArg is bool(v), or dflt where v was not given.
func (c *Call) boolArg(v value.Value, dflt bool) (bool, error) {
	if !given(v) {
		return dflt, nil
	}
	return c.S.Truth(v)
}

// strList is a list of texts as the same kind of text that recv is.
func strList(parts []string, markup bool) *value.List {
	l := &value.List{Items: make([]value.Value, len(parts))}
	for i, p := range parts {
		l.Items[i] = sameText(p, markup)
	}
	return l
}

func sameText(s string, markup bool) value.Value {
	if markup {
		return Markup(s)
	}
	return s
}

// clinic orders the arguments of a method of a built-in type that takes
// keywords, all of them optional.
func (c *Call) clinic(name string, names ...string) ([]value.Value, error) {
	out := make([]value.Value, len(names))
	for i := range out {
		out[i] = absent{}
	}
	if n := len(c.Args) + c.Kw.Len(); n > len(names) {
		return nil, value.Raise("TypeError", "%s() takes at most %d argument%s (%d given)", name, len(names), value.Plural(len(names)), n)
	}
	copy(out, c.Args)
	if c.Kw == nil {
		return out, nil
	}
	for k, v := range c.Kw.All() {
		i := paramIndex(names, k)
		if i < 0 {
			return nil, value.Raise("TypeError", "%s is an invalid keyword argument for %s()", value.Repr(k), name)
		}
		if given(out[i]) {
			return nil, value.Raise("TypeError", "argument for %s() given by name ('%s') and position (%d)", name, names[i], i+1)
		}
		out[i] = v
	}
	return out, nil
}
