package value_test

import (
	"testing"
	"time"

	"brine/internal/py/value"
)

func TestKind(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]value.Value{
		"nothing": nil, "text": "x", "True or False": true, "a number": 1.5, "a mapping": value.NewMap(0), "a list": value.NewList(), "a datetime": time.Time{},
	} {
		if got := value.Kind(v); got != want {
			t.Errorf("Kind(%s) = %q, want %q", value.Repr(v), got, want)
		}
	}
}
