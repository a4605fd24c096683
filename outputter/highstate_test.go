package outputter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/value"
)

// ret is a state's return.
func ret(run int64, id, name, sls string, result, changes value.Value, comment string, more ...value.Value) *value.Map {
	m := value.MapOf("__id__", id, "__run_num__", run, "__sls__", sls, "changes", changes, "comment", comment,
		"duration", 1.5, "name", name, "result", result, "start_time", fmt.Sprintf("12:00:0%d.000000", run%10))
	for i := 0; i+1 < len(more); i += 2 {
		m.Set(more[i], more[i+1])
	}
	return m
}

// run is a run of every kind of outcome.
func run() *value.Map {
	return value.MapOf("local", value.MapOf(
		"test_|-ok_|-ok name_|-nop", ret(0, "ok", "ok name", "s", true, value.NewMap(0), "Success!"),
		"test_|-ch_|-ch_|-succeed_with_changes", ret(1, "ch", "ch", "s", true, value.MapOf("k", "v"), "one\ntwo\n"),
		"test_|-bad_|-bad_|-nop", ret(2, "bad", "bad", "s", false, value.NewMap(0), "Failure!"),
		"test_|-due_|-due_|-nop", ret(3, "due", "due", "s", nil, value.NewMap(0), "", "warnings", value.Strings("w1", "w2")),
	))
}

func TestHighstateModes(t *testing.T) {
	t.Parallel()
	const tail = `
Summary for local
------------
Succeeded: 3 (unchanged=1, changed=1)
Failed:    1
`
	const totals = "------------\nTotal states run:     4\nTotal run time:   6.000 ms\n"
	const warned = tail + "Warnings:  1\n" + totals
	full := map[string]string{
		"ok": "----------\n          ID: ok\n    Function: test.nop\n        Name: ok name\n      Result: True\n     Comment: Success!\n     Started: 12:00:00.000000\n    Duration: 1.5 ms\n     Changes:   \n",
		"ch": "----------\n          ID: ch\n    Function: test.succeed_with_changes\n      Result: True\n     Comment: one\n              two\n     Started: 12:00:01.000000\n    Duration: 1.5 ms\n     Changes:   \n" +
			"              ----------\n              k:\n                  v\n",
		"bad": "----------\n          ID: bad\n    Function: test.nop\n      Result: False\n     Comment: Failure!\n     Started: 12:00:02.000000\n    Duration: 1.5 ms\n     Changes:   \n",
		"due": "----------\n          ID: due\n    Function: test.nop\n      Result: None\n     Comment: \n     Started: 12:00:03.000000\n    Duration: 1.5 ms\n     Changes:   \n    Warnings: w1 w2\n",
	}
	terse := map[string]string{
		"ok":  "  Name: ok name - Function: test.nop - Result: Clean - Started: 12:00:00.000000 - Duration: 1.5 ms\n",
		"ch":  "  Name: ch - Function: test.succeed_with_changes - Result: Changed - Started: 12:00:01.000000 - Duration: 1.5 ms\n",
		"bad": "  Name: bad - Function: test.nop - Result: Failed - Started: 12:00:02.000000 - Duration: 1.5 ms\n",
		"due": "Warnings:\nw1\nw2  Name: due - Function: test.nop - Result: Differs - Started: 12:00:03.000000 - Duration: 1.5 ms\n",
	}
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"full", Options{}, full["ok"] + full["ch"] + full["bad"] + full["due"] + warned},
		{"terse", Options{StateOutput: "terse"}, terse["ok"] + terse["ch"] + terse["bad"] + terse["due"] + tail + totals},
		{"terse_id", Options{StateOutput: "Terse_ID"}, strings.Replace(terse["ok"], "ok name", "ok", 1) + terse["ch"] + terse["bad"] + terse["due"] + tail + totals},
		{"mixed", Options{StateOutput: "mixed"}, terse["ok"] + terse["ch"] + full["bad"] + terse["due"] + tail + totals},
		{"changes", Options{StateOutput: "changes"}, terse["ok"] + full["ch"] + full["bad"] + full["due"] + warned},
		{"filter", Options{StateOutput: "filter", Opts: value.MapOf("state_output_exclude", "True", "state_output_terse", value.Strings("None"))}, full["bad"] + terse["due"] + tail + totals},
		{"filter of booleans", Options{StateOutput: "filter", Opts: value.MapOf("state_output_exclude", value.NewList(true))}, full["ok"] + full["ch"] + full["bad"] + full["due"] + warned},
		{"clean hidden", Options{HideClean: true}, full["ch"] + full["bad"] + full["due"] + warned},
		{"diff", Options{StateOutput: "terse", Opts: value.MapOf("state_output_diff", true)}, terse["ch"] + terse["bad"] + terse["due"] + tail + totals},
		{
			"pct",
			Options{HideClean: true, StateOutput: "terse", Opts: value.MapOf("state_output_pct", true)},
			terse["ch"] + terse["bad"] + terse["due"] + tail + "Success %: 75.0\nFailure %: 25.0\n" + totals,
		},
		{
			"no profile",
			Options{HideProfile: true, StateOutput: "terse"},
			"  Name: ok name - Function: test.nop - Result: Clean\n  Name: ch - Function: test.succeed_with_changes - Result: Changed\n" +
				"  Name: bad - Function: test.nop - Result: Failed\nWarnings:\nw1\nw2  Name: due - Function: test.nop - Result: Differs\n" +
				tail + "------------\nTotal states run:     4\n",
		},
		{
			"tabular",
			Options{StateOutput: "terse", Opts: value.MapOf("state_tabular", true)},
			"12:00:00.000000 [    1.5 ms]       test.nop        Clean     Name: ok name\n" +
				"12:00:01.000000 [    1.5 ms]       test.succeed_with_changes Changed   Name: ch\n" +
				"12:00:02.000000 [    1.5 ms]       test.nop        Failed    Name: bad\n" +
				"Warnings:\nw1\nw2\n12:00:03.000000 [    1.5 ms]       test.nop        Differs   Name: due\n" + tail + totals,
		},
		{
			"tabular text",
			Options{StateOutput: "terse", Opts: value.MapOf("state_tabular", "{4:>8}: {2}.{3} {1} {6[duration]!s}")},
			"   Clean: test.nop ok name 1.5\n Changed: test.succeed_with_changes ch 1.5\n  Failed: test.nop bad 1.5\n Differs: test.nop due 1.5\n" + tail + totals,
		},
	} {
		if d := cmp.Diff("local:\n"+tt.want, show(t, "highstate", run(), &tt.o)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestHighstateColors(t *testing.T) {
	t.Parallel()
	text := show(t, "highstate", run(), &Options{Color: true})
	for _, want := range []string{
		"\x1b[0;1;33mlocal:\x1b[0;0m\n",                                                   // the last that is not green colours the target
		"\x1b[0;32m----------\x1b[0;0m\n    \x1b[0;32m      ID: ok\x1b[0;0m",              // green
		"\x1b[0;36m----------\x1b[0;0m\n    \x1b[0;36m      ID: ch\x1b[0;0m",              // cyan
		"\x1b[0;31m----------\x1b[0;0m\n    \x1b[0;31m      ID: bad\x1b[0;0m",             // red
		"\x1b[0;1;33m----------\x1b[0;0m\n    \x1b[0;1;33m      ID: due\x1b[0;0m",         // light yellow
		"   \x1b[0;1;31m Warnings: w1 w2\x1b[0;0m",                                        // light red
		"\x1b[0;32mSucceeded: 3\x1b[0;0m (\x1b[0;1;33munchanged=1\x1b[0;0m, \x1b[0;32mch", // counts
		"\x1b[0;31mFailed:    1\x1b[0;0m",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in:\n%q", want, text)
		}
	}
}

// What Salt's own tests of _compress_ids expect of these states.
func TestCompressIDs(t *testing.T) {
	t.Parallel()
	out := func(rc int64) *value.Map {
		return value.MapOf("pid", int64(1), "retcode", rc, "stderr", "", "stdout", "")
	}
	testing1 := value.MapOf("testing", value.MapOf("new", "Something pretended to change", "old", "Unchanged"))
	none := value.NewMap(0)
	data := value.NewMap(16)
	add := func(run int64, mod, id, name, fn string, result bool, changes value.Value) {
		data.Set(mod+"_|-"+id+"_|-"+name+"_|-"+fn, ret(run, id, name, "compress_test", result, changes, "c"))
	}
	add(7, "cmd", "mix-matched results", "/bin/false", "run", false, out(1))
	add(6, "cmd", "mix-matched results", "/bin/true", "run", true, out(0))
	add(5, "cmd", "mix-matched results", "false", "run", false, out(1))
	add(4, "cmd", "mix-matched results", "true", "run", true, out(0))
	add(13, "file", "one clean one changes", "/tmp/changes", "managed", true, value.MapOf("diff", "New file"))
	add(12, "file", "one clean one changes", "/tmp/clean", "managed", true, none)
	for i, n := range []string{"hello", "world", "foo", "bar"} {
		add(int64(8+i), "test", "succeed clean", n, "succeed_without_changes", true, none)
		add(int64(i), "test", "succeed with changes", n, "succeed_with_changes", true, testing1)
	}
	add(14, "test", "single clean", "single", "succeed_without_changes", true, none)
	o := &Options{Opts: value.MapOf("state_compress_ids", true, "state_output_pct", true)}
	text := show(t, "highstate", value.MapOf("local", data), o)
	for _, want := range []string{
		"          ID: succeed with changes (4)\n",
		"        Name: state_compressed_compress_test_succeed with changes_True\n",
		"              compressed changes:\n",
		"          ID: mix-matched results (2)\n",
		"        Name: state_compressed_compress_test_mix-matched results_True\n",
		"        Name: state_compressed_compress_test_mix-matched results_False\n",
		"          ID: succeed clean (4)\n",
		"        Name: state_compressed_compress_test_succeed clean_True\n",
		"          ID: one clean one changes (2)\n",
		"        Name: state_compressed_compress_test_one clean one changes_True\n",
		"              diff:\n",
		"          ID: single clean\n",
		"Succeeded: 13 (changed=9)\n",
		"Failed:     2\n",
		"Success %: 86.67\n",
		"Failure %: 13.33\n",
		"Total states run:     15\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in:\n%s", want, text)
		}
	}

	// Another function of the same ID is no part of it, and malformed data are
	// left as they are.
	data = value.MapOf(
		"cmd_|-try_|-echo_|-run", ret(1, "try", "echo", "w", true, out(0), ""),
		"test_|-try_|-asdf_|-nop", ret(0, "try", "asdf", "w", true, none, ""))
	if text := show(t, "highstate", value.MapOf("local", data), o); !strings.Contains(text, "Succeeded: 2 (changed=1)") || strings.Contains(text, "(2)") {
		t.Errorf("two functions of an ID were joined:\n%s", text)
	}
}

// Nested targets stand below the step that ran them.
func TestHighstateNested(t *testing.T) {
	t.Parallel()
	inner := value.MapOf("web1", value.MapOf("module_|-p_|-test.ping_|-run", ret(0, "p", "test.ping", "s", true, value.MapOf("ret", true), "executed")))
	data := value.MapOf("data", value.MapOf("orch_master", value.MapOf(
		"salt_|-step_|-step_|-state", ret(0, "step", "step", "o", true, value.MapOf("out", "highstate", "ret", inner), "States ran successfully. Updating web1."),
		"salt_|-fn_|-cmd.run_|-function", ret(1, "fn", "cmd.run", "o", true, value.MapOf("out", "highstate", "ret", value.MapOf("web1", "f1\nf2")), "ran"),
	)), "outputter", "highstate", "retcode", int64(0))
	text := show(t, "highstate", data, &Options{StateOutput: "full"})
	for _, want := range []string{
		"orch_master:\n----------\n          ID: step\n",
		"     Changes:   \n              web1:\n              ----------\n                        ID: p\n                  Function: module.run\n                      Name: test.ping\n",
		"                   Changes:   \n                            ----------\n                            ret:\n                                True\n",
		"              Summary for web1\n              ------------\n              Succeeded: 1 (changed=1)\n",
		"     Changes:   \n              web1:\n                  f1\n                  f2\n",
		"Summary for orch_master\n------------\nSucceeded: 2 (changed=2)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in:\n%s", want, text)
		}
	}
}

func TestHighstateOtherData(t *testing.T) {
	t.Parallel()
	const unordered = "The State execution failed to record the order in which all states were executed. The state return missing data is:\n"
	for _, tt := range []struct{ data, want string }{
		{"{local: [first, \"second\\nline\"]}", "local:\n    Data failed to compile:\n----------\n    first\n----------\n    second\nline\n"},
		{"{local: text}", "local:\n    text\n"},
		{"{local: 5}", "local:\n    5\n"},
		{"{local: true}", "local:\n    True\n"},
		{"[1]", "- 1\n"},
		{"{local: {}}", "local:\n\nSummary for local\n-----------\nSucceeded: 0\nFailed:   0\n-----------\nTotal states run:    0\nTotal run time:  0.000 ms\n"},
		{
			"{local: {a: {x: 1}, b: {y: 2}, c: 3}}", "local:\n" + unordered + "{'y': 2}\n" + unordered + "{'x': 1}\n" +
				"\nSummary for local\n-----------\nSucceeded: 0\nFailed:   0\n-----------\nTotal states run:    0\nTotal run time:  0.000 ms\n",
		},
	} {
		if d := cmp.Diff(tt.want, show(t, "highstate", load(t, tt.data), &Options{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.data, d)
		}
	}
	lost := value.MapOf("local", value.MapOf("test_|-a_|-a_|-nop", value.MapOf("result", true, "comment", "", "changes", "odd", "name", "a", "data", value.MapOf("k", "v"))))
	text := show(t, "highstate", lost, &Options{})
	for _, want := range []string{
		"The State execution failed to record the order in which all states were executed.", "Invalid Changes data: odd", "Comment: \n\t\tk: v\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in:\n%s", want, text)
		}
	}
}
