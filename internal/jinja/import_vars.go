package jinja

import (
	"context"

	"brine/internal/value"
)

type importVarsKey struct{}

// WithImportVars returns a context for [Template.Render] in which a template
// that is imported without context sees what vars returns for its name before
// what the rendering was given. Salt sets tpldir and tplfile so. A nil map has
// nothing.
func WithImportVars(ctx context.Context, vars func(template string) *value.Map) context.Context {
	return context.WithValue(ctx, importVarsKey{}, vars)
}

// importVar returns the variable name of an imported template's own.
func (s *State) importVar(name string) (value.Value, bool) {
	if s.given != nil {
		return nil, false
	}
	vars, ok := s.run.ctx.Value(importVarsKey{}).(func(string) *value.Map)
	if !ok {
		return nil, false
	}
	return vars(s.tmpl.Name).Get(name)
}
