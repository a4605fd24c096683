package ui

import (
	"context"
	"errors"
	"io"

	"github.com/a-h/templ"
	templruntime "github.com/a-h/templ/runtime"

	"brine/internal/core/printable"
)

// What the code of templates is made of; see generate. A buffer that cannot be
// written to keeps the error until it is released.

// writeHTML writes HTML of a template.
//
//go:noinline
func writeHTML(b *templruntime.Buffer, html string) { _, _ = b.WriteString(html) }

// writeText writes the value of an expression.
//
//go:noinline
func writeText(b *templruntime.Buffer, s string) { writeValue(b, printable.Text(s)) }

// writeValue writes text as it is, escaped.
//
//go:noinline
func writeValue(b *templruntime.Buffer, s string) { _, _ = b.WriteString(templ.EscapeString(s)) }

// writeURL writes the value of an attribute with an address, if it is a safe one.
//
//go:noinline
func writeURL(b *templruntime.Buffer, s string) {
	_, _ = b.WriteString(templ.EscapeString(string(templ.URL(s))))
}

// writePart writes a template within another one, which cannot fail: see [part].
//
//go:noinline
func writePart(ctx context.Context, b *templruntime.Buffer, c templ.Component) {
	_ = c.Render(ctx, b)
}

// component is a template that gets a buffer and what is put into it.
func component(write func(ctx context.Context, b *templruntime.Buffer, children templ.Component) error) templ.Component {
	return part(func(ctx context.Context, b *templruntime.Buffer) error {
		children := templ.GetChildren(ctx)
		if children == nil {
			children = templ.NopComponent
		}
		return write(templ.ClearChildren(ctx), b, children)
	})
}

// part is the part of a template that is put into another one. In the buffer of
// another one, it does not fail.
func part(write func(ctx context.Context, b *templruntime.Buffer) error) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) (err error) {
		b, shared := templruntime.GetBuffer(w)
		if !shared {
			if err := ctx.Err(); err != nil {
				return errors.Join(err, templruntime.ReleaseBuffer(b))
			}
			defer func() { err = errors.Join(err, templruntime.ReleaseBuffer(b)) }()
		}
		return write(templ.InitializeContext(ctx), b)
	})
}
