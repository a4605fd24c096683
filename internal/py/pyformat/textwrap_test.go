package pyformat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Expected values are what Python 3.11's textwrap.wrap returns.
func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, nil},
		{"   ", 10, nil},
		{"one  two   three", 8, []string{"one  two", "three"}},
		{"  lead", 8, []string{"  lead"}},
		{"a--b c -- d e---f a--b c", 11, []string{"a--b c -- d", "e---f a--b", "c"}},
		{"--- a-b x-y-z state-of-the-art 1-2 it's-a foo_-bar", 12, []string{"--- a-b", "x-y-z state-", "of-the-art", "1-2 it's-a", "foo_-bar"}},
		{strings.Repeat("x", 12) + "-" + strings.Repeat("y", 5), 10, []string{"xxxxxxxxxx", "xx-yyyyy"}},
		{"über-lange Wörter", 8, []string{"über-", "lange", "Wörter"}},
	} {
		w := Wrapper{Width: tt.width, BreakLong: true, Hyphens: true}
		if d := cmp.Diff(tt.want, w.Wrap(tt.text)); d != "" {
			t.Errorf("Wrap(%q, %d) (-want +got):\n%s", tt.text, tt.width, d)
		}
	}
	w := Wrapper{Width: 4}
	if d := cmp.Diff([]string{"a-bcdef", "g"}, w.Wrap("a-bcdef g")); d != "" {
		t.Errorf("Wrap of whole words (-want +got):\n%s", d)
	}
}
