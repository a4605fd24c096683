package outputter_test

import (
	"bytes"
	"strings"
	"testing"

	"brine/internal/core/printable"
	"brine/internal/py/value"
	"brine/outputter"
)

// TestHostileReturns prints returns with escape sequences by every outputter:
// none of them reaches a terminal, and none those that do not print data as it is
// even when the output is no terminal.
func TestHostileReturns(t *testing.T) {
	t.Parallel()
	const evil = "x\x1b]0;owned\x07\x1b[2J\u009b1Ay"
	state := value.MapOf("result", false, "comment", evil, "name", evil, "__run_num__", int64(0), "duration", 1.5, "start_time", evil,
		"changes", value.MapOf(evil, evil, "diff", evil), "warnings", value.Strings(evil), "__id__", evil, "__sls__", evil)
	for _, data := range []value.Value{
		value.MapOf("web1", evil), value.MapOf("web1", value.MapOf(evil, evil)), value.MapOf("web1", value.Strings(evil, evil)),
		value.MapOf("web1", value.MapOf("test_|-"+evil+"_|-"+evil+"_|-nop", state)),
		value.MapOf("web1", value.NewList(value.MapOf(evil, evil))), value.MapOf(evil, evil), value.MapOf("minions", value.Strings(evil)), evil,
	} {
		for _, name := range outputter.Names() {
			for _, mode := range []string{"full", "terse", "mixed", "changes"} {
				f, err := outputter.Lookup(name)
				if err != nil {
					t.Fatal(err)
				}
				var plain, term bytes.Buffer
				w := printable.NewWriter(&term)
				_ = f(&plain, data, &outputter.Options{StateOutput: mode})
				_ = f(w, data, &outputter.Options{StateOutput: mode})
				_ = w.Flush()
				if got := term.String(); strings.ContainsAny(got, "\x1b\a\u009b") {
					t.Errorf("%s %s: %q on the terminal", name, mode, got)
				}
				switch name {
				case "txt", "raw", "newline_values_only", "pprint", "json": // data as it is
				default:
					if got := plain.String(); strings.ContainsAny(got, "\x1b\a\u009b") {
						t.Errorf("%s %s: %q", name, mode, got)
					}
				}
			}
		}
	}
}
