package wire

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"brine/internal/py/value"
)

// TestPack checks that values are the same on both sides of the wire.
func TestPack(t *testing.T) {
	t.Parallel()
	for _, v := range []value.Value{
		nil, true, int64(5), 1.5, "é", value.Bytes("\x00\xff"),
		value.Tuple{int64(1), "a"},
		value.NewList(value.NewList()), value.NewSet("a", int64(1)),
		value.MapOf("a", int64(1), "b", value.MapOf("c", nil)), value.MapOf(int64(1), "x", value.Tuple{"a", int64(2)}, "y"), value.MapOf("!b", "no tag"),
		time.Date(2024, 2, 29, 1, 2, 3, 4000, time.UTC),
	} {
		packed, err := pack(v, 0)
		if err != nil {
			t.Errorf("%s: %v", value.Repr(v), err)
			continue
		}
		read, err := value.ParseJSON(string(value.EncodeJSON(packed)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpack(read, 0)
		if err != nil || value.Repr(got) != value.Repr(v) {
			t.Errorf("%s came back as %s, %v", value.Repr(v), value.Repr(got), err)
		}
	}
	loop := value.NewList()
	loop.Append(loop)
	if _, err := pack(loop, 0); err == nil {
		t.Error("a list that holds itself is packed")
	}
}

// FuzzUnpack checks that nothing a helper sends makes brine panic.
func FuzzUnpack(f *testing.F) {
	for _, s := range []string{`{"!b":"AA=="}`, `{"!t":[1]}`, `{"!s":[[1]]}`, `{"!d":[[{"a":1},2]]}`, `{"!d":[[1]]}`, `{"!m":"x"}`, `{"!x":1}`, `{"!t":{"!b":1}}`, `[[[[]]]]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := value.ParseJSON(s)
		if err != nil {
			return
		}
		if v, err = unpack(v, 0); err == nil {
			_ = value.Repr(v)
		}
	})
}

// FuzzFrames reads what a helper may send: it ends, and never panics.
func FuzzFrames(f *testing.F) {
	for _, text := range []string{`{"op":"ret","value":{"!t":[1]}}`, `{"op":"call","kwargs":{"!d":[[{"!t":[1]},2]]}}`, `{"!b":"AA=="}`, `{"!m":"x"}`, `{"!s":[[]]}`, `[`, ``} {
		f.Add(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		for {
			m, err := Read(r)
			if err != nil {
				break
			}
			if _, err := pack(m, 0); err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
		}
	})
}

// TestDepth: what may be sent can be read, whatever it takes as JSON.
func TestDepth(t *testing.T) {
	t.Parallel()
	for name, around := range map[string]func(value.Value) value.Value{
		"list": func(v value.Value) value.Value { return value.NewList(v) }, "tuple": func(v value.Value) value.Value { return value.Tuple{v} },
		"dict": func(v value.Value) value.Value { return value.MapOf(int64(1), v) },
	} {
		var v value.Value
		for range MaxDepth - 1 { // the message is a level, too
			v = around(v)
		}
		if _, err := Frame(value.MapOf("value", around(v))); err == nil {
			t.Errorf("%s: more than %d levels are sent", name, MaxDepth)
		}
		b, err := Frame(value.MapOf("value", v))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := Read(bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)))
		if err != nil || value.Repr(got.At("value")) != value.Repr(v) {
			t.Errorf("%s does not arrive: %v", name, err)
		}
	}
}
