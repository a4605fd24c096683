package outputter

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// load reads YAML as Salt does, so that cases stay readable.
func load(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := yamlsalt.LoadString(text)
	if err != nil {
		t.Fatalf("load %s: %v", text, err)
	}
	return v
}

// show prints data by an outputter.
func show(t *testing.T, name string, data value.Value, o *Options) string {
	t.Helper()
	fn, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := fn(&b, data, o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b.String()
}

func TestPlain(t *testing.T) {
	t.Parallel()
	nested := "local: {b: [1, [x, 'y\n\n  z'], {k: v}], a: {}, s: '', n: null, t: true, f: 1.50}"
	for _, tt := range []struct {
		out  string
		data string
		o    Options
		want string
	}{
		{"raw", "{local: [a, 1, null]}", Options{}, "{'local': ['a', 1, None]}\n"},
		{"raw", "text", Options{}, "text\n"},
		{"txt", "{local: \"a\\nb\", web: 1, e: ''}", Options{}, "local: a\nlocal: b\nweb: 1\n"},
		{"newline_values_only", "{local: [a, 1, [b]]}", Options{}, "a\n1\n['b']\n"},
		{"newline_values_only", "[a, 1]", Options{}, "- a\n- 1\n"},
		{"txt", "[a, 1]", Options{}, "['a', 1]\n"},
		{"txt", "text", Options{}, "text\n"},
		{"txt", "{local: \"a\\n \\n\"}", Options{}, "local: a\nlocal:\n"},
		{"raw", "'text \n\n'", Options{}, "text\n"},
		{"nested", "{local: \"a\\n\\n \\n\"}", Options{}, "local:\n    a\n"},
		{"newline_values_only", "{local: true, web: x}", Options{}, "True\nx\n"},
		{"quiet", "{local: 1}", Options{}, ""},
		{"no_out", "{local: 1}", Options{}, ""},
		{"pprint", "{local: {z: 1, a: [x]}}", Options{}, "{'local': {'a': ['x'], 'z': 1}}\n"},
		{"json", "{local: {z: 1, a: ü}}", Options{}, "{\n    \"local\": {\n        \"z\": 1,\n        \"a\": \"ü\"\n    }\n}\n"},
		{"json", "{local: [1]}", Options{Indent: new(1)}, "{\n \"local\": [\n  1\n ]\n}\n"},
		{"json", "{local: [1, 2]}", Options{Indent: new(-1)}, "{\"local\": [1, 2]}\n"},
		{"json", "{local: [1]}", Options{Indent: new(0)}, "{\n\"local\": [\n1\n]\n}\n"},
		{"json", "{local: {z: 1, a: 2}}", Options{Pretty: true}, "{\n    \"local\": {\n        \"a\": 2,\n        \"z\": 1\n    }\n}\n"},
		{"yaml", "{local: {z: 1, a: [x, {k: v}]}}", Options{}, "local:\n  a:\n  - x\n  - k: v\n  z: 1\n"},
		{"yaml", "{local: [1]}", Options{Indent: new(-1)}, "{local: [1]}\n"},
		{"nested", "{local: plain}", Options{}, "local:\n    plain\n"},
		{"nested", "{local: ''}", Options{}, "local:\n"},
		{"nested", "{local: []}", Options{}, "local:\n"},
		{"nested", "{local: {}}", Options{}, "local:\n    ----------\n"},
		{"nested", "{local: null}", Options{}, "local:\n    None\n"},
		{"nested", "{local: \"a\\e[31mb\"}", Options{}, "local:\n    a?[31mb\n"},
		{"nested", "{\"k\\e[2J\": [\"a\\e[31mb\"]}", Options{}, "k?[2J:\n    - a?[31mb\n"},
		{"highstate", "{h: {\"t_|-i\\e[2J_|-n_|-f\": {result: true, changes: {}, comment: c, warnings: [\"w\\e[2J\"], __run_num__: 0}}}", Options{StateOutput: "terse_id", HideProfile: true}, "h:\nWarnings:\nw?[2J  Name: i?[2J - Function: t.f - Result: Clean\n\nSummary for h\n------------\nSucceeded: 1\nFailed:    0\n------------\nTotal states run:     1\n"},
		{"nested", "{local: \"a\\e[31mb\"}", Options{Opts: value.MapOf("strip_colors", false)}, "local:\n    a\x1b[31mb\n"},
		{"nested", nested, Options{}, `local:
    ----------
    a:
        ----------
    b:
        - 1
        |_
          - x
          - y
            z
        |_
          ----------
          k:
              v
    f:
        1.5
    n:
        None
    s:
    t:
        True
`},
		{"nested", "{local: {k: [1]}}", Options{Color: true}, "\x1b[0;36mlocal\x1b[0;0m:\n    \x1b[0;36m----------\x1b[0;0m\n    \x1b[0;36mk\x1b[0;0m:\n        \x1b[0;1;33m- 1\x1b[0;0m\n"},
		{"nested", "{local: {k: v}}", Options{Color: true, Retcode: 1}, "\x1b[0;31mlocal\x1b[0;0m:\n    \x1b[0;31m----------\x1b[0;0m\n    \x1b[0;31mk\x1b[0;0m:\n        \x1b[0;32mv\x1b[0;0m\n"},
		{"key", "{minions: [b, a], minions_pre: []}", Options{}, "Accepted Keys:\na\nb\nUnaccepted Keys:\n"},
		{"key", "{web: true}", Options{}, "web:\n    True\n"},
		{"no_return", "{web1: Minion did not return}", Options{}, "web1:\n    Minion did not return\n"},
		{"table", "[{a_b: 1, c: two words}, {a_b: 22, c: x}]", Options{}, `    -------------------
    | A B |     C     |
    -------------------
    |  1  | two words |
    -------------------
    |  22 |     x     |
    -------------------
`},
		{"table", "[[l1, '1'], [l2, '22']]", Options{Opts: value.MapOf("out.table.justify", "left", "out.table.separate_rows", false)}, `    | l1 | 1  |
    | l2 | 22 |
`},
		{"table", "{local: [[l1, 1]]}", Options{}, "local:\n    |_\n      - l1\n      - 1\n"},
		{"table", "{local: [1]}", Options{}, "local:\n    - 1\n"},
		{
			"table", "{local: {t: [[a], [b c]], l: [H], o: 1}}",
			Options{Opts: value.MapOf("out.table.rows_key", "t", "out.table.labels_key", "l", "out.table.title", "Mine", "out.table.nested_indent", int64(2))},
			"  Mine\n\n      -------\n      |  H  |\n      -------\n      |  a  |\n      -------\n      | b c |\n      -------\n",
		},
		{
			"table", "{local: [[a]]}",
			Options{Opts: value.MapOf("out.table.nested_indent", int64(1)<<60, "out.table.has_header", false)},
			strings.Repeat(" ", 1000) + "local:\n" + strings.Repeat(" ", 1000) + "----------\n" + strings.Repeat(" ", 1004) + "-----\n" + strings.Repeat(" ", 1004) + "| a |\n" + strings.Repeat(" ", 1004) + "-----\n",
		},
		{
			"profile", "{local: {t_|-a_|-b_|-nop: {name: b, duration: 12.5}, f_|-c_|-d_|-managed: {duration: 1000, __id__: c}, odd: 1}}",
			Options{Opts: value.MapOf("out.table.separate_rows", false, "out.table.justify", "left", "out.table.delim", "  ", "out.table.prefix", "", "out.table.suffix", "")},
			`    name  mod.fun    duration (ms)
    ------------------------------
    odd   odd.odd          -1.0000
    b     t.nop            12.5000
    c     f.managed      1000.0000
`,
		},
		{"profile", "{local: [No matching sls]}", Options{Opts: value.MapOf("out.table.separate_rows", false)}, `    | name |             mod.fun             | duration (ms) |
    ----------------------------------------------------------
    |  <>  | No matching sls.No matching sls |       -1.0000 |
`},
		{"profile", "{local: true}", Options{}, "local:\n    True\n"},
		{"table", "{local: {x: 1}}", Options{}, "local:\n----------\n    x:\n    ----------\n"},
	} {
		if d := cmp.Diff(tt.want, show(t, tt.out, load(t, tt.data), &tt.o)); d != "" {
			t.Errorf("%s of %s (-want +got):\n%s", tt.out, tt.data, d)
		}
	}
}

func TestLookupNamesTheOutputters(t *testing.T) {
	t.Parallel()
	for _, n := range Names() {
		if _, err := Lookup(n); err != nil {
			t.Errorf("Lookup(%q): %v", n, err)
		}
	}
	_, err := Lookup("jsn")
	if err == nil || !strings.Contains(err.Error(), `did you mean "json"?`) || !strings.Contains(err.Error(), "newline_values_only") {
		t.Errorf("Lookup(jsn) = %v", err)
	}
}

// broken refuses to be written to.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	data := load(t, "{local: {web: [1]}}")
	for _, n := range Names() {
		if n == "quiet" || n == "no_out" {
			continue
		}
		fn, _ := Lookup(n)
		if err := fn(broken{}, data, &Options{}); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: error %v, want that of the writer", n, err)
		}
	}
}

// A value that contains itself is cut, not followed for ever.
func TestNestedCycle(t *testing.T) {
	t.Parallel()
	l := value.NewList()
	l.Append(l)
	if s := show(t, "nested", value.MapOf("local", l), &Options{}); !strings.Contains(s, "...") {
		t.Errorf("nested = %q", s[:min(200, len(s))])
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	args := []value.Value{"C", "nm", "test", "nop", "Clean", "E", value.MapOf("start_time", "12:00", "duration", 1.5)}
	for _, tt := range []struct{ format, want string }{
		{"{0}{2:>6}.{3:<5} {4:7}| {1}{5}", "C  test.nop   Clean  | nmE"},
		{"{6[start_time]!s} [{6[duration]!s:>7} ms]", "12:00 [    1.5 ms]"},
		{"{} {} {{x}}", "C nm {x}"},
		{"{1!r} {6[duration]:.2f}", "'nm' 1.50"},
		{"{9} {6[gone]} {name} {1!z} {", "{9} {6[gone]} {name} {1!z} {"},
	} {
		if got := format(tt.format, args...); got != tt.want {
			t.Errorf("format(%q) = %q, want %q", tt.format, got, tt.want)
		}
	}
}
