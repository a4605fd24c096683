package fun

import (
	"reflect"
	"time"

	"brine/internal/py/value"
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
// A row's Do gets its arguments as a struct of its own; Args has them by name for what
// hands them on as they are, and for functions that are made at run time.
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

// Attach gives the call the Env that it acts in: one whose Host lets it have system
// directories, where it is called with [SystemPath].
func (c *Call) Attach(e *Env) {
	if force, _ := c.Args.Get(forceSystemPath); value.Truth(force) {
		e = e.With(func(e *Env) { e.Host = e.Host.Force() })
	}
	c.Env = e
}

// Given returns the arguments that a struct declares and the call gives, by their
// names and as they are in Args, for functions that hand many on. a is a pointer to
// the struct.
func (c *Call) Given(a any) *value.Map {
	given := value.NewMap(8)
	for _, arg := range layoutOf(reflect.TypeOf(a).Elem()).args {
		if v, _ := c.Args.Get(arg.Name); v != nil {
			given.Set(arg.Name, v)
		}
	}
	return given
}

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

// ItemsOf returns the items of a list; another value is a list of one, None
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
