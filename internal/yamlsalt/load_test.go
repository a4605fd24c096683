package yamlsalt_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"brine/internal/source"
	"brine/internal/value"
	"brine/internal/yamlsalt"
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
	var f *yamlsalt.Fault
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
