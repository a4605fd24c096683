package star_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/star"
)

// TestCheck: the faults of a module with their places, and the functions that it has
// for others.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, faults, functions string }{
		{"empty", "", "", ""},
		{"functions", "def b(x):\n    \"\"\"Say b.\"\"\"\n    return x\ndef a(): return salt['test.ping']()\ndef _own(): pass\nN = 1\n", "", "a b(Say b.)"},
		{"an alias", "__func_alias__ = {'list_': 'list'}\ndef list_(): pass\n", "", "list"},
		{"a list", "__load__ = ['a']\ndef a(): pass\ndef b(): pass\n", "", "a"},
		{"a list that is not known", "__load__ = [x for x in ['a']]\ndef a(): pass\n", "", "a open"},
		{"names for functions", "def a(): pass\nb = a\nc = lambda: 1\na = 1\n", "", "b c"},
		{"what only running it tells", "f = make()\ndef make(): pass\n", "1:5 undefined: make", "make open"},
		{"of another file", "load('//lib.star', 'x', y='z')\na = x\n", "", "open"},
		{"conditions", "if __grains__.get('os') == 'x':\n    def a(): pass\n", "", "open"},
		{"syntax", "def a(:\n", "1:8 got ':', want ')'", "open"},
		{"an end that is missing", "a = (1,\n", "2:1 got end of file, want ')'", "open"},
		{"a name", "def f():\n    return  é + grainz\n", "2:13 undefined: é; 2:17 undefined: grainz", "f"},
		{"recursion and while", "def f():\n    while True: pass\n", "2:5 this Starlark dialect does not support while loops", "f"},
		{"a large one", "#" + strings.Repeat("(", star.MaxChecked), "", "open"},
		{"many signs", strings.Repeat("-", star.MaxChecked-1) + "1", "1:990 excessive nesting", "open"},
		{"a long sum", strings.Repeat("1+", star.MaxChecked/2-1) + "1", "", ""},
		{"a deep one", strings.Repeat("(", star.MaxChecked), "1:78 excessive nesting", "open"},
	} {
		facts := star.Check("x.star", []byte(tt.text))
		var faults, functions []string
		for _, f := range facts.Faults {
			faults = append(faults, fmt.Sprintf("%d:%d %s", f.Line, f.Col, f.Message))
		}
		for _, f := range facts.Functions {
			name := f.Name
			if f.Doc != "" {
				name += "(" + f.Doc + ")"
			}
			functions = append(functions, name)
		}
		if facts.Open {
			functions = append(functions, "open")
		}
		if got := strings.Join(faults, "; "); got != tt.faults {
			t.Errorf("%s: faults %q, want %q", tt.name, got, tt.faults)
		}
		if got := strings.Join(functions, " "); got != tt.functions {
			t.Errorf("%s: functions %q, want %q", tt.name, got, tt.functions)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("def f(x, *a, **k):\n  'doc'\n  return [y for y in x if y]\n")
	f.Add("__load__ = ('a', 1)\n__func_alias__ = {1: 'x', **y}\n")
	f.Add("load('x', a='b')\nfor i in range(3):\n  print(i)\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, fault := range star.Check("x.star", []byte(text)).Faults {
			if fault.Line < 1 || fault.Message == "" {
				t.Errorf("%+v", fault)
			}
		}
	})
}
