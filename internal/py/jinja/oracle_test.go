package jinja_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/saltjinja"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// TestOracle renders what testdata/record_core.py recorded from Jinja2 3.1.2
// set up as Salt does: more than two thousand templates, each with its output
// or with type, message and line of its error.
func TestOracle(t *testing.T) {
	t.Parallel()
	file := jinjatest.Decode(t, "testdata/oracle-core.json")
	passed, total := 0, 0
	for _, c := range file.List("cases").Items {
		c := c.(*value.Map)
		total++
		if t.Run("", func(t *testing.T) { oracleCase(t, file, c) }) {
			passed++
		}
	}
	t.Logf("%d of %d", passed, total)
}

func oracleCase(t *testing.T, file, c *value.Map) {
	vars := value.NewMap(0)
	if c.Has("vars") {
		vars = value.Clone(file.Map("vars")).(*value.Map)
	}
	vars.Set("echo", &jinja.Callable{Name: "echo", Fn: func(c *jinja.Call) (value.Value, error) {
		kw := c.Kw
		if kw == nil {
			kw = value.NewMap(0)
		}
		return value.Repr(value.Tuple(c.Args)) + value.Repr(kw), nil
	}})
	vars.Set("boom", &jinja.Callable{Name: "boom", Fn: func(*jinja.Call) (value.Value, error) {
		return nil, value.Raise("ValueError", "boom")
	}})
	vars.Set("ident", &jinja.Callable{Name: "ident", Fn: func(c *jinja.Call) (value.Value, error) {
		args, err := c.Params("ident", 0, "x")
		if err != nil {
			return nil, err
		}
		return args[0], nil
	}})
	loader := jinjatest.Files{}
	if c.Has("files") {
		loader = jinjatest.FilesOf(file.Map("files"))
	}
	var o jinja.Options
	if opts := c.Map("opts"); opts != nil {
		if unknown := o.Apply(opts); len(unknown) > 0 {
			o.Undefined = jinja.Plain // allow_undefined
		}
	}
	o.Extension = saltjinja.New(saltjinja.Options{})
	text := c.Str("t")
	got, err := jinjatest.Render(jinja.New(o, loader), "main", text, vars)
	want := c.List("e")
	if want == nil {
		if err != nil {
			t.Fatalf("%q: %v\nwant %q", text, err, c.Str("o"))
		}
		if got != c.Str("o") {
			t.Errorf("%q\n%s", text, cmp.Diff(c.Str("o"), got))
		}
		return
	}
	var e *jinja.Error
	if err == nil {
		t.Fatalf("%q = %q, want error %s", text, got, value.Repr(want))
	}
	if !errors.As(err, &e) {
		t.Fatalf("%q: error without a place: %v", text, err)
	}
	if typ := want.Items[0]; typ == "RecursionError" {
		if e.PyType != typ {
			t.Errorf("%q: error %v, want %s", text, e, value.Repr(want))
		}
		return
	}
	if want.Items[2] == int64(0) {
		// Python failed outside of the template.
		e.At.Line = 0
	}
	have := value.NewList(e.PyType, e.Msg, int64(e.At.Line))
	if !value.Equal(have, want) {
		t.Errorf("%q\n got %s\nwant %s", text, value.Repr(have), value.Repr(want))
	}
}
