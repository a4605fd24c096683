package cp

import (
	"context"
	"fmt"
	"slices"

	"brine/internal/core/render"
	"brine/internal/py/value"
)

// An UnknownTemplateError says that there is no template engine of a name.
type UnknownTemplateError struct{ Engine string }

// Error returns Salt's text.
func (e *UnknownTemplateError) Error() string {
	return fmt.Sprintf("Specified template format %s is not supported", e.Engine)
}

// Render renders the text of a file with a template engine. source is where
// the text comes from, as errors and relative imports know it; vars are
// variables besides Salt's own.
func (c *Client) Render(ctx context.Context, engine, source string, text []byte, vars *value.Map) (string, error) {
	if !slices.Contains(render.Engines(), engine) {
		return "", &UnknownTemplateError{engine}
	}
	in := render.Input{Name: source, SaltEnv: c.SaltEnv, Text: text, Vars: vars}
	if rel, saltenv, ok := c.split(source); ok && Scheme(source) == "salt" {
		in.Path, in.SaltEnv = rel, saltenv
		if info, err := c.Stat(ctx, source); err == nil {
			in.Abs = info.Abs
		}
	}
	return render.For(c.Env).Template(ctx, engine, in)
}

// Vars returns the variables of a template: its defaults, with context over
// them, and further ones below both.
func Vars(further, defaults, context *value.Map) *value.Map {
	m := value.NewMap(further.Len() + defaults.Len() + context.Len())
	for _, x := range []*value.Map{further, defaults, context} {
		for k, v := range x.All() {
			m.Set(k, v)
		}
	}
	return m
}
