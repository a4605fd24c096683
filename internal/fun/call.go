package fun

import (
	"time"

	"brine/internal/value"
)

// Args are what a caller gives.
type Args struct {
	Pos []value.Value
	Kw  *value.Map
	// Test says whether a state only tells what it would change; nil: as the option
	// test says.
	Test value.Value
}

// A Call is one call of a function, its arguments bound and converted to their
// declared types.
//
// The accessors take the name of a declared argument. Asking for another name is
// a bug in the function and panics; dispatch turns that into an error, and the
// tests of the table look for it.
type Call struct {
	Mod  *Module
	Spec *Spec
	Args *value.Map    // every declared argument: given, or its default
	Pos  []value.Value // positional arguments beyond the declared (VarArg)
	Kw   *value.Map    // keyword arguments beyond the declared; never nil
	Name string        // of a state: its name
	Test bool          // of a state: change nothing, say what would change
	Low  *Chunk        // of a state: its low chunk
	Env  *Env
}

// Declares reports whether the function has an argument of a name. It is for
// code that several functions share.
func (c *Call) Declares(name string) bool { return c.Args.Has(name) }

// Attach gives the call the Env that it acts in: one whose Host lets it have system
// directories, where it is called with [SystemPath].
func (c *Call) Attach(e *Env) {
	if c.Declares(forceSystemPath) && c.Bool(forceSystemPath) {
		e = e.With(func(e *Env) { e.Host = e.Host.Force() })
	}
	c.Env = e
}

// Value returns an argument: of its declared type, or nil where it was not given
// and has no default.
func (c *Call) Value(name string) value.Value {
	v, ok := c.Args.Get(name)
	if !ok {
		panic("the function declares no argument " + name)
	}
	return v
}

// Str returns an argument as text; None is "".
func (c *Call) Str(name string) string { return TextOf(c.Value(name)) }

// Bool returns an argument's truth.
func (c *Call) Bool(name string) bool { return value.Truth(c.Value(name)) }

// Int returns an argument of type Int or Size; None is 0.
func (c *Call) Int(name string) int64 {
	return IntOf(c.Value(name))
}

// Float returns an argument of type Float or Duration; None is 0.
func (c *Call) Float(name string) float64 {
	return FloatOf(c.Value(name))
}

// Seconds returns an argument of type Duration as [value.Seconds] reads it: 0
// for None and for what is not above 0, a century at most.
func (c *Call) Seconds(name string) time.Duration {
	return SecondsOf(c.Value(name))
}

// Map returns an argument of type Dict; nil where it is None or of another type
// that it may have.
func (c *Call) Map(name string) *value.Map { return MapOf(c.Value(name)) }

// List returns the items of an argument of type List; a value that is no list
// is a list of one, None is empty.
func (c *Call) List(name string) []value.Value { return ItemsOf(c.Value(name)) }

// Strings returns the items of an argument of type List as text.
func (c *Call) Strings(name string) []string { return StringsOf(c.Value(name)) }

// IsNone reports whether an argument is None: not given, and without a default.
func (c *Call) IsNone(name string) bool { return c.Value(name) == nil }

// TextOf returns an argument as text; None is "".
func TextOf(v value.Value) string {
	if v == nil {
		return ""
	}
	return value.Str(v)
}

// MapOf returns a mapping; nil for another value.
func MapOf(v value.Value) *value.Map {
	switch m := v.(type) {
	case *value.Map:
		return m
	case value.Mapping: // lazy, such as the pillar
		out := value.NewMap(m.Len())
		for _, k := range m.Keys() {
			v, _ := m.Get(k)
			out.Set(k, v)
		}
		return out
	}
	return nil
}

// ItemsOf returns the items of a list; a value that is no list is a list of one, None
// is empty.
func ItemsOf(v value.Value) []value.Value {
	switch v := v.(type) {
	case nil:
		return nil
	case *value.List:
		return v.Items
	case value.Tuple:
		return v
	default:
		return []value.Value{v}
	}
}

// StringsOf returns the items of a list as text.
func StringsOf(v value.Value) []string {
	items := ItemsOf(v)
	ss := make([]string, len(items))
	for i, x := range items {
		ss[i] = value.Str(x)
	}
	return ss
}

// IntOf returns an integer; 0 for another value.
func IntOf(v value.Value) int64 {
	n, _ := value.AsInt(v)
	return n
}

// FloatOf returns a number; 0 for another value.
func FloatOf(v value.Value) float64 {
	f, _ := value.ToFloat(v)
	return f
}

// SecondsOf returns a duration as [value.Seconds] reads it: 0 for None and for what
// is not above 0, a century at most.
func SecondsOf(v value.Value) time.Duration {
	d, _ := value.Seconds(v)
	return d
}
