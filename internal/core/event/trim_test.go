package event

import (
	"strings"
	"testing"

	"brine/internal/py/value"
)

func TestRingBound(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		name       string
		data, want *value.Map
	}{
		{"small", value.MapOf("return", long(900)), value.MapOf("return", long(900))},
		{"the largest value", value.MapOf("id", "a", "return", long(2000), "x", long(400)), value.MapOf("id", "a", "return", trimmed, "x", long(400))},
		{"within dicts", value.MapOf("return", value.MapOf("a", long(2000), "b", true)), value.MapOf("return", value.MapOf("a", trimmed, "b", true))},
		{"a list as a whole", value.MapOf("return", value.NewList(long(300), long(300), long(500))), value.MapOf("return", trimmed)},
		{
			"smaller ones after it", value.MapOf("a", long(450), "b", long(350), "c", long(350), "d", long(50)),
			value.MapOf("a", trimmed, "b", long(350), "c", long(350), "d", long(50)),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := NewRing(4, at)
			r.Bound(1000)
			data := tt.data
			was := value.EncodeJSON(data)
			r.Fire("tag", data)
			e, _, err := r.Next(t.Context(), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			e.Data.Delete("_stamp")
			if !value.Equal(e.Data, tt.want) {
				t.Errorf("the event is %.300s, want %.300s", value.EncodeJSON(e.Data), value.EncodeJSON(tt.want))
			}
			if string(value.EncodeJSON(data)) != string(was) {
				t.Error("what was fired was changed")
			}
		})
	}
}

// TestHostileRing fires what takes much memory, and secrets: the newest events are
// kept, and what the mask leaves of them.
func TestHostileRing(t *testing.T) {
	t.Parallel()
	r := NewRing(0, at)
	r.Mask(func(v value.Value) value.Value {
		m := v.(*value.Map).Copy()
		m.Set("password", "masked")
		return m
	})
	const large = 1 << 20
	for range 3 * maxBytes / large {
		r.Fire("large", value.MapOf("password", "hunter2", "data", strings.Repeat("x", large)))
	}
	if r.total > maxBytes || r.kept < 10 || r.kept > maxBytes/large {
		t.Errorf("%d events of %d bytes are kept", r.kept, r.total)
	}
	e, _, err := r.Next(t.Context(), r.Seq()-1, nil)
	if err != nil || e.Data.Str("password") != "masked" {
		t.Errorf("the newest event has the password %q, %v", e.Data.Str("password"), err)
	}
}
