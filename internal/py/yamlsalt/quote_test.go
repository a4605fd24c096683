package yamlsalt_test

import (
	"testing"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

func TestQuote(t *testing.T) {
	// Of PyYAML's write_double_quoted and write_single_quoted.
	for _, tt := range []struct{ in, double, single string }{
		{"", "\"\"", "''"},
		{"a", "\"a\"", "'a'"},
		{"it's", "\"it's\"", "'it''s'"},
		{"say \"x\"", "\"say \\\"x\\\"\"", "'say \"x\"'"},
		{"a\nb", "\"a\\nb\"", "'a\n\nb'"},
		{"a\n", "\"a\\n\"", "'a\n\n'"},
		{"\n\nb", "\"\\n\\nb\"", "'\n\n\nb'"},
		{"a\n\nb", "\"a\\n\\nb\"", "'a\n\n\nb'"},
		{"é\u2028x\u0085😀\ufeff\x00\a\t\\", "\"\\xE9\\Lx\\N\\U0001F600\\uFEFF\\0\\a\\t\\\\\"", "'é\u2028x\u0085😀\ufeff\x00\a\t\\'"},
		{"a\rb", "\"a\\rb\"", "'a\rb'"},
		{"a\u2028b", "\"a\\Lb\"", "'a\u2028b'"},
		{"a\u2028\nb", "\"a\\L\\nb\"", "'a\u2028\nb'"},
		{" a  b ", "\" a  b \"", "' a  b '"},
		{"xxx   y", "\"xxx   y\"", "'xxx   y'"},
		{"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word ", "\"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word \"", "'word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word '"},
	} {
		if got := yamlsalt.DoubleQuote(tt.in); got != tt.double {
			t.Errorf("DoubleQuote(%q) = %s, want %s", tt.in, got, tt.double)
		}
		if got := yamlsalt.SingleQuote(tt.in); got != tt.single {
			t.Errorf("SingleQuote(%q) = %q, want %q", tt.in, got, tt.single)
		}
	}
	for _, tt := range []struct {
		in   value.Value
		want string
	}{
		{nil, "null"}, {true, "true"}, {int64(5), "5"}, {1e16, "1.0e+16"}, {"a\"b", `"a\"b"`}, {value.NewList(), "!yaml_encode() only works with YAML scalar data; failed for <class 'list'>"},
	} {
		got, err := yamlsalt.EncodeScalar(tt.in)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != tt.want {
			t.Errorf("EncodeScalar(%s) = %s, want %s", value.Repr(tt.in), got, tt.want)
		}
	}
}

func TestSerialize(t *testing.T) {
	m := &value.Map{Ordered: true}
	m.Set("b", "é")
	m.Set("a", value.NewList(int64(1)))
	got, err := yamlsalt.Serialize(m, yamlsalt.SerializerOptions())
	// Of salt.serializers.yaml: sorted, escaped, no last line break.
	if want := "a: [1]\nb: \"\\xE9\""; err != nil || got != want {
		t.Errorf("Serialize = %q, %v, want %q", got, err, want)
	}
}

// marked is text of a type of its own, as markup-safe text is.
type marked string

func TestSubclasses(t *testing.T) {
	v := value.NewList(marked("a: b"), &struct{ x int }{})
	if got, err := yamlsalt.Dump(v, yamlsalt.SafeOptions()); got != "[NULL, NULL]\n" || err != nil {
		t.Errorf("Dump = %q, %v", got, err)
	}
	if _, err := yamlsalt.Serialize(v, yamlsalt.SerializerOptions()); err == nil {
		t.Error("Serialize of an object: no error")
	}
	if got, err := yamlsalt.Serialize(value.NewList(marked("a: b")), yamlsalt.SerializerOptions()); got != "['a: b']" || err != nil {
		t.Errorf("Serialize = %q, %v", got, err)
	}
}
