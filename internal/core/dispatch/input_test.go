package dispatch

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Expected values are those of salt/utils/args.py parse_input, the recordings
// ex-cli-args among them.
func TestParseInput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in      []string
		noParse []string
		pos, kw string // repr
	}{
		{[]string{"1", "1.5", "abc", "true", "None", "[]", "{}"}, nil, "(1, 1.5, 'abc', True, None, [], {})", "{}"},
		{[]string{"1_000", "0x10", "12:30", "2024-01-01", `"q"`, "1e5", "007"}, nil, "('1_000', 16, 750, '2024-01-01', 'q', '1e5', 7)", "{}"},
		{[]string{"on", "~", "#x", "a: b", "- a", "", " ", "|", "!"}, nil, "(True, None, '#x', 'a: b', '- a', '', ' ', '|', '!')", "{}"},
		{[]string{"x=1", "y=a=b", "_z=1", "1k=v", "a b=c", "é=ü", "k.l-m=2"}, nil, "('1k=v', 'a b=c')", "{'x': 1, 'y': 'a=b', '_z': 1, 'é': 'ü', 'k.l-m': 2}"},
		{[]string{"q={a: 1}", "r={a: 1}"}, []string{"q"}, "()", "{'q': '{a: 1}', 'r': {'a': 1}}"},
		{[]string{"a==b", "=x", "multi\nline", "20261121120000123456"}, nil, "('a==b', '=x', 'multi\\nline', '20261121120000123456')", "{}"},
		{[]string{"---", " ... ", "tab\t1", "{a:\t1}", "1\r", "k=[1,\t2]"}, nil, "('---', ' ... ', 'tab\\t1', '{a:\\t1}', '1\\r')", "{'k': '[1,\\t2]'}"},
		{[]string{"a: 1 # c", "- a # c", "[1] # c", "5 # c", "x # c", "# c", "~ # c"}, nil, "({'a': 1}, ['a'], [1], 5, 'x # c', '# c', '~ # c')", "{}"},
		{[]string{">", "&a", "? a", "!!str", "!!set {a}", "*a", "@a", "%a"}, nil, "('', None, '? a', '', '!!set {a}', '*a', '@a', '%a')", "{}"},
		{[]string{"pillar={bad"}, nil, "()", "{'pillar': '{bad'}"},
	} {
		got := ParseInput(tt.in, tt.noParse)
		if pos, kw := value.Repr(value.Tuple(got.Pos)), value.Repr(got.Kw); pos != tt.pos || kw != tt.kw {
			t.Errorf("ParseInput(%q) = %s %s; want %s %s", tt.in, pos, kw, tt.pos, tt.kw)
		}
	}
}

func FuzzParseInput(f *testing.F) {
	for _, s := range []string{"a=1", "[1, {a: b}]", "{x: [", "a: b", "&a [*a]", "\t", "k='", "- x", "1:30"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := ParseInput([]string{s}, nil)
		if len(got.Pos)+got.Kw.Len() != 1 {
			t.Errorf("ParseInput(%q) gave %d arguments", s, len(got.Pos)+got.Kw.Len())
		}
	})
}

// The values are those of salt/minion.py load_args_and_kwargs.
func TestPublished(t *testing.T) {
	t.Parallel()
	two := &fun.Spec{Name: "f", Args: []fun.Arg{{Name: "text"}, {Name: "n"}}}
	anyKw := &fun.Spec{Name: "g", Args: []fun.Arg{{Name: "cmd"}}, VarKw: true}
	for _, tt := range []struct {
		spec    *fun.Spec
		pos, kw string
		want    string
	}{
		{two, "[a, 'text=b', 3]", "{}", "('a', 3) {'text': 'b'}"},
		{two, "['n=1', 'x == y', '1a=2', 'a b=c']", "{}", "('x == y', '1a=2', 'a b=c') {'n': 1}"},
		{two, "['text=[1, 2]']", "{n: '5'}", "() {'text': [1, 2], 'n': '5'}"},
		{two, "['x=1', a]", "{y: [z], n: 1}", "The following keyword arguments are not valid: x=1, y=['z']"},
		{two, "['db_password=hunter2', a]", "{env: {A: b}}", "The following keyword arguments are not valid: db_password=XXX-REDACTED-XXX, env={'A': 'XXX-REDACTED-XXX'}"},
		{anyKw, "['FOO=bar env']", "{}", "() {'FOO': 'bar env'}"},
		{anyKw, "[{__kwarg__: true, a: 1}, {b: 2}]", "{}", "({'b': 2},) {'a': 1}"},
		{anyKw, "['1', 20170101010101010101, 'true']", "{}", "('1', '20170101010101010101', 'true') {}"},
	} {
		load := func(s string) value.Value {
			v, err := yamlsalt.LoadString(s)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		kw := value.NewMap(0)
		kw.Update(load(tt.kw).(*value.Map))
		got, err := Published(tt.spec, fun.Args{Pos: load(tt.pos).(*value.List).Items, Kw: kw})
		text := ""
		if err != nil {
			text = err.Error()
		} else {
			got.Kw.Ordered = false
			for _, v := range got.Pos {
				if m, ok := v.(*value.Map); ok {
					m.Ordered = false
				}
			}
			text = value.Repr(value.Tuple(got.Pos)) + " " + value.Repr(got.Kw)
		}
		if text != tt.want {
			t.Errorf("Published(%s, %s) = %s, want %s", tt.pos, tt.kw, text, tt.want)
		}
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	got := Typed(fun.Args{Pos: []value.Value{"1", "true", "a=1", "a: b", int64(2), "[x]"}})
	if s := value.Repr(value.Tuple(got.Pos)); s != "(1, True, 'a=1', 'a: b', 2, ['x'])" {
		t.Errorf("Typed = %s", s)
	}
}
