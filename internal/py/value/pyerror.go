package value

import "fmt"

// A PyError is an error as Python raises it.
type PyError struct {
	Type string // "TypeError", "KeyError", "ZeroDivisionError", ...
	Msg  string
}

// Error returns the message alone, as str(exception).
func (e *PyError) Error() string { return e.Msg }

// Raise returns a *PyError.
func Raise(typ, format string, args ...any) error {
	return &PyError{typ, fmt.Sprintf(format, args...)}
}
