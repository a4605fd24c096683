package jinja_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/saltjinja"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// FuzzRender lexes, parses and renders any text: it ends, without a panic, and
// faults have a place.
func FuzzRender(f *testing.F) {
	for _, path := range []string{"saltjinja/testdata/jinja-cases.json", "testdata/oracle-core.json"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var file struct {
			Cases []struct{ Template, T string }
		}
		if err := json.Unmarshal(data, &file); err != nil {
			f.Fatal(err)
		}
		if len(file.Cases) == 0 {
			f.Fatal("no seeds in " + path)
		}
		for i, c := range file.Cases {
			if path == "testdata/oracle-core.json" && i > 900 {
				break // the rest are operators on operands
			}
			f.Add(c.Template+c.T, byte(i))
		}
	}
	ext := saltjinja.New(saltjinja.Options{})
	f.Fuzz(func(t *testing.T, text string, flags byte) {
		o := jinja.Options{
			TrimBlocks: flags&1 != 0, LstripBlocks: flags&2 != 0, KeepTrailingNewline: flags&4 != 0,
			Autoescape: flags&8 != 0, Debug: flags&64 != 0,
			Extension: ext, MaxTime: 2 * time.Second, MaxOutput: 1 << 20,
		}
		if flags&16 != 0 {
			o.LineStatementPrefix, o.LineCommentPrefix = "#", "##"
		}
		if flags&32 != 0 {
			o.Undefined = jinja.Plain
		}
		env := jinja.New(o, jinjatest.Files{"a.j": "{% macro m(x) %}{{ x }}{% endmacro %}{% block a %}{{ s }}{% endblock %}", "self": text})
		vars := value.MapOf("s", "abc", "l", value.NewList(int64(3), "x"), "d", value.MapOf("a", int64(1)), "n", nil)
		start := time.Now()
		defer func() {
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("%q took %v", text, d)
			}
		}()
		tmpl, err := env.Parse("fuzz", text)
		if err == nil {
			var out *jinja.Output
			out, err = tmpl.Render(context.Background(), vars)
			if err == nil {
				for line := range 5 {
					out.Pos(line)
				}
				return
			}
		}
		var e *jinja.Error
		if !errors.As(err, &e) || e.Pos.Line == 0 {
			t.Errorf("%q: error without a place: %v", text, err)
		}
	})
}
