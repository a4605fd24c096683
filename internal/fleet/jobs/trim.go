package jobs

import (
	"context"
	"fmt"

	"brine/internal/py/value"
)

// A Trim says what is read of the returns of a job: all of them together may be more than
// the memory has, and than a page shows.
type Trim struct {
	// Text returns what is left of a text that a target or a step returned.
	Text func(text string) string
	// Large is how many bytes of returns are read that are large, at most, of targets that
	// failed and of others. Those beyond have a text that says so.
	Large int64
	// Only is a target whose return is read in any case; "" is none.
	Only string

	good, bad int64 // read so far
}

// TrimmedJob is Job, but reads of what targets and steps returned only what t says.
func (f *Files) TrimmedJob(ctx context.Context, jid string, t *Trim) (*Job, error) {
	return f.job(ctx, jid, t)
}

// line decodes a line of a record.
func (t *Trim) line(b []byte) *value.Map {
	m := decodeText(string(b))
	if m == nil {
		return nil
	}
	if size, packed := value.AsInt(m.At(packedSize)); packed && m.Has("id") && m.Has("success") && !t.room(m, size) {
		m.Delete(packedKey)
		m.Delete(packedSize)
		m.Set("return", fmt.Sprintf("… %d bytes; the page of this host alone shows them", size))
		return m
	}
	if unpack(m) != nil {
		return nil
	}
	for _, key := range []string{"return", "data", "states"} {
		if v, ok := m.Get(key); ok && (key != "data" || m.Str("note") == "step") {
			m.Set(key, trimmed(v, t.Text))
		}
	}
	return m
}

// room reports whether a large return is read.
func (t *Trim) room(m *value.Map, size int64) bool {
	used := &t.good
	if m.At("success") != true {
		used = &t.bad
	}
	if m.Str("id") == t.Only && t.Only != "" {
		return true
	}
	if t.Only != "" || *used+size > t.Large {
		return false
	}
	*used += size
	return true
}

// trimmed is a value with other texts. Containers are changed in their places.
func trimmed(v value.Value, trim func(string) string) value.Value {
	switch v := v.(type) {
	case string:
		return trim(v)
	case *value.List:
		for i, x := range v.Items {
			v.Items[i] = trimmed(x, trim)
		}
	case *value.Map:
		for _, k := range v.Keys() {
			v.Set(k, trimmed(v.At(k), trim))
		}
	}
	return v
}
