package cmd

import (
	"testing"

	"brine/internal/value"
)

// Expected values are those of salt/utils/args.py parse_input, the recordings
// ex-cli-args among them.
func TestParseInput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in      []string
		noParse []string
		pos, kw string // repr
	}{
		{[]string{"1", "1.5", "abc", "true", "None", "[]", "{}"}, nil, "(1, 1.5, 'abc', True, None, [], {})", "{}"},
		{[]string{"1_000", "0x10", "12:30", "2024-01-01", `"q"`, "1e5", "007"}, nil, "('1_000', 16, 750, '2024-01-01', 'q', '1e5', 7)", "{}"},
		{[]string{"on", "~", "#x", "a: b", "- a", "", " ", "|", "!"}, nil, "(True, None, '#x', 'a: b', '- a', '', ' ', '|', '!')", "{}"},
		{[]string{"x=1", "y=a=b", "_z=1", "1k=v", "a b=c", "é=ü", "k.l-m=2"}, nil, "('1k=v', 'a b=c')", "{'x': 1, 'y': 'a=b', '_z': 1, 'é': 'ü', 'k.l-m': 2}"},
		{[]string{"q={a: 1}", "r={a: 1}"}, []string{"q"}, "()", "{'q': '{a: 1}', 'r': {'a': 1}}"},
		{[]string{"a==b", "=x", "multi\nline", "20261121120000123456"}, nil, "('a==b', '=x', 'multi\\nline', '20261121120000123456')", "{}"},
		{[]string{"pillar={bad"}, nil, "()", "{'pillar': '{bad'}"},
	} {
		got := parseInput(tt.in, tt.noParse)
		if pos, kw := value.Repr(value.Tuple(got.Pos)), value.Repr(got.Kw); pos != tt.pos || kw != tt.kw {
			t.Errorf("parseInput(%q) = %s %s; want %s %s", tt.in, pos, kw, tt.pos, tt.kw)
		}
	}
}

func FuzzParseInput(f *testing.F) {
	for _, s := range []string{"a=1", "[1, {a: b}]", "{x: [", "a: b", "&a [*a]", "\t", "k='", "- x", "1:30"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := parseInput([]string{s}, nil)
		if len(got.Pos)+got.Kw.Len() != 1 {
			t.Errorf("parseInput(%q) gave %d arguments", s, len(got.Pos)+got.Kw.Len())
		}
	})
}

func TestAsksJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{[]string{"call", "--out=json", "test.ping"}, true},
		{[]string{"call", "--out", "json", "test.ping"}, true},
		{[]string{"call", "test.ping", "--output=json"}, true},
		{[]string{"call", "test.echo", "--", "--out=json"}, false},
		{[]string{"call", "--out"}, false},
		{[]string{"call", "test.ping"}, false},
	} {
		if got := asksJSON(tt.args); got != tt.want {
			t.Errorf("asksJSON(%q) = %v", tt.args, got)
		}
	}
}
