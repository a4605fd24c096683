package jinja

import (
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/value"
)

// An Undefined is the value of a variable, attribute or item that does not exist.
//
// Using it is an error, except for what Jinja2 allows: "is defined", the
// default filter, passing it on. A Plain one also prints as nothing, is false,
// and is empty to loops.
type Undefined struct {
	Kind UndefinedKind
	Hint string      // the whole message, where it is not made of Obj and Name
	Obj  value.Value // what lacks Name
	// HasObj is false for a variable.
	HasObj bool
	Name   value.Value
	Exc    string // the Python type of the error; empty: UndefinedError

	candidates func() []string // names that could have been meant; may be nil
}

// Repr prints "Undefined".
func (u *Undefined) Repr() string { return "Undefined" }

// PyStr is empty; [State.Str] fails where Strict forbids printing.
func (u *Undefined) PyStr() string { return "" }

// Truth is false; [State.Truth] fails where Strict forbids asking.
func (u *Undefined) Truth() bool { return false }

// Len is 0.
func (u *Undefined) Len() int { return 0 }

// TypeName is the class as Python names it.
func (u *Undefined) TypeName() string {
	if u.Kind == Strict {
		return "StrictUndefined"
	}
	return "Undefined"
}

// EqualValue is true for another Undefined of the same kind.
func (u *Undefined) EqualValue(v value.Value) bool {
	o, ok := v.(*Undefined)
	return ok && o.Kind == u.Kind
}

// Msg returns what Jinja2 says of the use of u.
func (u *Undefined) Msg() string {
	switch {
	case u.Hint != "":
		return u.Hint
	case !u.HasObj:
		return value.Repr(u.Name) + " is undefined"
	}
	if _, ok := value.AsText(u.Name); ok {
		return value.QuoteStr(objectTypeRepr(u.Obj)) + " has no attribute " + value.Repr(u.Name)
	}
	return objectTypeRepr(u.Obj) + " has no element " + value.Repr(u.Name)
}

// Err returns the error that a use of u is.
func (u *Undefined) Err() error {
	typ := u.Exc
	if typ == "" {
		typ = "UndefinedError"
	}
	err := &value.PyError{Type: typ, Msg: u.Msg()}
	if hint := u.hint(); hint != "" {
		return &hinted{err, hint}
	}
	return err
}

// hint names the nearest name that is defined.
func (u *Undefined) hint() string {
	name, ok := u.Name.(string)
	if !ok || u.Exc != "" {
		return ""
	}
	if u.candidates != nil {
		return didYouMean(name, u.candidates())
	}
	if n, ok := u.Obj.(AttrNamer); ok && u.HasObj {
		return didYouMean(name, n.AttrNames(name))
	}
	if !u.HasObj {
		return ""
	}
	var keys []string
	if m, ok := u.Obj.(value.Mapping); ok {
		for _, k := range m.Keys() {
			if s, ok := k.(string); ok {
				keys = append(keys, s)
			}
		}
	}
	return didYouMean(name, append(keys, pymethod.Names(u.Obj)...))
}

// objectTypeRepr names v's type as Jinja2's object_type_repr.
func objectTypeRepr(v value.Value) string {
	if v == nil {
		return "None"
	}
	if t, ok := v.(interface{ ObjectTypeRepr() string }); ok {
		return t.ObjectTypeRepr()
	}
	switch v := v.(type) {
	case *value.Map:
		if v.Ordered {
			return "collections.OrderedDict object"
		}
	case markupsafe.Markup:
		return "markupsafe.Markup object"
	}
	return value.TypeName(v) + " object"
}

// Fault returns the error of an operation on u. All are errors for a strict
// undefined; a plain one can be printed, counted, looped over and hashed.
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

// Defined returns an error if v is undefined.
func Defined(v value.Value) error {
	if u, ok := v.(*Undefined); ok {
		return u.Err()
	}
	return nil
}

// NotStrict returns an error if v is a [Strict] undefined.
func NotStrict(v value.Value) error {
	if u, ok := v.(*Undefined); ok && u.Kind == Strict {
		return u.Err()
	}
	return nil
}
