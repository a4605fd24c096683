package saltjinja

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// fakeSalt answers recorded calls by function and arguments.
type fakeSalt struct {
	calls []*value.Map
	known map[string]bool
}

type fakeModule struct {
	salt *fakeSalt
	name string
}

func (s *fakeSalt) fn(name string) value.Value {
	return &jinja.Callable{Name: name, Fn: func(c *jinja.Call) (value.Value, error) {
		kw := c.Kw
		if kw == nil {
			kw = value.NewMap(0)
		}
		for _, call := range s.calls {
			if call.Str("fn") == name && value.Equal(value.Tuple(call.List("args").Items), value.Tuple(c.Args)) && value.Equal(call.Map("kwargs"), kw) {
				return value.Clone(call.At("result")), nil
			}
		}
		return nil, fmt.Errorf("no recorded call %s(%s, %s)", name, value.Repr(value.Tuple(c.Args)), value.Repr(kw))
	}}
}

func (s *fakeSalt) GetItem(_ *jinja.State, key value.Value) (value.Value, bool, error) {
	name, ok := key.(string)
	if !ok || !s.known[name] {
		return nil, false, nil
	}
	return s.fn(name), true, nil
}

func (s *fakeSalt) GetAttr(_ *jinja.State, name string) (value.Value, bool, error) {
	if s.known[name] {
		return s.fn(name), true, nil
	}
	return &fakeModule{s, name}, true, nil
}

func (s *fakeSalt) Has(_ *jinja.State, x value.Value) (bool, error) {
	name, _ := x.(string)
	return s.known[name], nil
}

func (m *fakeModule) GetAttr(_ *jinja.State, name string) (value.Value, bool, error) {
	return m.salt.fn(m.name + "." + name), true, nil
}

// saltText is how Salt words the fault.
func saltText(e *jinja.Error) string {
	switch e.PyType {
	case "UndefinedError":
		return fmt.Sprintf("Jinja variable %s; line %d", e.Msg, e.At.Line)
	case "TemplateSyntaxError", "TemplateAssertionError", "TemplateRuntimeError", "SecurityError":
		return fmt.Sprintf("Jinja syntax error: %s; line %d", e.Msg, e.At.Line)
	}
	return "Jinja error: " + e.Msg
}

// TestCases renders the constructs that real SLS files use; the expected
// values come from Jinja2 3.1.2 in Salt 3006's environment.
func TestCases(t *testing.T) {
	t.Parallel()
	file := jinjatest.Decode(t, "testdata/jinja-cases.json")
	known := map[string]bool{"pillar.get": true}
	for _, c := range file.List("cases").Items {
		for _, call := range c.(*value.Map).List("salt_calls").Items {
			known[call.(*value.Map).Str("fn")] = true
		}
	}
	passed, total := map[string]int{}, map[string]int{}
	for _, c := range file.List("cases").Items {
		c := c.(*value.Map)
		group := c.Str("group")
		total[group]++
		ok := t.Run(group+"/"+c.Str("id"), func(t *testing.T) {
			salt := &fakeSalt{known: known}
			for _, call := range c.List("salt_calls").Items {
				salt.calls = append(salt.calls, call.(*value.Map))
			}
			vars := value.MapOf("pillar", value.Clone(file.Map("pillar")), "grains", value.Clone(file.Map("grains")), "salt", salt, "opts", value.NewMap(0))
			vars.Update(c.Map("context"))
			var o jinja.Options
			if unknown := o.Apply(c.Map("env")); unknown != nil {
				t.Fatalf("options not known: %v", unknown)
			}
			o.Extension = New(Options{})
			env := jinja.New(o, jinjatest.FilesOf(c.Map("files")))
			out, err := jinjatest.Render(env, "test.sls", c.Str("template"), vars)
			want := c.Map("error")
			if want == nil {
				if err != nil {
					t.Fatalf("%s\nfailed: %v", c.Str("template"), err)
				}
				if diff := cmp.Diff(c.Str("out"), out); diff != "" {
					t.Errorf("%s\n(-want +got)\n%s", c.Str("template"), diff)
				}
				return
			}
			var e *jinja.Error
			if !errors.As(err, &e) {
				t.Fatalf("%s\nerror is %v, want %s", c.Str("template"), err, value.Repr(want))
			}
			got := value.MapOf("type", e.PyType, "msg", saltText(e), "line", int64(e.At.Line))
			if diff := cmp.Diff(value.Repr(want), value.Repr(got)); diff != "" {
				t.Errorf("%s\n(-want +got)\n%s", c.Str("template"), diff)
			}
		})
		if ok {
			passed[group]++
		}
	}
	var groups []string
	for g := range total {
		groups = append(groups, g)
	}
	sort.Strings(groups)
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "%s %d/%d  ", g, passed[g], total[g])
	}
	t.Log(b.String())
}
