package licenses

import (
	"bytes"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
)

// What the program contains is listed with its licence. The modules of the test
// program are those of this package, so the list of the program itself is asked for.
func TestWrite(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Write(&b); err != nil {
		t.Fatal(err)
	}
	list, texts, _ := strings.Cut(b.String(), "\n\n")
	if !strings.HasPrefix(list, "brine: Apache-2.0\nGo: BSD-3-Clause\n") {
		t.Errorf("the list begins with %.40q", list)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(list) {
		name, kind, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || kind == "" {
			t.Errorf("no licence: %q", line)
		}
		listed[name] = true
		if name != "brine" && !strings.Contains(texts, "\n"+name+": ") {
			t.Errorf("no text of %s", name)
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if strings.Contains(m.Path, "klauspost/compress") && !listed[m.Path+" "+m.Version] {
				t.Errorf("%s %s is not listed: go generate ./internal/core/licenses", m.Path, m.Version)
			}
		}
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "../../..").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); name != "" && !listed[name] {
			t.Errorf("%s is not listed: go generate ./internal/core/licenses", name)
			listed[name] = true
		}
	}
}
