package jinja

import (
	"brine/internal/value"
)

// An AttrGetter has attributes: obj.name. It returns false where there is no
// such attribute; then the item of that name is asked for.
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

// An AttrNamer is an object that knows the names near which a wrong one may
// lie.
type AttrNamer interface {
	// AttrNames returns the names that could have been meant by one that is not
	// there.
	AttrNames(wrong string) []string
}
