package serial_test

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"brine/internal/py/serial"
	"brine/internal/py/value"
)

// unplain makes bytes of {"b": hex}.
func unplain(t *testing.T, v value.Value) value.Value {
	t.Helper()
	m, ok := v.(*value.Map)
	if !ok || m.Len() != 1 || !m.Has("b") {
		return v
	}
	s, ok := m.At("b").(string)
	if !ok {
		return v
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return value.Bytes(b)
}

func text(v value.Value) string {
	if b, ok := v.(value.Bytes); ok {
		return string(b)
	}
	return value.Str(v)
}

// TestSalt compares with what Salt's serializers did (testdata/record.py).
func TestSalt(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/serial.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.ParseJSON(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	all := v.(*value.Map)
	for _, how := range []string{"write", "read"} {
		for _, it := range all.At(how).(*value.List).Items {
			c := it.(*value.Map)
			f, ok := serial.Of(c.Str("format"))
			if !ok {
				t.Errorf("there is no format %s", c.Str("format"))
				continue
			}
			var got value.Value
			var err error
			if how == "write" {
				got, err = f.Write(c.At("data"), c.Map("options"))
			} else {
				got, err = f.Read(text(unplain(t, c.At("text"))), "", c.Map("options"))
			}
			what := how + " " + value.Repr(c)
			if len(what) > 300 {
				what = what[:300]
			}
			switch want := unplain(t, c.At("out")); {
			case c.Has("error"):
				if err == nil || !strings.HasPrefix(err.Error(), firstLine(c.Str("error"))) {
					t.Errorf("%s\n got %v, error %v", what, got, err)
				}
			case err != nil:
				t.Errorf("%s\n got error %v", what, err)
			case how == "write" && text(got) != text(want):
				t.Errorf("%s\n got  %q\n want %q", what, text(got), text(want))
			case how == "read" && value.Repr(deep(t, want)) != value.Repr(got) && !value.Equal(deep(t, want), got):
				t.Errorf("%s\n got  %s\n want %s", what, value.Repr(got), value.Repr(want))
			}
		}
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// deep undoes the recording's form of bytes anywhere in v.
func deep(t *testing.T, v value.Value) value.Value {
	t.Helper()
	switch x := unplain(t, v).(type) {
	case *value.Map:
		m := value.NewMap(x.Len())
		for k, y := range x.All() {
			m.Set(k, deep(t, y))
		}
		return m
	case *value.List:
		l := &value.List{}
		for _, y := range x.Items {
			l.Append(deep(t, y))
		}
		return l
	default:
		return x
	}
}

// TestRoundTrip checks that what is written is read again.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	data := value.MapOf("a", value.NewList(int64(1), -1.5, "é", true, value.Bytes("\x00\xff"), int64(-5), int64(1)<<40), "b", value.NewMap(0),
		"when", time.Date(2024, 2, 29, 1, 2, 3, 0, time.UTC), "long", strings.Repeat("x", 70000))
	for _, o := range []*value.Map{nil, value.MapOf("fmt", "FMT_BINARY")} {
		f, _ := serial.Of("plist")
		out, err := f.Write(data, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Read(text(out), "", nil); err != nil || !value.Equal(got, data) {
			t.Errorf("plist %v: got %.300s, %v", o, value.Repr(got), err)
		}
	}
	data.Delete("when")
	f, _ := serial.Of("msgpack")
	out, err := f.Write(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read(text(out), "", nil); err != nil || !value.Equal(got, data) {
		t.Errorf("msgpack: got %.300s, %v", value.Repr(got), err)
	}
}

// FuzzRead checks that no text of others makes a reader panic or grow without
// bound.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"[a]\nx=%(x)s\n", "a=1", "\x81\xa1a\x01", "\xdd\xff\xff\xff\xff", "<plist><dict><key>a</key><array><true/></array></dict></plist>", "[a]\na=%(b)s%(b)s\nb=%(c)s%(c)s\nc=%(d)s\nd=", "a: !aggregate x\n", "[t]\na=1"} {
		for i := range serial.Names() {
			f.Add(uint8(i), s)
		}
	}
	bin, _ := serial.Of("plist")
	for _, v := range []value.Value{value.MapOf("a", value.NewList("x", 1.5, nil, true)), "x"} {
		out, err := bin.Write(v, value.MapOf("fmt", "FMT_BINARY"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(4), text(out))
	}
	f.Fuzz(func(t *testing.T, which uint8, s string) {
		names := serial.Names()
		format, _ := serial.Of(names[int(which)%len(names)])
		if format.Read == nil {
			return
		}
		if v, err := format.Read(s, "", nil); err == nil && len(value.Repr(v)) > 4*value.MaxBytes {
			t.Fatal("the value is too large")
		}
	})
}
