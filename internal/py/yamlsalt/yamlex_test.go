package yamlsalt_test

import (
	"testing"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// The expected data is that of salt/serializers/yamlex.py and
// salt/utils/aggregation.py (3006), their examples among it.
func TestExtended(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"foo:\n  bar: 42\n  baz: [1, 2, 3]\n", "{'foo': {'bar': 42, 'baz': [1, 2, 3]}}"},
		{"placeholder: !aggregate foo\nplaceholder: !aggregate bar\nplaceholder: !aggregate baz\n", "{'placeholder': ['foo', 'bar', 'baz']}"},
		{"placeholder: {!aggregate foo: {foo: 42}}\nplaceholder: {!aggregate foo: {bar: null}}\n!reset placeholder: {!aggregate foo: {baz: inga}}\n", "{'placeholder': {'foo': {'baz': 'inga'}}}"},
		{"placeholder: {!aggregate foo: {foo: 42}}\nplaceholder: {!aggregate foo: {bar: null}}\n", "{'placeholder': {'foo': {'foo': 42, 'bar': None}}}"},
		{"foo: first\nfoo: second\nbar: {first: foo}\nbar: {second: bar}\nbaz: 42\n", "{'foo': 'second', 'bar': {'second': 'bar'}, 'baz': 42}"},
		{"foo: {first: value}\nfoo: !aggregate {second: value}\n", "{'foo': {'second': 'value'}}"},
		{"bar: !aggregate {first: value}\nbar: 42\n", "{'bar': 42}"},
		{"baz: !aggregate [42]\nbaz: [fail]\n", "{'baz': ['fail']}"},
		{"qux: 42\nqux: !aggregate fail\n", "{'qux': ['fail']}"},
		{"a: !aggregate [1, 2]\na: !aggregate [2, 3]\n", "{'a': [1, 2, 3]}"},
		{"a: !aggregate\n", "{'a': []}"},
		{"a: !aggregate {x: {y: 1}, l: !aggregate [1]}\na: !aggregate {x: {z: 2}, l: !aggregate [2]}\n", "{'a': {'x': {'z': 2}, 'l': [1, 2]}}"},
		{"a: !reset 0644\nb: !aggregate 0644\nc: !aggregate \"x\"\n", "{'a': 644, 'b': [644], 'c': ['x']}"},
		{"base: &b {x: 1}\na:\n  <<: *b\n  y: 2\n", "{'base': {'x': 1}, 'a': {'x': 1, 'y': 2}}"},
		{"- a\n- !aggregate b\n", "['a', ['b']]"},
		{"just text\n", "['just text']"},
		{"", "None"},
		{"---\n", "None"},
		{"a: !!set {x, y}\n", "{'a': {'x', 'y'}}"},
	} {
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "x", Extended: true}, []byte(tt.text))
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if got := value.Repr(v); got != tt.want {
			t.Errorf("%q = %s, want %s", tt.text, got, tt.want)
		}
	}
	for _, text := range []string{"a: !other x", "? [a]\n: b", "a: !aggregate [!other 1]", "a: ["} {
		if v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "x", Extended: true}, []byte(text)); err == nil {
			t.Errorf("%q = %s, want an error", text, value.Repr(v))
		}
	}
}

func FuzzExtended(f *testing.F) {
	for _, s := range []string{"a: !aggregate x\na: !aggregate [y]\n!reset a: 1", "a: &a !aggregate {b: *a}", "<<: [{a: 1}, {b: 2}]", "!aggregate a: !reset b"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "x", Extended: true}, []byte(s))
		if err == nil {
			value.Repr(v)
		}
	})
}
