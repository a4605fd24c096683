package exec

import (
	"strings"
	"testing"
)

// FuzzParseCall: no input panics, and what is parsed is part of the input.
func FuzzParseCall(f *testing.F) {
	for _, s := range []string{
		"test.echo(text)", "a.b(c, d=e).f.g ~ h", `x("a\"b", [1, (2)], {k: v})`, "x", "x(", "x(]", "x('", "(a)", "x(a=b=c, =d)", "x(\\)", "x(a,,b,)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, args, rest, ok := parseCall(s)
		if !ok {
			return
		}
		if name == "" || !strings.HasSuffix(s, rest) {
			t.Errorf("parseCall(%q) = %q, rest %q", s, name, rest)
		}
		for _, a := range args.Pos {
			if _, ok := a.(string); !ok {
				t.Errorf("parseCall(%q): argument %v is no text", s, a)
			}
		}
	})
}
