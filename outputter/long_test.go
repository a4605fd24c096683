package outputter_test

import (
	"errors"
	"strings"
	"testing"

	"brine/internal/py/value"
	"brine/outputter"
)

// chunks takes a report and notes the longest part that it was given in, and what
// it was given.
type chunks struct {
	text    strings.Builder
	longest int
}

func (c *chunks) Write(p []byte) (int, error) {
	c.longest = max(c.longest, len(p))
	return c.text.Write(p)
}

// TestLongOutput prints long output, as lines, as one line and as blanks, alone and as
// changes of a step: it is what short output would be, and comes in parts.
func TestLongOutput(t *testing.T) {
	t.Parallel()
	const n = 300_000
	for _, tt := range []struct{ name, text, want string }{
		{"lines", strings.Repeat("line\n", n), strings.Repeat("@line\n", n)},
		{"one line", strings.Repeat("x", n), "@" + strings.Repeat("x", n) + "\n"},
		{"blanks within", "a" + strings.Repeat("\n", n) + "b", "@a\n" + strings.Repeat("@\n", n-1) + "@b\n"},
		{"blanks in a long line", strings.Repeat(" ", n) + "x" + strings.Repeat(" ", n), "@" + strings.Repeat(" ", n) + "x\n"},
		{"blanks at the end", "a" + strings.Repeat("\n", n), "@a\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got chunks
			if err := outputter.Nested(&got, value.MapOf("web1", tt.text), &outputter.Options{}); err != nil {
				t.Fatal(err)
			}
			if want := "web1:\n" + strings.ReplaceAll(tt.want, "@", "    "); got.text.String() != want {
				t.Errorf("nested: %d bytes that begin with %.40q, want %d", got.text.Len(), got.text.String(), len(want))
			}
			step := value.MapOf("ctl_master", value.MapOf("salt_|-s_|-s_|-function", value.MapOf(
				"__run_num__", int64(0), "name", "s", "result", true, "comment", "ran", "changes", value.MapOf("ret", value.MapOf("web1", tt.text)),
			)))
			got = chunks{}
			if err := outputter.Highstate(&got, step, &outputter.Options{}); err != nil {
				t.Fatal(err)
			}
			pad := strings.Repeat(" ", 14)
			want := "     Changes:   \n" + pad + "----------\n" + pad + "ret:\n" + pad + "    ----------\n" + pad + "    web1:\n" +
				strings.ReplaceAll(tt.want, "@", pad+"        ") + "\nSummary for ctl_master\n"
			if !strings.Contains(got.text.String(), want) {
				t.Errorf("highstate: %d bytes, of which the changes are none of %d", got.text.Len(), len(want))
			}
			if tt.name == "lines" && got.longest > 1<<18 {
				t.Errorf("a part of the report has %d bytes", got.longest)
			}
		})
	}
	full := errors.New("full")
	for name, print := range map[string]outputter.Func{"nested": outputter.Nested, "highstate": outputter.Highstate} {
		if err := print(failing{full}, value.MapOf("web1", strings.Repeat("line\n", n)), &outputter.Options{}); !errors.Is(err, full) {
			t.Errorf("%s to a full disk = %v", name, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
