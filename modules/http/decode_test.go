package http

import (
	"strings"
	"testing"

	"brine/internal/py/value"
)

func TestParseXML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"<r/>", "[]"},
		{"<r><a/></r>", "[{'a': None}]"},
		{"\ufeff<r><a>x</a><a>y</a></r>", "[{'a': 'x'}, {'a': 'y'}]"},
		{"<!DOCTYPE r><r><a>\r\n&lt;&#65;&#x42;&quot;&apos;&gt;</a></r> <!-- end -->", "[{'a': '\\n<AB\"\\'>'}]"},
		{"<r><a><b>1</b> tail <c><d>2</d></c></a></r>", "[{'b': '1', 'c': {'d': '2'}}]"},
		{"<r><a><b><c>1</c></b><b>2</b></a></r>", "[{'b': [{'c': '1'}, {'b': '2'}]}]"},
		{"<r a=\"<\"\n b='\">'><a >x</a ></r>", "[{'a': 'x'}]"},
		{"<r><?pi x?><a>1<!-- c -->2</a></r>", "[{'a': '12'}]"},
		{"", "no element found: line 1, column 0"},
		{"<r>", "no element found: line 1, column 3"},
		{"<r></a>", "mismatched tag: line 1, column 3"},
		{"<r/><r/>", "junk after document element: line 1, column 4"},
		{"x", "syntax error: line 1, column 0"},
		{"<r>\n&nbsp;</r>", "undefined entity: line 1, column 3"},
		{"<r>a & b</r>", "undefined entity: line 1, column 3"},
		{"<r><1/></r>", "not well-formed (invalid token): line 1, column 3"},
		{"<r a='x></r>", "not well-formed (invalid token): line 1, column 0"},
		{"<r><!-- x</r>", "unclosed token: line 1, column 3"},
		{"<!DOCTYPE r [<!ENTITY a 'b'>]><r>&a;</r>", "a document type with declarations is not read: line 1, column 0"},
		{strings.Repeat("<a>", 1000), "elements are nested too deeply: line 1, column 1500"},
	} {
		v, err := parseXML(tt.in)
		got := value.Repr(v)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%.60q: %s, want %s", tt.in, got, tt.want)
		}
	}
}

func FuzzXML(f *testing.F) {
	for _, s := range []string{"<r><a x='1'>t&amp;</a><b/></r>", "<?xml?><!-- c --><n:r><![CDATA[<]]></n:r>", "<!DOCTYPE r><r>&#x10FFFF;</r>", "</", "<r a=\"", "<r/>x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := parseXML(s); err == nil {
			value.Repr(v)
		} else if err.Error() == "" {
			t.Error("an error without a text")
		}
	})
}
