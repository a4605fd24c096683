package jinja

import (
	"context"

	"brine/internal/source"
	"brine/internal/value"
)

// A Source is the text of a template as a [Loader] gives it.
type Source struct {
	Name string // as errors show it
	Text string
	Key  string // templates of one Key and Text are parsed once; empty: Name
}

// A Loader finds templates by name. from is the name of the template that
// asks. A name that is not there is a [*NotFoundError].
type Loader interface {
	Load(ctx context.Context, name, from string) (Source, error)
}

// An Env has the options and the parsed templates. It is safe for use by
// several goroutines.
type Env struct {
	opts   Options
	loader Loader
}

// New returns an environment. l may be nil: then no other template is there.
func New(o Options, l Loader) *Env {
	return &Env{opts: o.withDefaults(), loader: l}
}

// Options returns the options, defaults filled in.
func (e *Env) Options() Options { return e.opts }

// A Template is a parsed template.
type Template struct {
	Name string
	env  *Env
	text string
}

// An Output is a rendered template.
type Output struct {
	Text string
}

// Pos returns the place in the template where the given line of the text,
// counted from 1, comes from.
func (o *Output) Pos(line int) source.Pos { return source.Pos{} }

// A Macro is a macro of a template.
type Macro struct{ Name string }

// TypeName is "Macro".
func (m *Macro) TypeName() string { return "Macro" }

// A Module is what import binds: the exported names of a template.
type Module struct{ tmpl *Template }

// TypeName is "TemplateModule".
func (m *Module) TypeName() string { return "TemplateModule" }

// A Namespace is what namespace() returns: an object whose attributes set can
// assign.
type Namespace struct{ Attrs *value.Map }

// TypeName is "Namespace".
func (n *Namespace) TypeName() string { return "Namespace" }
