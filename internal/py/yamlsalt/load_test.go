package yamlsalt_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// recorded reads a list of maps that testdata/record.py wrote.
func recorded(t testing.TB, name string) []*value.Map {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.ParseJSON(string(b))
	if err != nil {
		t.Fatal(err)
	}
	var cases []*value.Map
	for _, c := range v.(*value.List).Items {
		cases = append(cases, c.(*value.Map))
	}
	if len(cases) < 100 {
		t.Fatalf("%s: %d cases", name, len(cases))
	}
	return cases
}

// loaded is what record.py's load prints.
func loaded(o yamlsalt.LoadOptions, text string) string {
	v, err := yamlsalt.Load(o, []byte(text))
	if err == nil {
		return value.Repr(v)
	}
	var f *yamlsalt.SyntaxError
	if !errors.As(err, &f) {
		return "!" + err.Error()
	}
	return "!" + f.Class + ": " + f.Text()
}

func TestLoadAsPyYAML(t *testing.T) {
	for _, c := range recorded(t, "load.json") {
		text := c.Str("text")
		ordered, _ := c.At("ordered").(bool)
		if got, want := loaded(yamlsalt.LoadOptions{Ordered: ordered}, text), c.Str("want"); got != want {
			t.Errorf("Load(%q)\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestLoadNoFaultWithoutPlace(t *testing.T) {
	for _, c := range recorded(t, "load.json") {
		_, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "a.sls"}, []byte(c.Str("text")))
		if err == nil {
			continue
		}
		var e *source.Error
		if !errors.As(err, &e) || e.Pos.Line == 0 || e.Pos.File != "a.sls" || strings.Contains(err.Error(), "\n") {
			t.Errorf("Load(%q) = %v", c.Str("text"), err)
		}
	}
}

// TestSaltText compares with what Salt said of the faulty SLS files in the
// recordings: it is what follows "Rendering SLS 'base:x' failed: ".
func TestSaltText(t *testing.T) {
	const dir = "../../../testdata/conformance/"
	for _, tt := range []struct{ file, recording, prefix string }{
		{"compile-dup-key/tree/salt/s.sls", "compile-dup-key/expected.json", "Rendering SLS 'base:s' failed: "},
		{"compile-err-yaml/tree/salt/tab.sls", "compile-err-yaml/expected.json", "Rendering SLS 'base:tab' failed: "},
		{"compile-err-yaml/tree/salt/indent.sls", "compile-err-yaml/expected.2.json", "Rendering SLS 'base:indent' failed: "},
		{"compile-err-yaml/tree/salt/bracket.sls", "compile-err-yaml/expected.3.json", "Rendering SLS 'base:bracket' failed: "},
		{"compile-err-yaml/tree/salt/colon.sls", "compile-err-yaml/expected.4.json", "Rendering SLS 'base:colon' failed: "},
		{"compile-err-yaml-equals/tree/salt/eq.sls", "compile-err-yaml-equals/expected.json", "Rendering SLS 'base:eq' failed: "},
		{"compile-err-yaml-equals/tree/salt/tag.sls", "compile-err-yaml-equals/expected.2.json", "Rendering SLS 'base:tag' failed: "},
		{"compile-err-yaml-equals/tree/salt/merge.sls", "compile-err-yaml-equals/expected.3.json", "Rendering SLS 'base:merge' failed: "},
		{"compile-err-yaml-equals/tree/salt/alias.sls", "compile-err-yaml-equals/expected.4.json", "Rendering SLS alias failed, render error: "},
	} {
		text, err := os.ReadFile(dir + tt.file)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := os.ReadFile(dir + tt.recording)
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.ParseJSON(string(rec))
		if err != nil {
			t.Fatal(err)
		}
		want, _, _ := strings.Cut(value.Str(v.(*value.Map).List("local").Items[0]), "\nTraceback")
		_, err = yamlsalt.Load(yamlsalt.LoadOptions{Name: tt.file, Ordered: true}, text)
		var e *source.Error
		var f *yamlsalt.SyntaxError
		if !errors.As(err, &e) || !errors.As(err, &f) {
			t.Errorf("%s: %v", tt.file, err)
			continue
		}
		if got := tt.prefix + e.SaltText(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.file, got, want)
		}
		if handled := !strings.Contains(tt.prefix, "render error"); f.RenderError() != handled {
			t.Errorf("%s: RenderError() = %v", tt.file, f.RenderError())
		}
	}
}
