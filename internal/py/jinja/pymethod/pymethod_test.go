package pymethod

import (
	"testing"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/value"
)

// TestHintedMethods has every method that a hint may name at its type.
func TestHintedMethods(t *testing.T) {
	t.Parallel()
	for _, v := range []value.Value{"x", markupsafe.Markup("x"), value.NewList(), value.NewMap(0), value.Tuple{}} {
		for _, name := range Names(v) {
			if _, ok := Of(v, name); !ok {
				t.Errorf("%s has no method %s", value.TypeName(v), name)
			}
		}
	}
}
