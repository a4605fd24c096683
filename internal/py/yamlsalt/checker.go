package yamlsalt

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Checker reads the keys of mappings that people write, and collects what is
// wrong with them, each fault with its place.
type Checker struct{ Errs source.Errors }

// Fault adds a fault.
func (c *Checker) Fault(pos source.Pos, format string, args ...any) {
	c.Errs = append(c.Errs, &source.Error{Pos: pos, Err: fmt.Errorf(format, args...)})
}

// Keys complains of unknown keys; what names the mapping.
func (c *Checker) Keys(m *value.Map, what string, known ...string) {
	for k := range m.All() {
		if slices.Contains(known, value.Str(k)) {
			continue
		}
		hint := source.DidYouMean(value.Str(k), known)
		if hint == "" {
			hint = "; there are " + strings.Join(known, ", ")
		}
		c.Fault(m.Pos(k), "%s: unknown key %q%s", what, value.Str(k), hint)
	}
}

// Text reads a text, without spaces around it; "" where there is none.
func (c *Checker) Text(m *value.Map, key string) string {
	v := m.At(key)
	s, ok := v.(string)
	if !ok && v != nil {
		c.Fault(m.Pos(key), "%s must be text, not %s", key, value.Kind(v))
	}
	return strings.TrimSpace(s)
}

// Texts reads a text or a list of texts.
func (c *Checker) Texts(m *value.Map, key string) []string {
	switch v := m.At(key).(type) {
	case nil:
	case string:
		return []string{v}
	case *value.List:
		out := make([]string, v.Len())
		for i, x := range v.Items {
			s, ok := x.(string)
			if !ok {
				c.Fault(v.PosAt(i), "%s: each item must be text, not %s", key, value.Kind(x))
			}
			out[i] = s
		}
		return out
	default:
		c.Fault(m.Pos(key), "%s must be text or a list of texts, not %s", key, value.Kind(v))
	}
	return nil
}
