package pymethod

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/value"
)

// An Interp is the program that a function runs in: it knows undefined values,
// and what attributes and items a template may see.
type Interp interface {
	// Str returns str(v).
	Str(v value.Value) (string, error)
	// Truth returns bool(v).
	Truth(v value.Value) (bool, error)
	// EqualItem returns a == b as containers compare their items.
	EqualItem(a, b value.Value) (bool, error)
	// GetAttr returns obj.name as a template sees it.
	GetAttr(obj value.Value, name string) (value.Value, error)
	// GetItem returns obj[key] as a template sees it.
	GetItem(obj, key value.Value) (value.Value, error)
	// CallValue calls fn.
	CallValue(fn value.Value, args []value.Value, kw *value.Map) (value.Value, error)
}

// A Func is a method, bound to its object. It returns a *value.PyError where Python would raise.
type Func func(c Call) (value.Value, error)

// A Call has the arguments of one call.
type Call struct {
	In   Interp
	Args []value.Value
	Kw   *value.Map // nil where there are none
}

// absent stands for an argument that was not given.
type absent struct{}

// Given reports whether an argument that [Call.Bind] returned was given.
func Given(v value.Value) bool { return v != absent{} }

// OrNil returns v, or None where it was not given.
func OrNil(v value.Value) value.Value {
	if !Given(v) {
		return nil
	}
	return v
}

// Bind returns the arguments in the order of names, as the parameters of the
// Python function fname. A name that ends in "?" is optional; [Given] is false
// for an argument that was left out. hidden is the number of parameters that the
// caller fills in, which Python's messages count too. Errors are those of Python
// functions.
func (c Call) Bind(fname string, hidden int, names ...string) ([]value.Value, error) {
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
			if Given(out[i]) {
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
		if !Given(out[i]) && !strings.HasSuffix(n, "?") {
			missing = append(missing, "'"+n+"'")
		}
	}
	if missing != nil {
		return nil, value.Raise("TypeError", "%s() %s", fname, value.MissingArguments(missing))
	}
	return out, nil
}

func paramIndex(names []string, k value.Value) int {
	key, ok := value.AsText(k)
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

// Builtin returns from low to high arguments of a function that takes no
// keywords. [Given] is false for those that were left out. Errors are those of
// Python's built-in functions.
func (c Call) Builtin(typ, name string, low, high int) ([]value.Value, error) {
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

// AsIndex returns an int argument, limited so that sums cannot overflow.
func AsIndex(v value.Value) (int, error) {
	const far = 1 << 30
	if i, ok := value.AsInt(v); ok {
		return int(min(max(i, -far), far)), nil
	}
	if b, ok := v.(*big.Int); ok {
		return b.Sign() * far, nil
	}
	if u, ok := v.(value.Faulty); ok {
		if err := u.Fault("index"); err != nil {
			return 0, err
		}
	}
	return 0, value.Raise("TypeError", "'%s' object cannot be interpreted as an integer", value.TypeName(v))
}

// IntArg is AsIndex, or dflt where v was not given.
func IntArg(v value.Value, dflt int) (int, error) {
	if !Given(v) {
		return dflt, nil
	}
	return AsIndex(v)
}

// boolArg is bool(v), or dflt where v was not given.
func (c Call) boolArg(v value.Value, dflt bool) (bool, error) {
	if !Given(v) {
		return dflt, nil
	}
	return c.In.Truth(v)
}

// strList is a list of texts as the same kind of text that recv is.
func strList(parts []string, markup bool) *value.List {
	l := &value.List{Items: make([]value.Value, len(parts))}
	for i, p := range parts {
		l.Items[i] = SameText(p, markup)
	}
	return l
}

// SameText returns s as Markup or as str.
func SameText(s string, markup bool) value.Value {
	if markup {
		return markupsafe.Markup(s)
	}
	return s
}

// clinic orders the arguments of a method of a built-in type that takes
// keywords, all of them optional.
func (c Call) clinic(name string, names ...string) ([]value.Value, error) {
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
		if Given(out[i]) {
			return nil, value.Raise("TypeError", "argument for %s() given by name ('%s') and position (%d)", name, names[i], i+1)
		}
		out[i] = v
	}
	return out, nil
}

// Raised reports whether err is a Python error of one of the types.
func Raised(err error, types ...string) bool {
	var p *value.PyError
	if !errors.As(err, &p) {
		return false
	}
	return slices.Contains(types, p.Type)
}

// UnpackPair returns the two items of item, as "k, v = item" does.
func UnpackPair(item value.Value) (k, v value.Value, err error) {
	if !value.IsIterable(item) {
		return nil, nil, value.Raise("TypeError", "cannot unpack non-iterable %s object", value.TypeName(item))
	}
	items, err := value.Items(item)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(items) < 2:
		return nil, nil, value.Raise("ValueError", "not enough values to unpack (expected 2, got %d)", len(items))
	case len(items) > 2:
		return nil, nil, value.Raise("ValueError", "too many values to unpack (expected 2)")
	}
	return items[0], items[1], nil
}

// NoItems returns the error of v.items(), where v is not a dict.
func NoItems(v value.Value) error {
	return value.Raise("AttributeError", "'%s' object has no attribute 'items'", value.TypeName(v))
}
