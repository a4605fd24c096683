package outputter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/value"
)

// wrapped is what an orchestration returns.
func wrapped(key, val value.Value) *value.Map {
	return value.MapOf("outputter", "highstate", "data", value.MapOf(key, val), "retcode", int64(0))
}

// lines joins lines; a trailing newline is added.
func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }

// counts is the summary of states of a target, without times.
func counts(host string, ok, bad int, more string) string {
	return fmt.Sprintf("\nSummary for %s\n------------\nSucceeded: %d%s\nFailed:    %d\n------------\nTotal states run:     %d\n", host, ok, more, bad, ok+bad)
}

// Expected texts are what Salt's outputter makes of the same data.
func TestHighstateShapes(t *testing.T) {
	t.Parallel()
	none := value.NewMap(0)
	clean := func(run int64, id, name string, more ...value.Value) *value.Map {
		return ret(run, id, name, "s", true, none, "c", more...)
	}
	one := value.MapOf("test_|-x_|-x_|-nop", clean(0, "x", "x"))
	two := func() *value.Map {
		return value.MapOf(
			"test_|-a_|-n1_|-nop", ret(0, "a", "n1", "s", true, value.MapOf("k", int64(1)), "c"),
			"test_|-a_|-n2_|-nop", clean(1, "a", "n2"))
	}
	inner := value.MapOf("out", "highstate", "ret", value.MapOf("w", two()))
	for _, tt := range []struct {
		name string
		data value.Value
		o    Options
		want string
	}{
		{
			"of parallel states the longest counts",
			value.MapOf("local", value.MapOf(
				"test_|-a_|-a_|-nop", clean(0, "a", "a", "__parallel__", true, "duration", 600.0),
				"test_|-b_|-b_|-nop", clean(1, "b", "b", "__parallel__", true, "duration", 700.0),
				"test_|-c_|-c_|-nop", clean(2, "c", "c", "duration", 300.0))),
			Options{HideClean: true},
			"local:\n" + counts("local", 3, 0, "") + "Total run time:   1.000 s\n",
		},
		{
			"an orchestration that returned nothing",
			value.MapOf("m_master", value.MapOf("salt_|-i_|-state.orch_|-runner", ret(0, "i", "state.orch", "s", false, none, "c")), "retcode", int64(1)),
			Options{HideProfile: true},
			lines("m_master:", "----------", "          ID: i", "    Function: salt.runner", "        Name: state.orch", "      Result: False", "     Comment: c",
				"     Changes:                 ", "              ") + counts("m_master", 0, 1, " (changed=1)"),
		},
		{
			"an orchestration in an orchestration",
			value.MapOf("m_master", value.MapOf("salt_|-i_|-state.orchestrate_|-runner",
				ret(0, "i", "state.orchestrate", "s", true, value.MapOf("return", wrapped("m_master", one)), "c"))),
			Options{HideProfile: true},
			lines("m_master:", "----------", "          ID: i", "    Function: salt.runner", "        Name: state.orchestrate", "      Result: True", "     Comment: c",
				"     Changes:                 ",
				"              m_master:",
				"              ----------",
				"                        ID: x",
				"                  Function: test.nop",
				"                    Result: True",
				"                   Comment: c",
				"                   Changes:   ",
				"              ",
				"              Summary for m_master",
				"              ------------",
				"              Succeeded: 1",
				"              Failed:    0",
				"              ------------",
				"              Total states run:     1") + counts("m_master", 1, 0, " (changed=1)"),
		},
		{"what a function returned that is neither text nor states", value.MapOf("local", 1.5, "n", nil), Options{}, "local:\nn:\n"},
		{
			"the job of an orchestration",
			value.MapOf("web1", value.MapOf("jid", "2026", "fun", "state.orch", "return", wrapped("m_master", one))),
			Options{HideProfile: true, StateOutput: "terse"},
			"m_master:\n  Name: x - Function: test.nop - Result: Clean\n" + counts("m_master", 1, 0, ""),
		},
		{"a job of something else", value.MapOf("web1", value.MapOf("jid", "2026", "fun", "test.ping", "return", true)), Options{}, lines(
			"web1:", "    ----------", "    fun:", "        test.ping", "    jid:", "        2026", "    return:", "        True")},
		{"no state at all", load(t, "{local: {a: {result: true, __run_num__: 0}}}"), Options{}, lines(
			"local:", "    ----------", "    a:", "        ----------", "        __run_num__:", "            0", "        result:", "            True")},
		{"a return of the return", value.MapOf("return", value.MapOf("data", nil)), Options{}, "None\n"},
		{"nothing", none, Options{}, ""},
		{"a beginning of the setting", value.MapOf("local", one), Options{HideProfile: true, StateOutput: "terse_and_short"}, "local:\n  Name: x - Function: test.nop - Result: Clean\n" + counts("local", 1, 0, "")},
		{
			"warnings and a changed text that ends in blanks",
			value.MapOf("local", value.MapOf("test_|-a_|-a_|-nop", ret(0, "a", "a", "s", true, value.MapOf("d", "x\n\n \n"), "c",
				"warnings", value.Strings("one  two", strings.Repeat("well-known ", 7))))),
			Options{HideProfile: true},
			lines("local:", "----------", "          ID: a", "    Function: test.nop", "      Result: True", "     Comment: c", "     Changes:   ",
				"              ----------", "              d:", "                  x",
				"    Warnings: one  two well-known well-known well-known well-known well-known", "              well-known well-known", "",
				"Summary for local", "------------", "Succeeded: 1 (changed=1)", "Failed:    0", "Warnings:  1", "------------", "Total states run:     1"),
		},
		{
			"IDs stay apart where one target has no states",
			value.MapOf("web1", value.MapOf("test_|-a_|-n1_|-nop", clean(0, "a", "n1"), "test_|-a_|-n2_|-nop", clean(1, "a", "n2")), "web2", value.Strings("No matching sls")),
			Options{HideProfile: true, StateOutput: "terse", Opts: value.MapOf("state_compress_ids", true)},
			"web1:\n  Name: n1 - Function: test.nop - Result: Clean\n  Name: n2 - Function: test.nop - Result: Clean\n" + counts("web1", 2, 0, "") +
				"web2:\n    Data failed to compile:\n----------\n    No matching sls\n",
		},
		{
			"IDs of nested targets stay apart",
			value.MapOf("m", value.MapOf("salt_|-i_|-i_|-state", ret(0, "i", "i", "s", true, inner, "c"))),
			Options{HideProfile: true, StateOutput: "changes", Opts: value.MapOf("state_compress_ids", true)},
			lines("m:", "----------", "          ID: i", "    Function: salt.state", "      Result: True", "     Comment: c", "     Changes:   ",
				"              w:",
				"              ----------",
				"                        ID: a",
				"                  Function: test.nop",
				"                      Name: n1",
				"                    Result: True",
				"                   Comment: c",
				"                   Changes:   ",
				"                            ----------",
				"                            k:",
				"                                1",
				"                Name: n2 - Function: test.nop - Result: Clean",
				"              ",
				"              Summary for w",
				"              ------------",
				"              Succeeded: 2 (changed=1)",
				"              Failed:    0",
				"              ------------",
				"              Total states run:     2") + counts("m", 1, 0, " (changed=1)"),
		},
	} {
		if d := cmp.Diff(tt.want, show(t, "highstate", tt.data, &tt.o)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}
