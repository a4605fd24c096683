package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// A fence is a fenced block of a Markdown file.
type fence struct {
	kind, name, text string
	line             int
}

func fences(t *testing.T, path string) []fence {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []fence
	open := false
	for i, line := range strings.SplitAfter(string(raw), "\n") {
		info, ok := strings.CutPrefix(line, "```")
		switch {
		case ok && open:
			open = false
		case ok:
			open = true
			kind, name, _ := strings.Cut(strings.TrimSpace(info), " ")
			out = append(out, fence{kind: kind, name: name, line: i + 1})
		case open:
			out[len(out)-1].text += line
		}
	}
	return out
}

// TestDocs runs the examples of docs/templates.md: a block of jinja is followed
// by the text that it renders to, one of sls by its data as JSON, both by the
// error that they are; those that have a name are files.
func TestDocs(t *testing.T) {
	t.Parallel()
	const doc = "../../../docs/templates.md"
	root := t.TempDir()
	data, ran := value.NewMap(0), 0
	all := fences(t, doc)
	for i, f := range all {
		switch {
		case f.kind == "data":
			v, err := yamlsalt.LoadString(f.text)
			if err != nil {
				t.Fatal(err)
			}
			data = v.(*value.Map)
			continue
		case f.name != "":
			if err := os.WriteFile(filepath.Join(root, f.name), []byte(f.text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		case f.kind != "jinja" && f.kind != "sls":
			continue
		}
		if i+1 == len(all) {
			t.Fatalf("line %d: no result follows", f.line)
		}
		want := all[i+1]
		spec := value.MapOf("opts", value.MapOf("id", "web1"), "grains", data.Map("grains"), "pillar", data.Map("pillar"))
		e := machine(t, root, spec)
		var got string
		var err error
		if f.kind == "jinja" {
			got, err = render.For(e).Template(t.Context(), "jinja", render.Input{Path: "example.jinja", Text: []byte(f.text)})
		} else {
			var v value.Value
			if v, err = render.For(e).SLS(t.Context(), render.Input{Path: "example.sls", SLS: "example", Text: []byte(f.text)}); err == nil {
				raw, jerr := value.AppendJSON(nil, v, value.JSONOptions{})
				if jerr != nil {
					t.Fatal(jerr)
				}
				got = string(raw) + "\n"
			}
		}
		if want.kind == "error" {
			faults := source.Faults(err)
			if len(faults) != 1 {
				t.Errorf("line %d: err = %v, want one fault", f.line, err)
				continue
			}
			got = faults[0].Trace() + "\n"
		} else if err != nil {
			t.Errorf("line %d: %v", f.line, err)
			continue
		}
		if d := cmp.Diff(want.text, got); d != "" {
			t.Errorf("line %d: (-doc +got)\n%s", f.line, d)
		}
		ran++
	}
	if ran < 10 {
		t.Errorf("%d examples ran, want 10 at least", ran)
	}
	listed(t, doc)
}

// listed says that the document names each renderer and template engine.
func listed(t *testing.T, doc string) {
	raw, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(render.Renderers(), render.Engines()...) {
		if !strings.Contains(string(raw), "`"+name+"`") {
			t.Errorf("%s does not name %s", doc, name)
		}
	}
}
