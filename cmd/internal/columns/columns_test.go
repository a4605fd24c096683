package columns_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"brine/cmd/internal/columns"
)

func TestWidth(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{"": 80, "60": 60, "10": 40, "5000": 160, "-3": 80, "wide": 80, "0": 80} {
		if got := columns.Width(&bytes.Buffer{}, func(string) string { return value }); got != want {
			t.Errorf("COLUMNS=%s: %d, want %d", value, got, want)
		}
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	got := columns.Entries([]columns.Entry{
		{"-a, --all", "take all of them"},
		{"    --a-name-that-is-much-too-long string", "begins under its name, since there is no room beside it"},
		{"    --in string", "nothing"},
	}, "  ", 48)
	want := `  -a, --all         take all of them
      --a-name-that-is-much-too-long string
                    begins under its name, since
                    there is no room beside it
      --in string   nothing
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if columns.Len(line) > 48 {
			t.Errorf("too wide: %q", line)
		}
	}
}

func TestProse(t *testing.T) {
	t.Parallel()
	text := "One two three four\nfive.\n\n  pkg <name>   install it, if it is not there\n  cmd     run\n\n  brine ssh '*' cmd.run 'a b' -v\nlast"
	got := columns.Prose(text, 30)
	want := `One two three four five.

  pkg <name>
      install it, if it is not
      there
  cmd
      run

  brine ssh '*' cmd.run \
      'a b' -v
last
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	got := columns.ShellWords(`  a 'b c' "d \" e"f g\ h`)
	if want := []string{"a", "'b c'", `"d \" e"f`, `g\ h`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"name", "meaning"}, {"a", "the first letter of the alphabet"}, {"b", ""}}
	if got, want := columns.Table(rows, 24), `name  meaning
----  ------------------
a     the first letter
      of the alphabet
b
`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	rows = [][]string{{"name", "meaning"}, {"an-unbreakable-long-name", "an-unbreakable-meaning of it"}}
	if got, want := columns.Table(rows, 40), `an-unbreakable-long-name
    meaning: an-unbreakable-meaning of
      it
`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
