package fun_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/value"
)

// lazy is a mapping that is not a *value.Map, as the pillar and the grains are.
type lazy struct{ *value.Map }

var huge = new(big.Int).Lsh(big.NewInt(1), 100)

func list(items ...value.Value) *value.List { return value.NewList(items...) }

func TestConvert(t *testing.T) {
	t.Parallel()
	type conv struct {
		in   value.Value
		want string // Python's repr of the outcome; "!" and the reason of a refusal
	}
	for _, tt := range []struct {
		name  string
		arg   fun.Arg
		cases []conv
	}{
		{"any", fun.Arg{Required: true}, []conv{
			{nil, "None"}, {"", "''"}, {int64(5), "5"}, {list(), "[]"},
		}},
		{"string", fun.Arg{Type: fun.Str}, []conv{
			{"a", "'a'"},
			{"", "''"},
			{int64(5), "'5'"},
			{2.5, "'2.5'"},
			{true, "'True'"},
			{false, "None"},
			{huge, "'1267650600228229401496703205376'"},
			{value.Bytes("b"), "b'b'"},
			{markupsafe.Markup("m"), "'m'"},
			{nil, "None"},
			{list(), "None"},
			{list("a"), "!a string, not ['a']"},
			{value.MapOf("a", int64(1)), "!a string, not {'a': 1}"},
		}},
		{"required string", fun.Arg{Type: fun.Str, Required: true}, []conv{
			{"", "''"}, {false, "'False'"}, {nil, "!a string, not None"}, {list(), "!a string, not []"},
		}},
		{"boolean", fun.Arg{Type: fun.Bool}, []conv{
			{true, "True"},
			{false, "False"},
			{int64(0), "False"},
			{int64(2), "True"},
			{0.5, "True"},
			{"true", "True"},
			{" Yes ", "True"},
			{"on", "True"},
			{"1", "True"},
			{markupsafe.Markup("y"), "True"},
			{"", "False"},
			{nil, "None"},
			{list(), "None"},
			{"maybe", "!a boolean, not 'maybe'"},
			{list(int64(1)), "!a boolean, not [1]"},
		}},
		{"integer", fun.Arg{Type: fun.Int}, []conv{
			{int64(-3), "-3"},
			{"30", "30"},
			{" 7 ", "7"},
			{2.0, "2"},
			{markupsafe.Markup("8"), "8"},
			{nil, "None"},
			{"", "None"},
			{" ", "None"},
			{false, "None"},
			{value.NewMap(0), "None"},
			{"30d", "!an integer, not '30d'"},
			{2.5, "!an integer, not 2.5"},
			{true, "!an integer, not True"},
			{math.NaN(), "!an integer, not nan"},
			{huge, "!an integer, not 1267650600228229401496703205376"},
		}},
		{"integer with a unit", fun.Arg{Type: fun.Int, Unit: "days", Required: true}, []conv{
			{"30d", "!an integer (days), not '30d'"}, {"", "!an integer (days), not ''"}, {false, "!an integer (days), not False"},
		}},
		{"number", fun.Arg{Type: fun.Float}, []conv{
			{int64(3), "3"}, {0.5, "0.5"}, {"0.5", "0.5"}, {"1e3", "1000.0"}, {"nan", "!a number, not 'nan'"}, {"x", "!a number, not 'x'"},
		}},
		{"duration", fun.Arg{Type: fun.Duration}, []conv{
			{int64(3), "3"}, {"1.5", "1.5"}, {"", "None"}, {"soon", "!a number of seconds, not 'soon'"}, {true, "!a number of seconds, not True"},
		}},
		{"list", fun.Arg{Type: fun.List}, []conv{
			{list(int64(1), "a"), "[1, 'a']"},
			{value.Tuple{"a"}, "('a',)"},
			{"a,b", "['a,b']"},
			{int64(5), "[5]"},
			{true, "[True]"},
			{nil, "None"},
			{"", "None"},
			{false, "None"},
			{value.NewMap(0), "None"},
			{value.MapOf("a", int64(1)), "!a list, not {'a': 1}"},
		}},
		{"required list", fun.Arg{Type: fun.List, Required: true}, []conv{
			{list(), "[]"}, {nil, "!a list, not None"}, {"", "!a list, not ''"},
		}},
		{"list of strings", fun.Arg{Type: fun.Strs}, []conv{
			{list("a", int64(1), true), "['a', '1', 'True']"},
			{value.Tuple{"a", int64(1)}, "['a', '1']"},
			{"a", "['a']"},
			{int64(644), "['644']"},
			{list("a", nil), "!a list of strings, not ['a', None]"},
			{list(list("a")), "!a list of strings, not [['a']]"},
		}},
		{"list of integers", fun.Arg{Type: fun.Ints}, []conv{
			{list(int64(1), "2", 3.0), "[1, 2, 3]"}, {list(markupsafe.Markup("4")), "[4]"}, {"5", "[5]"}, {list("x"), "!a list of integers, not ['x']"},
		}},
		{"list of mappings", fun.Arg{Type: fun.Dicts}, []conv{
			{list(value.MapOf("a", int64(1))), "[{'a': 1}]"}, {list("a"), "!a list of mappings, not ['a']"}, {"a", "!a list of mappings, not 'a'"},
		}},
		{"list of paths", fun.Arg{Type: fun.Paths}, []conv{
			{list("/a"), "['/a']"}, {list("/a\x00"), `!a list of paths, not ['/a\x00']`},
		}},
		{"commas", fun.Arg{Type: fun.Commas}, []conv{
			{"a, b,,c ", "['a', 'b', 'c']"},
			{"", "[]"},
			{list("a,b", int64(1)), "['a,b', '1']"},
			{int64(5), "['5']"},
			{value.MapOf("a", int64(1)), "!a comma-separated list of strings, not {'a': 1}"},
		}},
		{"mapping", fun.Arg{Type: fun.Dict}, []conv{
			{value.MapOf("a", int64(1)), "{'a': 1}"},
			{value.NewMap(0), "{}"},
			{"", "None"},
			{list(), "None"},
			{false, "None"},
			{"a", "!a mapping, not 'a'"},
			{list(value.MapOf("a", int64(1))), "!a mapping, not [{'a': 1}]"},
		}},
		{"mapping of strings", fun.Arg{Type: fun.StrDict}, []conv{
			{value.MapOf("a", int64(1), "b", "x", "c", nil), "{'a': '1', 'b': 'x', 'c': None}"},
			{lazy{value.MapOf("a", int64(1))}, "{'a': '1'}"},
			{value.MapOf("a", list("x")), "!a mapping of strings, not {'a': ['x']}"},
		}},
		{"mode", fun.Arg{Type: fun.Mode, OneOf: []string{"keep"}}, []conv{
			{int64(644), "'0644'"},
			{"0644", "'0644'"},
			{"0o755", "'0755'"},
			{"'600'", "'0600'"},
			{int64(4755), "'4755'"},
			{int64(0), "'0000'"},
			{"keep", "'keep'"},
			{nil, "None"},
			{"", "None"},
			{false, "None"},
			{"kep", `!a file mode in octal digits, not 'kep' (did you mean "keep"?)`},
			{int64(9), "!a file mode in octal digits, not 9"},
			{int64(-644), "!a file mode in octal digits, not -644"},
			{"17777", "!a file mode in octal digits, not '17777'"},
			{6.44, "!a file mode in octal digits, not 6.44"},
		}},
		{"size", fun.Arg{Type: fun.Size}, []conv{
			{int64(4096), "4096"},
			{"10k", "10240"},
			{"1.5KB", "1500"},
			{2.5, "2"},
			{"", "None"},
			{int64(-1), "!a size in bytes such as 4096, 10k or 5M, not -1"},
			{"big", "!a size in bytes such as 4096, 10k or 5M, not 'big'"},
		}},
		{"path", fun.Arg{Type: fun.Path}, []conv{
			{"/a", "'/a'"}, {"", "''"}, {int64(5), "'5'"}, {false, "None"}, {"/a\x00b", `!a path, not '/a\x00b'`}, {list("/a"), "!a path, not ['/a']"},
		}},
		{"one of", fun.Arg{Type: fun.Str, OneOf: []string{"start", "end"}}, []conv{
			{"start", "'start'"},
			{nil, "None"},
			{"", "None"},
			{"strat", `!one of start, end, not 'strat' (did you mean "start"?)`},
			{int64(5), "!one of start, end, not 5"},
		}},
		{"string or boolean", fun.Arg{Type: fun.Str | fun.Bool}, []conv{
			{".bak", "'.bak'"}, {"true", "'true'"}, {false, "False"}, {true, "True"}, {list("a"), "!a string or a boolean, not ['a']"},
		}},
		{"string or integer", fun.Arg{Type: fun.Str | fun.Int, Required: true}, []conv{
			{"root", "'root'"}, {"0", "'0'"}, {int64(0), "0"}, {2.0, "2"}, {nil, "!a string or an integer, not None"},
		}},
		{"integer or boolean", fun.Arg{Type: fun.Int | fun.Bool}, []conv{
			{int64(0), "0"}, {"3", "3"}, {"yes", "True"}, {true, "True"}, {false, "False"},
		}},
		{"word or boolean", fun.Arg{Type: fun.Str | fun.Bool, OneOf: []string{"delayed"}}, []conv{
			{"delayed", "'delayed'"}, {"yes", "True"}, {"later", "!one of delayed or a boolean, not 'later'"},
		}},
		{"boolean or list of strings", fun.Arg{Type: fun.Bool | fun.Strs}, []conv{
			{true, "True"}, {list(int64(1)), "['1']"}, {"HOME", "['HOME']"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.arg.Name = "x"
			for _, c := range tt.cases {
				got, _, err := tt.arg.Convert(c.in)
				if reason, refused := strings.CutPrefix(c.want, "!"); refused {
					var inv *fun.InvocationError
					if !errors.As(err, &inv) || inv.Arg != "x" || inv.Msg != "x must be "+reason {
						t.Errorf("%s: %v, %v; want refusal: %s", value.Repr(c.in), got, err, reason)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", value.Repr(c.in), err)
				} else if s := strings.ReplaceAll(value.Repr(got), "Markup('m')", "'m'"); s != c.want {
					t.Errorf("%s: %s, want %s", value.Repr(c.in), s, c.want)
				}
			}
		})
	}
}

// TestConvertSlips tests booleans written as text that Salt takes for true.
func TestConvertSlips(t *testing.T) {
	t.Parallel()
	a := fun.Arg{Name: "x", Type: fun.Bool}
	for _, in := range []string{"false", "No", "off", "0", "n", "none"} {
		got, hint, err := a.Convert(in)
		if got != true || err != nil || !strings.Contains(hint, "'"+in+"'") {
			t.Errorf("%q: %v, %q, %v; want True and a hint", in, got, hint, err)
		}
	}
	for _, in := range []value.Value{"yes", false, int64(0), ""} {
		if _, hint, err := a.Convert(in); hint != "" || err != nil {
			t.Errorf("%v: %q, %v; want no hint", in, hint, err)
		}
	}
}

// TestConvertIdentity tests that values that need no conversion are the very ones
// that were given: functions such as slsutil.update change them.
func TestConvertIdentity(t *testing.T) {
	t.Parallel()
	l, m, lz := list("a", markupsafe.Markup("b")), value.MapOf("a", "b", "c", markupsafe.Markup("d")), lazy{value.MapOf("a", "b")}
	for _, tt := range []struct {
		name string
		typ  fun.Type
		in   value.Value
	}{
		{"list", fun.List, l},
		{"strings", fun.Strs, l},
		{"commas", fun.Commas, l},
		{"mappings", fun.Dicts, list(m, lz)},
		{"mapping", fun.Dict, m},
		{"strings by name", fun.StrDict, m},
		{"lazy mapping", fun.Dict, lz},
		{"lazy strings by name", fun.StrDict, lz},
		{"string or mapping", fun.Str | fun.Dict, m},
		{"marked text", fun.Str, markupsafe.Markup("x")},
		{"marked path", fun.Path, markupsafe.Markup("/x")},
	} {
		a := fun.Arg{Name: "x", Type: tt.typ, Required: true}
		if got, _, err := a.Convert(tt.in); got != tt.in || err != nil {
			t.Errorf("%s: another value: %v, %v", tt.name, got, err)
		}
	}

	// What is converted is a copy.
	mixed, byName := list("a", int64(1)), value.MapOf("a", int64(1))
	for typ, in := range map[fun.Type]value.Value{fun.Strs: mixed, fun.StrDict: byName} {
		a := fun.Arg{Name: "x", Type: typ}
		if got, _, err := a.Convert(in); got == in || err != nil {
			t.Errorf("%v: %v, %v; want a copy", typ, got, err)
		}
	}
	if mixed.Items[1] != int64(1) || byName.At("a") != int64(1) {
		t.Errorf("the given values changed: %v, %v", value.Repr(mixed), value.Repr(byName))
	}
}

// TestConvertErrors tests that secrets are not shown and long values are cut.
func TestConvertErrors(t *testing.T) {
	t.Parallel()
	a := fun.Arg{Name: "password", Type: fun.Str, Secret: true}
	_, _, err := a.Convert(list("hunter2"))
	if err == nil || err.Error() != "password must be a string, not a value of type list" {
		t.Errorf("secret: %v", err)
	}
	a = fun.Arg{Name: "x", Type: fun.Int}
	_, _, err = a.Convert(strings.Repeat("é", 1000))
	if err == nil || len([]rune(err.Error())) > 120 || !strings.HasSuffix(err.Error(), "é...") {
		t.Errorf("long: %v", err)
	}
}

func TestSizeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   value.Value
		want int64 // -1: not a size
	}{
		{"10", 10},
		{"2K", 2048},
		{"2KB", 2000},
		{"1.5MiB", 1572864},
		{" 1 g ", 1 << 30},
		{"7b", 7},
		{"0", 0},
		{int64(5), 5},
		{2.9, 2},
		{markupsafe.Markup("1k"), 1024},
		{"x", -1},
		{"3q", -1},
		{"", -1},
		{"k", -1},
		{"-1", -1},
		{"1kx", -1},
		{"1bb", -1},
		{"9999Y", -1},
		{int64(-5), -1},
		{math.Inf(1), -1},
		{math.NaN(), -1},
		{true, -1},
		{nil, -1},
	} {
		got, ok := fun.SizeOf(tt.in)
		if ok != (tt.want >= 0) || ok && got != tt.want {
			t.Errorf("SizeOf(%v) = %d, %v; want %d", tt.in, got, ok, tt.want)
		}
	}
}

func TestTypeString(t *testing.T) {
	t.Parallel()
	for typ, want := range map[fun.Type]string{
		fun.Any: "any", fun.Str | fun.Bool: "string or boolean", fun.Strs: "list of strings", fun.Commas: "comma-separated list of strings",
		fun.StrDict: "mapping of strings", fun.Int | fun.Dicts: "integer or list of mappings",
	} {
		if got := typ.String(); got != want {
			t.Errorf("%d: %q, want %q", typ, got, want)
		}
	}
}
