package jinja

import (
	"context"

	"brine/internal/py/value"
)

type importVarsKey struct{}

// WithImportVars returns a context for [Template.Render] in which a template
// that is imported without context sees what vars returns for its name before
// what the rendering was given. A nil map has
// nothing.
func WithImportVars(ctx context.Context, vars func(template string) *value.Map) context.Context {
	return context.WithValue(ctx, importVarsKey{}, vars)
}

// importVar returns the variable name of an imported template's own.
func (s *State) importVar(name string) (value.Value, bool) {
	if s.given != nil {
		return nil, false
	}
	if s.run.importVars == nil {
		return nil, false
	}
	return s.run.importVars(s.tmpl.Name).Get(name)
}
