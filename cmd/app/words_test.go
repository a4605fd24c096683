package app

import (
	"testing"

	"brine/internal/py/value"
)

// Text that is no YAML, or that YAML would fold, stays text, as by
// salt/utils/args.py yamlify_arg.
func TestTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{a: 1}": "{'a': 1}", "7": "7", "a: 1\nb: 2": "'a: 1\\nb: 2'", "=x": "'=x'", "a=b": "'a=b'", "": "''",
	} {
		if got := value.Repr(Typed(text)); got != want {
			t.Errorf("typed(%q) = %s, want %s", text, got, want)
		}
	}
}
