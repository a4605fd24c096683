package jinja

import (
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Kind is a kind of fault.
type Kind int

// The kinds of faults.
const (
	Runtime       Kind = iota // Python raised, or a limit was reached
	Syntax                    // the template does not parse
	UndefinedName             // something undefined was used
	NotFound                  // a template does not exist
)

// An Error is a fault in a template.
type Error struct {
	Kind   Kind
	PyType string       // the Python exception: "UndefinedError", "TypeError", ...
	Msg    string       // as Jinja2 or Python words it
	Pos    source.Pos   // the very place
	At     source.Pos   // the place that Jinja2 names: the line of the statement
	Via    []source.Pos // statements (include, import, macro call) that led here, innermost first
	Source string       // the text of the template that At is in, newlines as \n
	Hint   string       // the nearest valid name, or empty
	Err    error        // the cause, where a function of Go failed
}

// Error returns the place and the fault on one line.
func (e *Error) Error() string {
	if e.Pos.IsZero() {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A NotFoundError says that a loader has no such template.
type NotFoundError struct {
	Name string
	// Hint returns what the user may have meant, or "". It is called only if nobody expects
	// that the template may be missing; nil: there is no hint.
	Hint func() string
}

// Error names the template.
func (e *NotFoundError) Error() string { return "template not found: " + e.Name }

// hinted is a Python error with a hint for the user.
type hinted struct {
	*value.PyError
	hint string
}

// Unwrap returns the Python error.
func (h *hinted) Unwrap() error { return h.PyError }

// An elsewhere is a Python error whose cause is not at the tag that found it, but
// in data that the tag reads.
type elsewhere struct {
	*value.PyError
	at source.Pos
}

// Unwrap returns the Python error.
func (e *elsewhere) Unwrap() error { return e.PyError }

// ErrorAt returns err as one whose cause is at another place than the tag that
// found it: in data that the tag reads.
func ErrorAt(err *value.PyError, at source.Pos) error { return &elsewhere{err, at} }
