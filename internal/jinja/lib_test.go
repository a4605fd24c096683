package jinja

import (
	"errors"
	"regexp"
	"testing"

	"brine/internal/value"
)

var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// libEnv is an environment with the filter repr and with Jinja2's own filters
// where Salt has others of their names.
func libEnv(auto bool) *Env {
	o := Options{Autoescape: auto, Host: testHost{}}
	o.Filter = func(name string) (Func, bool) {
		switch name {
		case "repr":
			return func(c *Call) (value.Value, error) { return value.Repr(c.Args[0]), nil }, true
		case "min", "max", "unique", "tojson":
			f := builtinFilter(name)
			return f, f != nil
		}
		return nil, false
	}
	return New(o, nil)
}

// TestLibrary compares methods, filters, tests and globals with what Jinja2
// 3.1.2 on Python 3.11 did (testdata/record_lib.py).
func TestLibrary(t *testing.T) {
	t.Parallel()
	compareLibrary(t, "testdata/oracle-lib.json", libEnv(false), libEnv(true))
	compareLibrary(t, "testdata/oracle-sets.json", libEnv(false), nil)
}

// TestSaltLibrary compares what Salt adds with what Python's libraries that
// Salt calls gave, and with Salt's documentation (testdata/record_salt.py).
func TestSaltLibrary(t *testing.T) {
	t.Parallel()
	o := Options{Host: testHost{}}
	o.Filter = func(name string) (Func, bool) {
		if name == "repr" {
			return func(c *Call) (value.Value, error) { return value.Repr(c.Args[0]), nil }, true
		}
		return nil, false
	}
	compareLibrary(t, "testdata/oracle-salt.json", New(o, nil), nil)
}

func compareLibrary(t *testing.T, name string, plain, auto *Env) {
	file := decodeFile(t, name)
	failed := 0
	cases := file.List("cases").Items
	for _, c := range cases {
		c := c.(*value.Map)
		env := plain
		if c.Has("auto") {
			env = auto
		}
		text := c.Str("t")
		got, err := render(env, "main", text, value.Clone(file.Map("vars")).(*value.Map))
		why := ""
		if want := c.List("e"); want != nil {
			// A message of None is one that is not compared.
			var e *Error
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
