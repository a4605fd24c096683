package jinja_test

import (
	"testing"

	"brine/internal/py/jinja"
	"brine/internal/testkit/jinjatest"
)

// TestLibrary compares methods, filters, tests and globals with what Jinja2
// 3.1.2 on Python 3.11 did (testdata/record_lib.py).
func TestLibrary(t *testing.T) {
	t.Parallel()
	ext := jinja.Extension{Filters: map[string]jinja.Func{"repr": jinjatest.Repr}}
	jinjatest.Compare(t, "testdata/oracle-lib.json", jinja.New(jinja.Options{Extension: ext}, nil), jinja.New(jinja.Options{Extension: ext, Autoescape: true}, nil))
}
