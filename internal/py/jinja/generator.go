package jinja

import (
	"iter"

	"brine/internal/py/value"
)

// A Generator is Python's generator: its items come once, on demand.
type Generator struct {
	name string
	next func() (value.Value, bool, error)
	err  error
	done bool
}

// NewGenerator returns a generator of what next gives until it gives false or
// an error. name is the Python function it prints as.
func NewGenerator(name string, next func() (value.Value, bool, error)) *Generator {
	return &Generator{name: name, next: next}
}

// Next returns the next item, or false at the end.
func (g *Generator) Next() (value.Value, bool, error) {
	if g.done {
		return nil, false, nil
	}
	v, ok, err := g.next()
	if err != nil || !ok {
		g.done, g.err, g.next = true, err, nil
		return nil, false, err
	}
	return v, true, nil
}

// Iterate ranges over the remaining items; [Generator.Err] tells afterwards
// whether an error ended them.
func (g *Generator) Iterate() iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for {
			v, ok, _ := g.Next()
			if !ok || !yield(v) {
				return
			}
		}
	}
}

// Err returns the error that ended the generator, if one did.
func (g *Generator) Err() error { return g.err }

// Repr prints as Python, with an address that means nothing.
func (g *Generator) Repr() string { return "<generator object " + g.name + " at 0x7f0000000000>" }

// Truth is true.
func (g *Generator) Truth() bool { return true }

// TypeName is "generator".
func (g *Generator) TypeName() string { return "generator" }

// An Iterator is a Generator that prints as an object of another type, such as
// what Python's reversed returns.
type Iterator struct {
	Generator
	typ string
}

// NewIterator returns an iterator over what next gives until it gives false or
// an error.
func NewIterator(typ string, next func() (value.Value, bool, error)) *Iterator {
	return &Iterator{Generator{next: next}, typ}
}

// Repr prints as Python, with an address that means nothing.
func (r *Iterator) Repr() string { return "<" + r.typ + " object at 0x7f0000000000>" }

// TypeName names the iterator's type.
func (r *Iterator) TypeName() string { return r.typ }
