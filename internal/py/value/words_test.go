package value

import (
	"strings"
	"testing"
)

func TestMissingArguments(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"missing 1 required positional argument: 'a'":                {"'a'"},
		"missing 2 required positional arguments: 'a' and 'b'":       {"'a'", "'b'"},
		"missing 3 required positional arguments: 'a', 'b', and 'c'": {"'a'", "'b'", "'c'"},
	} {
		if got := MissingArguments(names); got != want {
			t.Errorf("MissingArguments(%q) = %q, want %q", names, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	long := strings.TrimSuffix(strings.Repeat("x\n", 20), "\n")
	const at = "x    <======================\n"
	for _, tt := range []struct {
		text string
		line int
		want string
	}{
		{"a\nb\nc\n", 2, "---\na\nb    <======================\nc\n---"},
		{"a\r\nb", 2, "---\na\nb    <======================\n---"},
		{long, 1, "---\n" + at + strings.Repeat("x\n", 5) + "[...]\n---"},
		{long, 20, "---\n[...]\n" + strings.Repeat("x\n", 5) + at + "---"},
		{long, 10, "---\n[...]\n" + strings.Repeat("x\n", 5) + at + strings.Repeat("x\n", 5) + "[...]\n---"},
		{"a", 2, "a"},
		{"a", 0, "a"},
		{"", 1, ""},
	} {
		if got := Excerpt(tt.text, tt.line); got != tt.want {
			t.Errorf("Excerpt(%q, %d) = %q, want %q", tt.text, tt.line, got, tt.want)
		}
	}
}
