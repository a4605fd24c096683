package bus_test

import (
	"strings"
	"testing"

	"brine/internal/fleet/bus"
)

// TestHostileData: small texts that take much memory are not read, nor what is large or
// no mapping.
func TestHostileData(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"costly": `{"a": [` + strings.Repeat("{},", 330_000) + `0]}`,
		"large":  `{"a": "` + strings.Repeat("x", bus.MaxEvent) + `"}`,
		"deep":   `{"a": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		"list":   `[]`,
		"twice":  `{}{}`,
	} {
		if m := bus.Decode(text); m != nil {
			t.Errorf("%s: %d keys", name, m.Len())
		}
	}
	if m := bus.Decode(`{"a": 1}`); m.Len() != 1 {
		t.Errorf("a mapping of one key has %d", m.Len())
	}
}
