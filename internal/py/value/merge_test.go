package value_test

import (
	"testing"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// load reads YAML, which is the shortest way to write data.
func load(t testing.TB, s string) value.Value {
	t.Helper()
	v, err := yamlsalt.LoadString(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The expected results are those of salt/utils/dictupdate.py (3006).
func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		a, b     string
		strategy value.Strategy
		renderer string
		lists    bool
		want     string
	}{
		{"{A: B}", "{A: [C, D]}", value.Recurse, "", false, "{'A': ['C', 'D']}"},
		{"{A: {B: C}, L: [1, 2]}", "{A: {D: E}, L: [2, 3]}", value.Recurse, "", false, "{'A': {'B': 'C', 'D': 'E'}, 'L': [2, 3]}"},
		{"{A: {B: C}, L: [1, 2]}", "{A: {D: E}, L: [2, 3]}", value.Smart, "jinja|yaml", true, "{'A': {'B': 'C', 'D': 'E'}, 'L': [1, 2, 3]}"},
		{"{A: {B: C}}", "{A: {D: E}}", value.Overwrite, "", false, "{'A': {'D': 'E'}}"},
		{"{A: {B: C}, K: 1}", "{A: {D: E}, N: 2}", value.Aggregate, "", false, "{'A': {'D': 'E'}, 'K': 1, 'N': 2}"},
		{"{A: {B: C}, K: 1}", "{A: {D: E}, N: 2}", value.Smart, "jinja|yamlex", false, "{'A': {'D': 'E'}, 'K': 1, 'N': 2}"},
		{"{A: 1, K: 1}", "{A: 2, N: 2}", value.MergeList, "", false, "{'A': [1, 2], 'K': 1}"},
		{"{A: {B: [1]}}", "{A: {B: [2]}}", value.NoMerge, "", true, "{'A': {'B': [2]}}"},
		{"{A: {B: [1]}}", "{A: {B: [2]}}", "odd", "", true, "{'A': {'B': [2]}}"},
		{"{A: {B: 1}}", "{A: null}", value.Recurse, "", false, "{'A': None}"},
		{"{A: 1}", "{A: {B: 1}}", value.Recurse, "", false, "{'A': {'B': 1}}"},
		{"{1: a}", "{1.0: d}", value.Recurse, "", false, "{1: 'd'}"},
	} {
		a, b := load(t, tt.a).(*value.Map), load(t, tt.b).(*value.Map)
		if got := value.Repr(value.Merge(a, b, tt.strategy, tt.renderer, tt.lists)); got != tt.want {
			t.Errorf("Merge(%s, %s, %s) = %s, want %s", tt.a, tt.b, tt.strategy, got, tt.want)
		}
	}
}

func TestMergeRecurseLeavesArguments(t *testing.T) {
	a, b := load(t, "{x: {y: [1]}}").(*value.Map), load(t, "{x: {y: [2], z: 1}}").(*value.Map)
	value.MergeRecurse(a, b, true)
	if value.Repr(a) != "{'x': {'y': [1]}}" || value.Repr(b) != "{'x': {'y': [2], 'z': 1}}" {
		t.Errorf("a = %s, b = %s", value.Repr(a), value.Repr(b))
	}
}

func TestUpdateInPlace(t *testing.T) {
	a := load(t, "{x: {y: 1}}").(*value.Map)
	inner := a.Map("x")
	got := value.Update(a, load(t, "{x: {z: 2}}").(*value.Map), true, false)
	if got != a || a.Map("x") != inner || value.Repr(inner) != "{'y': 1, 'z': 2}" {
		t.Errorf("a = %s", value.Repr(a))
	}
	value.Update(a, load(t, "{x: {q: 3}}").(*value.Map), false, false)
	if value.Repr(a) != "{'x': {'q': 3}}" {
		t.Errorf("not recursive: %s", value.Repr(a))
	}
}

func TestTraverse(t *testing.T) {
	data := load(t, "{a: {b: {c: 3}}, l: [x, {k: v, 1: one}, {k: w}], n: text, 5: five, true: yes, 1.5: f, '': empty}")
	for _, tt := range []struct {
		path, delim, want string
		ok                bool
	}{
		{"a:b:c", "", "3", true},
		{"a|b|c", "|", "3", true},
		{"a:nope", "", "", false},
		{"l:0", "", "'x'", true},
		{"l:-1:k", "", "'w'", true},
		{"l:3", "", "", false},
		{"l:k", "", "'v'", true},
		{"l:1", "", "'one'", true},
		{"n:x", "", "", false},
		{"5", "", "'five'", true},
		{"True", "", "True", true},
		{"1.5", "", "'f'", true},
		{"", "", "'empty'", true},
	} {
		got, ok := value.Traverse(data, tt.path, tt.delim)
		if ok != tt.ok || ok && value.Repr(got) != tt.want {
			t.Errorf("Traverse(%q) = %s, %v; want %s, %v", tt.path, value.Repr(got), ok, tt.want, tt.ok)
		}
	}
	if got, ok := value.TraverseKey(data, int64(5), ""); !ok || got != "five" {
		t.Errorf("TraverseKey(5) = %v, %v", got, ok)
	}
	if got, ok := value.TraverseKey(data, value.NewList("a", "b"), ""); !ok || value.Repr(got) != "{'c': 3}" {
		t.Errorf("TraverseKey([a, b]) = %v, %v", got, ok)
	}
}

func TestFilterBy(t *testing.T) {
	lookup := "{Debian: {pkg: apache2}, 'RedH*': {pkg: httpd}, default: {pkg: none}, base: {pkg: b, conf: {x: 1}}, nul: null}"
	for _, tt := range []struct {
		data, path, merge, base, want string
	}{
		{"{os: Debian}", "os", "", "", "{'pkg': 'apache2'}"},
		{"{os: RedHat}", "os", "", "", "{'pkg': 'httpd'}"},
		{"{os: X}", "os", "", "", "{'pkg': 'none'}"},
		{"{}", "os", "", "", "{'pkg': 'none'}"},
		{"{os: [X, Debian]}", "os", "", "", "{'pkg': 'apache2'}"},
		{"{os: nul}", "os", "", "", "{'pkg': 'none'}"},
		{"{os: Debian}", "os", "{conf: {y: 2}}", "base", "{'pkg': 'apache2', 'conf': {'x': 1, 'y': 2}}"},
	} {
		var merge, base value.Value
		if tt.merge != "" {
			merge = load(t, tt.merge)
		}
		if tt.base != "" {
			base = tt.base
		}
		got, err := value.FilterBy(load(t, lookup).(*value.Map), load(t, tt.data), tt.path, merge, "default", base)
		if err != nil || value.Repr(got) != tt.want {
			t.Errorf("FilterBy(%s) = %s, %v; want %s", tt.data, value.Repr(got), err, tt.want)
		}
	}
	if _, err := value.FilterBy(load(t, "{a: {}}").(*value.Map), load(t, "{os: a}"), "os", "text", "default", nil); err == nil {
		t.Error("merge that is no dict gives no error")
	}
}

// The expected results are those of Python's fnmatch.fnmatchcase.
func TestFnmatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true},
		{"*", "a/b", true},
		{"a*", "ba", false},
		{"*.sls", "x/y.sls", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"a?c", "aéc", true},
		{"?", "日", true},
		{"[ab]", "a", true},
		{"[!ab]", "a", false},
		{"[!ab]", "c", true},
		{"[a-c]x", "bx", true},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[", "[", true},
		{"a[", "a[", true},
		{"[a", "a", false},
		{"*a*b*c", "xxaxxbxxc", true},
		{"*a*b*c", "xxaxxbxx", false},
		{"**", "x", true},
		{"a.b", "axb", false},
		{"web*.example.com", "web1.example.com", true},
		{"[é]", "é", true},
		{"*é", "aé", true},
	} {
		if got := value.Fnmatch(tt.pattern, tt.name); got != tt.want {
			t.Errorf("Fnmatch(%q, %q) = %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
}

func FuzzFnmatch(f *testing.F) {
	f.Add("*a*b[!c-d]?", "xaxbyz")
	f.Add("[", "[")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		value.Fnmatch(pattern, name)
		if !value.Fnmatch("*", name) {
			t.Errorf("* does not match %q", name)
		}
	})
}

func TestLazyMap(t *testing.T) {
	n := 0
	l := value.NewLazyMap(func() *value.Map { n++; return value.MapOf("a", int64(1)) })
	if n != 0 {
		t.Error("it is loaded at once")
	}
	if v, ok := l.Get("a"); !ok || v != int64(1) || l.Len() != 1 || len(l.Keys()) != 1 || value.Repr(l) != "{'a': 1}" || value.TypeName(l) != "dict" || n != 1 {
		t.Errorf("Get = %v, %v; %s; loaded %d times", v, ok, value.Repr(l), n)
	}
	if m := value.NewLazyMap(func() *value.Map { return nil }).Map(); m == nil || m.Len() != 0 {
		t.Errorf("nil loads as %v", m)
	}
}
