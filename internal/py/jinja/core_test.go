package jinja_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/jinja"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// TestMain lets times be those of UTC, wherever the tests run.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

func TestErrorPlace(t *testing.T) {
	t.Parallel()
	files := jinjatest.Files{
		"lib.jinja": "{% macro m(x) %}\n  {{ x.name }}\n{% endmacro %}\n",
		"inc.jinja": "one\ntwo {{ 1 / 0 }}\n",
		"mid.jinja": "{% import 'lib.jinja' as l %}\n{{ l.m(1) }}",
		"bad.jinja": "ok\n{% if %}\n",
	}
	at := func(file string, line, col int) source.Pos { return source.Pos{File: file, Line: line, Col: col} }
	tests := []struct {
		name, text string
		pos, at    source.Pos
		via        []source.Pos
	}{
		{"expression over lines", "a\n{{ echo(1,\n  nope.x) }}", at("main.sls", 3, 3), at("main.sls", 2, 0), nil},
		{"column counts characters", "ü {{ nope }}", at("main.sls", 1, 6), at("main.sls", 1, 0), nil},
		{"include", "\n{% include 'inc.jinja' %}", at("inc.jinja", 2, 8), at("inc.jinja", 2, 0), []source.Pos{at("main.sls", 2, 4)}},
		{"macro", "{% from 'lib.jinja' import m %}\n\n{{ m(1) }}", at("lib.jinja", 2, 8), at("lib.jinja", 2, 0), []source.Pos{at("main.sls", 3, 4)}},
		{
			"macro of an import in an include", "{% include 'mid.jinja' %}", at("lib.jinja", 2, 8), at("lib.jinja", 2, 0),
			[]source.Pos{at("mid.jinja", 2, 6), at("main.sls", 1, 4)},
		},
		{"syntax of an import", "x\n{% import 'bad.jinja' as b %}", at("bad.jinja", 2, 7), at("bad.jinja", 2, 0), []source.Pos{at("main.sls", 2, 4)}},
		{"missing import", "x\n{% import 'nope.jinja' as b %}", at("main.sls", 2, 4), at("main.sls", 2, 0), nil},
		// Salt does not look at the functions of blocks.
		{"block", "a\n{% block b %}\n\n{{ nope }}{% endblock %}", at("main.sls", 4, 4), at("main.sls", 2, 0), []source.Pos{at("main.sls", 2, 4)}},
		{"set block", "{% set x %}\n{{ nope }}{% endset %}", at("main.sls", 2, 4), at("main.sls", 2, 0), nil},
		{"syntax", "a\nb {{ 1 + }}", at("main.sls", 2, 10), at("main.sls", 2, 0), nil},
		{"unclosed", "a\n{% if 1 %}\nb", at("main.sls", 3, 2), at("main.sls", 2, 0), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			vars := value.MapOf("echo", &jinja.Callable{Name: "echo", Fn: func(*jinja.Call) (value.Value, error) { return "", nil }})
			e := jinjatest.Fault(t, jinja.New(jinja.Options{}, files), tt.text, vars)
			if tt.name == "unclosed" {
				// The end of the template is not where Jinja2 says the fault is.
				tt.pos = at("main.sls", 2, 0)
			}
			if diff := cmp.Diff([]any{tt.pos, tt.at, tt.via}, []any{e.Pos, e.At, e.Via}); diff != "" {
				t.Errorf("%q: %v (-want +got)\n%s", tt.text, e, diff)
			}
		})
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	vars := value.MapOf("pillar", value.MapOf("servers", int64(1)), "grains", value.NewMap(0))
	files := jinjatest.Files{"map.jinja": "{% set nginx = 1 %}"}
	tests := []struct{ text, hint string }{
		{"{{ pilar }}", "pillar"},
		{"{% set packages = [] %}{{ packges }}", "packages"},
		{"{% for server in [1] %}{{ serve }}{% endfor %}", "server"},
		{"{% macro m(port) %}{{ prot }}{% endmacro %}{{ m(1) }}", "port"},
		{"{{ pillar.server.x }}", "servers"},
		{"{{ 'a'|uper }}", "upper"},
		{"{{ 1 is definde }}", "defined"},
		{"{% if true %}{{ 'a'|uper }}{% endif %}", "upper"},
		{"{% esle %}", ""},
		{"{% if 1 %}{% esle %}{% endif %}", "else"},
		{"{% inclde 'x' %}", "include"},
		{"{% from 'map.jinja' import ngnix %}{{ ngnix }}", "nginx"},
		{"{{ qqqqqq }}", ""},
	}
	for _, tt := range tests {
		e := jinjatest.Fault(t, jinja.New(jinja.Options{}, files), tt.text, vars)
		want := ""
		if tt.hint != "" {
			want = `did you mean "` + tt.hint + `"?`
		}
		if tt.text == "{% esle %}" {
			continue // "else" is not expected there; what is near does not matter
		}
		if e.Hint != want {
			t.Errorf("%q: hint %q, want %q", tt.text, e.Hint, want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("{% if 1 %}", 1000)
	files := jinjatest.Files{
		"a": "{% include 'b' %}", "b": "{% include 'a' %}",
		"x": "{% extends 'x' %}", "imp": "{% import 'imp' as i with context %}",
	}
	tests := []struct{ name, text, pyType string }{
		{"macro", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"},
		{"mutual macros", "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"},
		{"caller", "{% macro f() %}{% call g() %}{{ f() }}{% endcall %}{% endmacro %}{% macro g() %}{{ caller() }}{% endmacro %}{{ f() }}", "RecursionError"},
		{"include", "{% include 'a' %}", "RecursionError"},
		{"extends", "{% extends 'x' %}", "RecursionError"},
		{"import", "{% import 'imp' as i with context %}", "RecursionError"},
		{"block", "{% block b %}{{ self.b() }}{% endblock %}", "RecursionError"},
		{"loop", "{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}", "RecursionError"},
		{"deep macro", "{% macro f() %}{{ [[[[[[[[[[[[[[[[[[[[f()]]]]]]]]]]]]]]]]]]]] }}{% endmacro %}{{ f() }}", "RecursionError"},
		{"nested tags", long, "TemplateSyntaxError"},
		{"nested brackets", "{{ " + strings.Repeat("(", 5000), "TemplateSyntaxError"},
		{"nested lists", "{{ " + strings.Repeat("[", 5000), "TemplateSyntaxError"},
		{"chain", "{{ 1" + strings.Repeat("+1", 5000) + " }}", "TemplateSyntaxError"},
		{"not not", "{{ " + strings.Repeat("not ", 5000) + " 1 }}", "TemplateSyntaxError"},
		{"minus", "{{ " + strings.Repeat("-", 5000) + " 1 }}", "TemplateSyntaxError"},
		{"inline if", "{{ " + strings.Repeat("1 if 1 else ", 5000) + " 1 }}", "TemplateSyntaxError"},
		{"attributes", "{{ a" + strings.Repeat(".a", 5000) + " }}", "TemplateSyntaxError"},
		{"text", "{{ 'x' * 10**9 }}", "MemoryError"},
		{"list", "{{ ([1] * 10**9)|length }}", "MemoryError"},
		{"power", "{{ 10 ** (10 ** 10) }}", "OverflowError"},
		{"output", "{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}", "MemoryError"},
		{"doubling", "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}", "MemoryError"},
		{"growing list", "{% set l = [1] %}{% for x in l %}{% do l.append(x) %}{% endfor %}", "TimeoutError"},
		{"nested loops", "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", "TimeoutError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := jinja.Options{MaxOutput: 10 << 20, MaxTime: 300 * time.Millisecond}
			if tt.pyType != "TimeoutError" {
				o.MaxTime = time.Minute
			}
			e := jinjatest.Fault(t, jinja.New(o, files), tt.text, value.MapOf("a", int64(1)))
			if e.PyType != tt.pyType && (tt.name != "power" || e.PyType != "MemoryError") {
				t.Errorf("%s: %s: %s, want %s", tt.name, e.PyType, e.Msg, tt.pyType)
			}
			if e.Pos.Line == 0 {
				t.Errorf("%s: no line: %v", tt.name, e)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	tmpl, err := jinja.New(jinja.Options{}, nil).Parse("t", "{{ stop() }}{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	stop := &jinja.Callable{Name: "stop", Fn: func(*jinja.Call) (value.Value, error) { cancel(); return nil, nil }}
	if _, err = tmpl.Render(ctx, value.MapOf("stop", stop)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestFuncError checks that the error of a Go function stays within reach.
func TestFuncError(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk full")
	vars := value.MapOf("f", &jinja.Callable{Name: "f", Fn: func(*jinja.Call) (value.Value, error) { return nil, cause }})
	e := jinjatest.Fault(t, jinja.New(jinja.Options{}, nil), "a\n {{ f() }}", vars)
	if !errors.Is(e, cause) || e.Msg != "disk full" || e.Error() != "main.sls:2:5: disk full" {
		t.Errorf("error %q of type %s", e, e.PyType)
	}
}

func TestOutputPos(t *testing.T) {
	t.Parallel()
	files := jinjatest.Files{"inc": "i1\ni2\n{{ x }}i3", "lib": "{% macro m() %}m1\nm2{% endmacro %}"}
	text := `{% from 'lib' import m -%}
first {{ x }}
{% for i in [1, 2] -%}
  item {{ i }}
  more
{% endfor -%}
{% include 'inc' %}
{{ m() }} tail
{{ two }}
{#- c #}
{% set b %}b1
b2{% endset -%}
{{ b }}
end
`
	want := `first X | main:2
item 1 | main:4
  more | main:5
item 2 | main:4
  more | main:5
i1 | inc:1 main:7
i2 | inc:2 main:7
Xi3 | inc:3 main:7
m1 | lib:1 main:8
m2 tail | lib:2 main:8
l1 | main:9
l2 | main:9
b1 | main:11 main:13
b2 | main:12 main:13
end | main:14
`
	tmpl, err := jinja.New(jinja.Options{}, files).Parse("main", text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tmpl.Render(context.Background(), value.MapOf("x", "X", "two", "l1\nl2"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(out.Text, "\n"), "\n") {
		b.WriteString(line + " | " + out.Pos(i+1).String())
		for _, p := range out.Via(i + 1) {
			b.WriteString(" " + p.String())
		}
		b.WriteString("\n")
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestNewline checks that a newline at the end of the template is kept, and
// others are counted in, as Salt does.
func TestNewline(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"a", "a"},
		{"a\n", "a\n"},
		{"a\n\n", "a\n\n"},
		{"", ""},
		{"\n", "\n"},
		{"a\r\n", "a\n"},
		{"{% include 'i' %}\n", "inc\n"},
		{"{# c #}\n", "\n"},
	} {
		got, err := jinjatest.Render(jinja.New(jinja.Options{}, jinjatest.Files{"i": "inc\n"}), "main", tt.text, nil)
		if err != nil || got != tt.want {
			t.Errorf("%q = %q, %v; want %q", tt.text, got, err, tt.want)
		}
	}
}

// countLoader counts what is asked of it.
type countLoader struct {
	mu sync.Mutex
	n  int
}

func (l *countLoader) Load(context.Context, string, string) (jinja.Source, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return jinja.Source{Name: "map.jinja", Text: "{% set v = x %}", Key: "k"}, nil
}

func TestCache(t *testing.T) {
	t.Parallel()
	l := &countLoader{}
	env := jinja.New(jinja.Options{}, l)
	a, err := env.Get(context.Background(), "map.jinja", "")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := env.Get(context.Background(), "map.jinja", "x"); a != b {
		t.Error("one source was parsed twice")
	}
	c, _ := env.Parse("t", "{{ 1 }}")
	if d, _ := env.Parse("t", "{{ 1 }}"); c != d {
		t.Error("one text was parsed twice")
	}
	l.n = 0
	if _, err := jinjatest.Render(env, "t", "{% for i in range(9) %}{% from 'map.jinja' import v %}{{ v }}{% endfor %}", value.MapOf("x", "1")); err != nil || l.n != 1 {
		t.Errorf("%v, %d loads of one template in a rendering", err, l.n)
	}
}

// TestConcurrent renders one template in many goroutines.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	files := benchFiles()
	env := jinja.New(jinja.Options{}, files)
	want, err := jinjatest.Render(env, "web/init.sls", files["web/init.sls"], benchVars())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := jinjatest.Render(env, "web/init.sls", files["web/init.sls"], benchVars()); err != nil || got != want {
				t.Errorf("%v, equal: %v", err, got == want)
			}
		})
	}
	wg.Wait()
}

func TestModule(t *testing.T) {
	t.Parallel()
	tmpl, err := jinja.New(jinja.Options{}, nil).Parse("t", "{% set a = x + 1 %}{% set _b = 2 %}{% for i in [1] %}{% set c = 3 %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	m, err := tmpl.Module(context.Background(), value.MapOf("x", int64(1)))
	if err != nil || value.Repr(m.Attrs) != "{'a': 2}" {
		t.Errorf("%v, %v", value.Repr(m.Attrs), err)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	var o jinja.Options
	unknown := o.Apply(value.MapOf("Trim_Blocks", true, "block_start_string", "<%", "line_statement_prefix", nil, "autoescapes", true))
	if !o.TrimBlocks || o.BlockStart != "<%" || o.LineStatementPrefix != "" || len(unknown) != 1 || unknown[0] != "autoescapes" {
		t.Errorf("options %+v, unknown %q", o, unknown)
	}
}

func TestDebug(t *testing.T) {
	t.Parallel()
	out, err := jinjatest.Render(jinja.New(jinja.Options{Debug: true}, nil), "t", "{% debug %}", value.MapOf("a", value.MapOf("b", value.NewList(int64(1)))))
	if err != nil || !strings.HasPrefix(out, "{'context': {'a': {'b': [...]}},\n 'filters': ['abs',") {
		t.Errorf("%.200q, %v", out, err)
	}
}

// settable is a mapping that is no dict but takes entries, as grains are.
type settable struct{ m *value.Map }

func (s settable) Get(k value.Value) (value.Value, bool) { return s.m.Get(k) }
func (s settable) Keys() []value.Value                   { return s.m.Keys() }
func (s settable) Len() int                              { return s.m.Len() }
func (s settable) TypeName() string                      { return "dict" }
func (s settable) Set(name string, v value.Value)        { s.m.Set(name, v) }
func (s settable) Delete(name string)                    { s.m.Delete(name) }

// TestSetter changes grains from a template.
func TestSetter(t *testing.T) {
	t.Parallel()
	m := value.MapOf("a", int64(1), "b", value.NewList())
	got, err := jinjatest.Render(jinja.New(jinja.Options{}, nil), "t", "{% do g.update({'c': 3}, d=4) %}{{ g.setdefault('a', 9) }}{{ g.setdefault('e', 5) }}{{ g.setdefault('f') }}{{ g.pop('a') }}{{ g.pop('zz', 7) }}{% do g.b.append(1) %}{{ g.pop('c') }}", value.MapOf("g", settable{m}))
	if err != nil || got != "15None173" || value.Repr(m) != "{'b': [1], 'd': 4, 'e': 5, 'f': None}" {
		t.Errorf("%q, %v, %s", got, err, value.Repr(m))
	}
	for text, want := range map[string]string{"{% do g.pop('zz') %}": "'zz'", "{% do g.update(1) %}": "'int' object is not iterable", "{% do g.update({1: 2}) %}": "keys must be str, not int", "{% do g.pop() %}": "pop expected at least 1 argument, got 0"} {
		var e *jinja.Error
		if _, err := jinjatest.Render(jinja.New(jinja.Options{}, nil), "t", text, value.MapOf("g", settable{m})); !errors.As(err, &e) || e.Msg != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
