// Package jinjatest helps to test the engine and its extensions: it reads
// recorded cases, renders templates, and calls functions with odd values.
package jinjatest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Decode reads a JSON file of recorded cases. {"__dict__": [[k, v], ...]} is a
// dict with keys that are not strings.
func Decode(t testing.TB, path string) *value.Map {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := value.DecodeJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	return pyData(v).(*value.Map)
}

func pyData(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.List:
		for i, x := range v.Items {
			v.Items[i] = pyData(x)
		}
	case *value.Map:
		if pairs := v.List("__dict__"); pairs != nil && v.Len() == 1 {
			m := value.NewMap(pairs.Len())
			for _, p := range pairs.Items {
				m.Set(p.(*value.List).Items[0], pyData(p.(*value.List).Items[1]))
			}
			return m
		}
		if items := v.List("__tuple__"); items != nil && v.Len() == 1 {
			t := value.Tuple{}
			for _, x := range items.Items {
				t = append(t, pyData(x))
			}
			return t
		}
		for k, x := range v.All() {
			v.Set(k, pyData(x))
		}
	}
	return v
}

// Files are templates by name.
type Files map[string]string

// Load returns the template of a name.
func (f Files) Load(_ context.Context, name, _ string) (jinja.Source, error) {
	text, ok := f[name]
	if !ok {
		return jinja.Source{}, &jinja.NotFoundError{Name: name}
	}
	return jinja.Source{Text: text}, nil
}

// FilesOf returns the templates of a recorded case.
func FilesOf(m *value.Map) Files {
	f := Files{}
	for k, v := range m.All() {
		f[k.(string)] = v.(string)
	}
	return f
}

// Render returns what a text renders to.
func Render(env *jinja.Env, name, text string, vars *value.Map) (string, error) {
	tmpl, err := env.Parse(name, text)
	if err != nil {
		return "", err
	}
	out, err := tmpl.Render(context.Background(), vars)
	if err != nil {
		return "", err
	}
	return out.Text, nil
}

// Fault returns the error of a text that does not render.
func Fault(t testing.TB, env *jinja.Env, text string, vars *value.Map) *jinja.Error {
	t.Helper()
	out, err := Render(env, "main.sls", text, vars)
	var e *jinja.Error
	if !errors.As(err, &e) {
		t.Fatalf("%q = %q, %v; want an *Error", text, out, err)
	}
	return e
}

// Repr is the filter repr, which recorded cases use.
func Repr(c *jinja.Call) (value.Value, error) {
	args, err := c.Params("repr", 0, "obj")
	if err != nil {
		return nil, err
	}
	return value.Repr(args[0]), nil
}

var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// Compare renders the cases of a file, those that are marked "auto" by the
// environment auto, and compares with what was recorded.
func Compare(t *testing.T, path string, plain, auto *jinja.Env) {
	t.Helper()
	file := Decode(t, path)
	failed := 0
	cases := file.List("cases").Items
	for _, c := range cases {
		c := c.(*value.Map)
		env := plain
		if c.Has("auto") {
			env = auto
		}
		text := c.Str("t")
		got, err := Render(env, "main", text, value.Clone(file.Map("vars")).(*value.Map))
		why := ""
		if want := c.List("e"); want != nil {
			// A message of None is one that is not compared.
			var e *jinja.Error
			switch {
			case err == nil:
				why = "= " + got + "\n\twant error " + value.Repr(want)
			case !errors.As(err, &e):
				why = "error without a place: " + err.Error()
			case e.PyType != want.Items[0] || want.Items[1] != nil && address.ReplaceAllString(e.Msg, "0x0") != want.Items[1]:
				why = "fails with " + value.Repr(value.Tuple{e.PyType, e.Msg}) + "\n\twant       " + value.Repr(want)
			}
		} else if err != nil {
			why = "fails with " + err.Error() + "\n\twant " + c.Str("o")
		} else if got = address.ReplaceAllString(got, "0x0"); got != c.Str("o") {
			why = "\n\t= " + got + "\n\twant " + c.Str("o")
		}
		if why != "" {
			if failed++; failed <= 80 {
				t.Errorf("%s %s", text, why)
			}
		}
	}
	t.Logf("%d of %d", len(cases)-failed, len(cases))
}

// Eval returns the value of an expression, and the state that it had there.
func Eval(t testing.TB, env *jinja.Env, expr string) (value.Value, *jinja.State) {
	t.Helper()
	var got value.Value
	var state *jinja.State
	keep := &jinja.Callable{Name: "keep", Fn: func(c *jinja.Call) (value.Value, error) {
		got, state = c.Args[0], c.State
		return "", nil
	}}
	if _, err := Render(env, "t", "{{ keep("+expr+") }}", value.MapOf("keep", keep)); err != nil {
		t.Fatal(err)
	}
	return got, state
}

// A Prober calls functions with odd values: all calls must end, without a
// panic, and fail only as Python would.
type Prober struct {
	State *jinja.State

	t       testing.TB
	objects []string // expressions of objects that only templates make
}

// NewProber returns a prober of functions of an environment.
func NewProber(t testing.TB, env *jinja.Env) *Prober {
	t.Helper()
	_, s := Eval(t, env, "0")
	return &Prober{State: s, t: t, objects: []string{"[{'a': 'x'}]|groupby('a')|first", "cycler('x')", "namespace()"}}
}

// Values returns values of every type, edge cases included.
func (p *Prober) Values() []value.Value {
	loop := value.NewList(int64(1))
	loop.Append(loop)
	own := value.MapOf("a", int64(1))
	own.Set("self", own)
	ordered := value.MapOf("b", int64(1), "a", nil)
	ordered.Ordered = true
	values := []value.Value{
		nil, true, int64(0), int64(-7), int64(3), int64(1) << 40, new(big.Int).Lsh(big.NewInt(1), 90), 1.5, math.Copysign(0, -1), 1e300,
		"", "a", "2024-02-29", "%s {0} <b>\n\tx", "Zé日\xff\xfe", "10.0.0.1/8", "[a-", "a:b", value.Bytes("a\xff"), markupsafe.Markup("<i>"),
		value.NewList(), value.NewList("b", "a", int64(1), nil), loop,
		value.Tuple{int64(1), "a"},
		value.NewSet(int64(1), "x"),
		value.MapOf("a", value.MapOf("b", int64(1)), int64(2), "x"), ordered, own,
		value.Range{Start: 0, Stop: 4, Step: 1},
		&value.View{Of: own, Kind: value.Pairs}, time.Date(2024, 2, 29, 1, 2, 3, 0, time.UTC), value.Delta(time.Hour),
		p.State.Undefined("nope"), &jinja.Undefined{Kind: jinja.Plain, Name: "p"}, &jinja.Callable{Name: "f", Fn: func(*jinja.Call) (value.Value, error) { return nil, nil }},
	}
	for _, expr := range p.objects {
		v, _ := Eval(p.t, p.State.Env(), expr)
		values = append(values, v)
	}
	return values
}

// Check calls fn once.
func (p *Prober) Check(what string, fn jinja.Func, args []value.Value, kw *value.Map) {
	defer func() {
		if r := recover(); r != nil {
			p.t.Errorf("%s%s: panic: %v", what, describe(args), r)
		}
	}()
	v, err := fn(&jinja.Call{State: p.State, Args: args, Kw: kw})
	if err == nil {
		if g, ok := v.(value.Iterator); ok {
			_, _, err = g.Next()
		}
	}
	var py *value.PyError
	var e *source.Error
	if err != nil && !errors.As(err, &py) && !errors.As(err, &e) {
		p.t.Errorf("%s%s: no Python error: %v", what, describe(args), err)
	}
}

// Probe calls fn with every odd value first, and some others after it.
func (p *Prober) Probe(what string, fn jinja.Func) {
	first, odd := p.Values(), p.Values()
	p.Check(what, fn, nil, nil)
	for i, v := range first {
		p.Check(what, fn, []value.Value{v}, nil)
		for j := range odd {
			if (i+j)%4 != 0 {
				continue
			}
			p.Check(what, fn, []value.Value{v, odd[j]}, nil)
			p.Check(what, fn, []value.Value{v, odd[j], odd[(i*7+j)%len(odd)]}, nil)
			p.Check(what, fn, []value.Value{v, odd[(j*5)%len(odd)], odd[j], odd[(i+2*j)%len(odd)]}, nil)
		}
		p.Check(what, fn, []value.Value{v}, value.MapOf("attribute", odd[i%len(odd)], "default", "x"))
		p.Check(what, fn, []value.Value{v, "a"}, value.MapOf("x", odd[i%len(odd)]))
	}
}

// ProbeNames probes the filters, tests and globals of an environment.
func (p *Prober) ProbeNames() {
	s := p.State
	for _, name := range s.Env().FilterNames() {
		p.Probe(name, func(c *jinja.Call) (value.Value, error) { return s.Filter(name, c.Args, c.Kw) })
	}
	for _, name := range s.Env().TestNames() {
		p.Probe("is "+name, func(c *jinja.Call) (value.Value, error) { return s.Test(name, c.Args, c.Kw) })
	}
	for _, name := range s.Env().GlobalNames() {
		v, ok := s.Resolve(name)
		if !ok {
			p.t.Errorf("no global %q", name)
			continue
		}
		p.Probe(name, func(c *jinja.Call) (value.Value, error) { return s.CallValue(v, c.Args, c.Kw) })
	}
}

func describe(args []value.Value) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = fmt.Sprintf("%.60s", value.Repr(a))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
