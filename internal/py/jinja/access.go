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
