package value_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
)

// lazy is a Mapping of another package.
type lazy struct{ m *value.Map }

func (l *lazy) Len() int                              { return l.m.Len() }
func (l *lazy) Get(k value.Value) (value.Value, bool) { return l.m.Get(k) }
func (l *lazy) Keys() []value.Value                   { return l.m.Keys() }

type markup string

func TestAppendJSON(t *testing.T) {
	big1, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	m := value.MapOf("b", int64(1), "a", value.NewList(int64(1), 1.5, nil, true), "é", "ü\n\"\\/\x7f\x01")
	keys := value.MapOf(nil, int64(1), true, int64(2), int64(5), int64(3), 1.5, int64(4), math.Inf(1), big1)
	for _, tt := range []struct {
		name string
		v    value.Value
		o    value.JSONOptions
		want string // of Python 3.11's json.dumps
	}{
		{"defaults", m, value.JSONOptions{}, `{"b": 1, "a": [1, 1.5, null, true], "é": "ü\n\"\\/` + "\x7f" + `\u0001"}`},
		{"ensure_ascii", m, value.JSONOptions{EscapeNonASCII: true}, `{"b": 1, "a": [1, 1.5, null, true], "\u00e9": "\u00fc\n\"\\/\u007f\u0001"}`},
		{"sort_keys", m, value.JSONOptions{SortKeys: true}, `{"a": [1, 1.5, null, true], "b": 1, "é": "ü\n\"\\/` + "\x7f" + `\u0001"}`},
		{
			"indent 4", value.MapOf("a", value.NewList(int64(1), value.MapOf()), "b", value.NewList()),
			value.JSONOptions{Indent: 4},
			"{\n    \"a\": [\n        1,\n        {}\n    ],\n    \"b\": []\n}",
		},
		{"indent 0", value.NewList(int64(1), value.Tuple{int64(2)}), value.JSONOptions{Indent: -1}, "[\n1,\n[\n2\n]\n]"},
		{"indent tab", value.NewList(int64(1), int64(2)), value.JSONOptions{IndentText: "\t"}, "[\n\t1,\n\t2\n]"},
		{"separators", value.MapOf("a", value.NewList(int64(1), int64(2))), value.JSONOptions{ItemSep: ",", KeySep: ":"}, `{"a":[1,2]}`},
		{"keys", keys, value.JSONOptions{}, `{"null": 1, "true": 2, "5": 3, "1.5": 4, "Infinity": 123456789012345678901234567890}`},
		{"floats", value.NewList(math.Inf(1), math.Inf(-1), math.NaN(), 1e16, 1e-5, 3.0), value.JSONOptions{}, `[Infinity, -Infinity, NaN, 1e+16, 1e-05, 3.0]`},
		{"strict", value.NewList(math.Inf(1), math.Inf(-1), math.NaN(), 3.0, value.MapOf(math.NaN(), math.NaN())), value.JSONOptions{Strict: true}, `["Infinity", "-Infinity", "NaN", 3.0, {"NaN": "NaN"}]`},
		{"astral", "😀", value.JSONOptions{EscapeNonASCII: true}, `"\ud83d\ude00"`},
		{"surrogateescape", "a\xffb", value.JSONOptions{}, `"a\udcffb"`},
		{"lazy mapping", &lazy{m: value.MapOf("x", int64(1))}, value.JSONOptions{}, `{"x": 1}`},
		{"a kind of string", markup("<b>"), value.JSONOptions{}, `"<b>"`},
		{
			"repr", value.NewList(value.NewSet(int64(1)), value.Bytes("hi"), time.Date(2020, 1, 2, 3, 4, 0, 0, time.UTC)),
			value.JSONOptions{Repr: true},
			`["{1}", "b'hi'", "datetime.datetime(2020, 1, 2, 3, 4)"]`,
		},
		{"skipkeys", value.MapOf(value.Tuple{int64(1)}, int64(1), "a", int64(2)), value.JSONOptions{SkipKeys: true}, `{"a": 2}`},
	} {
		got, err := value.AppendJSON(nil, tt.v, tt.o)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: AppendJSON = %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestAppendJSONErrors(t *testing.T) {
	loop := value.NewList()
	loop.Append(loop)
	for _, tt := range []struct {
		v    value.Value
		o    value.JSONOptions
		want string
	}{
		{value.NewSet(), value.JSONOptions{}, "Object of type set is not JSON serializable"},
		{value.NewList(value.Bytes("x")), value.JSONOptions{}, "Object of type bytes is not JSON serializable"},
		{value.MapOf(value.Tuple{}, nil), value.JSONOptions{Repr: true}, "keys must be str, int, float, bool or None, not tuple"},
		{value.MapOf("a", nil, int64(1), nil), value.JSONOptions{SortKeys: true}, "'<' not supported between instances of 'int' and 'str'"},
		{loop, value.JSONOptions{Repr: true}, "Circular reference detected"},
	} {
		got, err := value.AppendJSON([]byte("x"), tt.v, tt.o)
		var pe *value.PyError
		if !errors.As(err, &pe) || pe.Msg != tt.want || string(got) != "x" {
			t.Errorf("AppendJSON(%s) = %q, %v, want error %q", value.Repr(tt.v), got, err, tt.want)
		}
	}
	if got := string(value.EncodeJSON(value.MapOf("l", loop, value.Tuple{int64(1)}, value.NewSet()))); got != `{"l":["[...]"],"(1,)":"set()"}` {
		t.Errorf("EncodeJSON of a loop = %s", got)
	}
}

func TestParseJSON(t *testing.T) {
	for _, tt := range []struct{ text, want string }{ // want: Python's repr, or the text of its error
		{``, `!Expecting value: line 1 column 1 (char 0)`},
		{`{`, `!Expecting property name enclosed in double quotes: line 1 column 2 (char 1)`},
		{`{"a"`, `!Expecting ':' delimiter: line 1 column 5 (char 4)`},
		{`{"a":`, `!Expecting value: line 1 column 6 (char 5)`},
		{`{"a":1`, `!Expecting ',' delimiter: line 1 column 7 (char 6)`},
		{`{"a":1,`, `!Expecting property name enclosed in double quotes: line 1 column 8 (char 7)`},
		{`{"a":1,}`, `!Expecting property name enclosed in double quotes: line 1 column 8 (char 7)`},
		{`[1,`, `!Expecting value: line 1 column 4 (char 3)`},
		{`[1 2]`, `!Expecting ',' delimiter: line 1 column 4 (char 3)`},
		{`[1,]`, `!Expecting value: line 1 column 4 (char 3)`},
		{`nul`, `!Expecting value: line 1 column 1 (char 0)`},
		{`01`, `!Extra data: line 1 column 2 (char 1)`},
		{`-`, `!Expecting value: line 1 column 1 (char 0)`},
		{`1.`, `!Extra data: line 1 column 2 (char 1)`},
		{`1e`, `!Extra data: line 1 column 2 (char 1)`},
		{`"abc`, `!Unterminated string starting at: line 1 column 1 (char 0)`},
		{`"a\x"`, `!Invalid \escape: line 1 column 3 (char 2)`},
		{`"a\u12"`, `!Invalid \uXXXX escape: line 1 column 4 (char 3)`},
		{`"a\`, `!Unterminated string starting at: line 1 column 1 (char 0)`},
		{"\"a\nb\"", `!Invalid control character at: line 1 column 3 (char 2)`},
		{`{1:2}`, `!Expecting property name enclosed in double quotes: line 1 column 2 (char 1)`},
		{"\ufeff1", `!Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)`},
		{`{"é":x}`, `!Expecting value: line 1 column 6 (char 5)`},
		{"[\"é\",\n tru]", `!Expecting value: line 2 column 2 (char 7)`},
		{` [-Infinity, NaN, -0, 1e5, 1E+2, 0.10] `, `[-inf, nan, 0, 100000.0, 100.0, 0.1]`},
		{`1e999`, `inf`},
		{`[9223372036854775807, 9223372036854775808, -123456789012345678901234567890]`, `[9223372036854775807, 9223372036854775808, -123456789012345678901234567890]`},
		{`{"b": 1, "a": {"c": [true, false, null, {}, []]}, "b": 2}`, `{'b': 2, 'a': {'c': [True, False, None, {}, []]}}`},
		{`"\u00e9\n\t\/\b\f\r\"\\ \ud83d\ude00"`, `'é\n\t/\x08\x0c\r"\\ 😀'`},
		{`"a\udcffb"`, `'a\udcffb'`},
	} {
		v, err := value.ParseJSON(tt.text)
		got := value.Repr(v)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != tt.want {
			t.Errorf("ParseJSON(%q) = %s, want %s", tt.text, got, tt.want)
		}
	}
	for _, text := range []string{strings.Repeat("[", 100000), strings.Repeat(`{"a":`, 100000), strings.Repeat("1", 5000)} {
		_, err := value.DecodeJSON(strings.NewReader(text))
		if _, ok := errors.AsType[*value.PyError](err); !ok {
			t.Errorf("DecodeJSON(%.5s...) = %v, want a *PyError", text, err)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, 2.5e3, "\u00e9", null]}`, `"\ud800\ud83d\ude00"`, `[-Infinity, NaN]`, "{\"a\":1,}", "\"\xff\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := value.ParseJSON(s)
		if err != nil {
			if _, ok := errors.AsType[*value.PyError](err); !ok {
				t.Fatalf("ParseJSON(%q): %T", s, err)
			}
			return
		}
		out := value.EncodeJSON(v)
		back, err := value.ParseJSON(string(out))
		if err != nil || string(value.EncodeJSON(back)) != string(out) {
			t.Fatalf("ParseJSON(%q) gives %s, which gives %s, %v", s, out, value.EncodeJSON(back), err)
		}
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	l := value.NewList()
	for i := range 1000 {
		l.Append(value.MapOf("id", int64(i), "name", "state number", "changes", value.MapOf("new", "x", "old", nil), "result", true))
	}
	var dst []byte
	for b.Loop() {
		dst, _ = value.AppendJSON(dst[:0], l, value.JSONOptions{Indent: 4})
	}
	b.SetBytes(int64(len(dst)))
}

func BenchmarkParseJSON(b *testing.B) {
	l := value.NewList()
	for i := range 1000 {
		l.Append(value.MapOf("id", int64(i), "name", "state number", "changes", value.MapOf("new", "x", "old", nil), "result", true))
	}
	text := string(value.EncodeJSON(l))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := value.ParseJSON(text); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWriteJSON has long texts written in parts, which are cut at every place of a
// character and of what is none.
func TestWriteJSON(t *testing.T) {
	t.Parallel()
	const part = 1 << 20
	for _, tail := range []string{"é", "€", "\U0001f600", "\xff\xff\xff\xff\xff", "\x80\x80\x80\x80\x80\x80", "\n\"\\", "\xe2\x82", ""} {
		for before := part - 4; before <= part; before++ {
			text := strings.Repeat("x", before) + tail + "end"
			v := value.MapOf("k", text, "l", value.NewList(int64(1), value.Tuple{nil, true}))
			var b bytes.Buffer
			if err := value.WriteJSON(&b, v); err != nil {
				t.Fatal(err)
			}
			if want := value.EncodeJSON(v); !bytes.Equal(b.Bytes(), want) {
				t.Fatalf("%q after %d bytes is written otherwise in parts", tail, before)
			}
			back, err := value.DecodeJSONSized(&b, int64(len(text)))
			if err != nil || back.(*value.Map).Str("k") != text {
				t.Fatalf("%q after %d bytes is read back otherwise: %v", tail, before, err)
			}
		}
	}
	full := errors.New("full")
	calls := 0
	if err := value.WriteJSON(writerFunc(func([]byte) (int, error) { calls++; return 0, full }), strings.Repeat("x", 8<<20)); !errors.Is(err, full) || calls != 1 {
		t.Errorf("WriteJSON = %v after %d writes, want the first error of the writer", err, calls)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestDecodeTakesLittle has a large document decoded: what it takes is the document
// and the texts in it, once each.
func TestDecodeTakesLittle(t *testing.T) {
	const size = 8 << 20
	doc := value.EncodeJSON(value.MapOf("text", strings.Repeat("a line\n", size/7)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := value.DecodeJSONSized(bytes.NewReader(doc), int64(len(doc)))
	runtime.ReadMemStats(&after)
	if err != nil || len(v.(*value.Map).Str("text")) < size-7 {
		t.Fatalf("the document is not decoded: %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > uint64(5*len(doc)/2) {
		t.Errorf("a document of %d bytes took %d", len(doc), took)
	}
}

func TestOutweighs(t *testing.T) {
	t.Parallel()
	loop := value.NewList()
	loop.Append(loop)
	for _, tt := range []struct {
		v    value.Value
		n    int
		want bool
	}{
		{nil, 0, true},
		{nil, 8, false},
		{"four", 12, false},
		{"four", 11, true},
		{value.Bytes("four"), 11, true},
		{value.NewList("a", "b"), 26, false},
		{value.NewList("a", "b"), 25, true},
		{value.Tuple{"a", "b"}, 25, true},
		{value.MapOf("a", "b"), 26, false},
		{value.MapOf("a", "b"), 25, true},
		{value.MapOf("a", value.NewList(int64(1))), 1 << 20, false},
		{loop, 1 << 10, true},
		{(*value.Map)(nil), 8, false},
		{(*value.List)(nil), 8, false},
	} {
		if got := value.Outweighs(tt.v, tt.n); got != tt.want {
			t.Errorf("Outweighs(%T, %d) = %t, want %t", tt.v, tt.n, got, tt.want)
		}
	}
}
