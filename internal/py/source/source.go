// Package source names places in files that users wrote.
//
// A [Pos] is a place, an [Error] is a fault at a place together with the chain
// of include statements that led there, and [Errors] collect the faults of
// one pass.
package source

import (
	"errors"
	"fmt"
	"strings"
)

// A Pos is a place in a file. Line and Col count from 1; 0 is unknown.
type Pos struct {
	File string // as the user knows it, for example "web/init.sls"
	Line int
	Col  int
}

// IsZero reports whether nothing is known of the place.
func (p Pos) IsZero() bool { return p == Pos{} }

// String returns "file:line:col" without the parts that are unknown.
func (p Pos) String() string {
	s := p.File
	if s == "" {
		s = "-"
	}
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
		if p.Col > 0 {
			s += fmt.Sprintf(":%d", p.Col)
		}
	}
	return s
}

// An Error is a fault at a place in an SLS, template, pillar, roster or
// configuration file.
type Error struct {
	Pos  Pos
	Via  []Pos  // statements (include, import, macro call) that led here, innermost first
	Hint string // what the user can do; may be empty
	Salt string // the text Salt reports for this fault; empty: Err's text
	Err  error
}

// Error returns one line: the place and the fault.
func (e *Error) Error() string {
	if e.Pos.IsZero() {
		return e.Err.Error()
	}
	return e.Pos.String() + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// SaltText returns the text that Salt reports for the fault.
func (e *Error) SaltText() string {
	if e.Salt != "" {
		return e.Salt
	}
	return e.Err.Error()
}

// Trace returns the fault with its include chain and hint, one line each.
func (e *Error) Trace() string {
	var b strings.Builder
	b.WriteString(e.Error())
	e.writeVia(&b)
	if e.Hint != "" {
		b.WriteString("\nhint: ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// maxVia bounds the lines of an include chain; one that includes itself would
// fill the screen.
const maxVia = 12

// writeVia writes the chain, a place that comes again and again once.
func (e *Error) writeVia(b *strings.Builder) {
	lines := 0
	for i := 0; i < len(e.Via); {
		n := 1
		for i+n < len(e.Via) && e.Via[i+n] == e.Via[i] {
			n++
		}
		if lines++; lines > maxVia {
			fmt.Fprintf(b, "\n\t... and %d more", len(e.Via)-i)
			return
		}
		b.WriteString("\n\tincluded from ")
		b.WriteString(e.Via[i].String())
		if n > 1 {
			fmt.Fprintf(b, " (%d times)", n)
		}
		i += n
	}
}

// Errors are the faults of one pass, in the order they were found.
type Errors []*Error

// Error returns all faults, one a line.
func (l Errors) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults for errors.Is and errors.As.
func (l Errors) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// Err returns l, or nil where it is empty.
func (l Errors) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// Faults returns the placed faults within err, in order. An err that has no
// place becomes one fault without a place.
func Faults(err error) Errors {
	if err == nil {
		return nil
	}
	if l, ok := errors.AsType[Errors](err); ok {
		return l
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return Errors{e}
	}
	return Errors{{Err: err}}
}
