package jinja

import (
	"brine/internal/py/value"
)

// An AttrGetter has attributes: obj.name. It returns false for an unknown
// attribute; then the item of that name is looked up.
type AttrGetter interface {
	GetAttr(s *State, name string) (value.Value, bool, error)
}

// An ItemGetter has items: obj[key]. It returns false where Python would
// raise KeyError.
type ItemGetter interface {
	GetItem(s *State, key value.Value) (value.Value, bool, error)
}

// A Caller can be called with a Call.
type Caller interface {
	Call(c *Call) (value.Value, error)
}

// A Container answers "x in obj" itself.
type Container interface {
	Has(s *State, x value.Value) (bool, error)
}

// An AttrNamer is an object that can suggest names for a wrong one.
type AttrNamer interface {
	// AttrNames returns the candidates for a wrong name.
	AttrNames(wrong string) []string
}

// An Optional is a value that may represent one that does not exist: "is defined" and
// the default filter then take it as undefined.
type Optional interface {
	Missing() bool
}

// A Filtered is a value of which nobody knows what it is: it says itself what filters make of
// it that take one of its items, or read its text as data.
type Filtered interface {
	Filtered(filter string) value.Value
}

// takes reports whether a filter takes an item, or reads data.
func takes(filter string) bool {
	switch filter {
	case "first", "last", "random", "min", "max", "int", "float", "load_json", "load_yaml", "from_json", "from_yaml":
		return true
	}
	return false
}

// An Unpacker gives the n items that an assignment to n targets needs. A loop over it
// has the items of its iterator, also where it is a mapping.
type Unpacker interface {
	value.Iterable
	Unpack(n int) []value.Value
}

// isUndefined reports whether "is defined" is false for a value.
func isUndefined(v value.Value) bool {
	switch v := v.(type) {
	case *Undefined:
		return true
	case Optional:
		return v.Missing()
	}
	return false
}
