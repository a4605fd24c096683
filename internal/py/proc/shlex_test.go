package proc

import (
	"errors"
	"slices"
	"testing"
)

// Expected values are those of Python 3.11's shlex.
func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
		err  error
	}{
		{"a b  c", []string{"a", "b", "c"}, nil},
		{`a 'b c' "d e"`, []string{"a", "b c", "d e"}, nil},
		{`a\ b "x\"y\z" ''`, []string{"a b", `x"y\z`, ""}, nil},
		{`x'y'"z"`, []string{"xyz"}, nil},
		{"", nil, nil},
		{"'open", nil, ErrNoClosingQuote},
		{`"open`, nil, ErrNoClosingQuote},
		{`end\`, nil, ErrNoEscaped},
	} {
		got, err := Split(tt.in)
		if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
			t.Errorf("Split(%q) = %q, %v; want %q, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("a b")
	f.Add("it's")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Split(Quote(s))
		if err != nil || len(got) != 1 || got[0] != s {
			t.Errorf("Split(Quote(%q)) = %q, %v", s, got, err)
		}
	})
}
