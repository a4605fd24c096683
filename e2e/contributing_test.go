package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributing runs the example of CONTRIBUTING.md: its files compile, and its
// test passes, as if they were in this repository.
func TestContributing(t *testing.T) {
	t.Parallel()
	page := read(t, "CONTRIBUTING.md")
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, overlay := t.TempDir(), map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)`(states/hello/\\w+\\.go)`.*?^```go\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		file := filepath.Join(dir, filepath.Base(m[1]))
		if err := os.WriteFile(file, []byte(m[2]), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, filepath.FromSlash(m[1]))] = file
	}
	if len(overlay) != 2 {
		t.Fatalf("CONTRIBUTING.md has %d files of states/hello, want the function and its test", len(overlay))
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "hello.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", list, "-vet=off", "-o", program, "./states/hello")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), program, "-test.v")
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestWorld") {
		t.Errorf("%v\n%s", err, out)
	}
}
