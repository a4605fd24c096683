package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestList: each entry of the list matches the code, also those that are not tried
// here, and the code has the tests that it names.
func TestList(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("bench/mutants/list.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Errorf("%d guards", len(all))
	}
	for _, m := range all {
		if _, err := m.changed(); err != nil {
			t.Errorf("line %d: %v", m.line, err)
		}
		tests := ""
		files, _ := filepath.Glob(filepath.Join(m.pkg, "*_test.go"))
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			tests += string(b)
		}
		for name := range strings.SplitSeq(m.check, "|") {
			if !strings.Contains(tests, "\nfunc "+strings.TrimSuffix(name, ".*")) {
				t.Errorf("line %d: %s has no test %s", m.line, m.pkg, name)
			}
		}
	}
}

// TestSample tries some guards, those whose tests are quick to build, and what the
// list must not get away with.
func TestSample(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tests: not with -short")
	}
	t.Chdir("../..")
	for _, only := range []string{"before the hello are counted", "control characters", "passwords in URLs"} {
		var out strings.Builder
		if err := run(&out, "bench/mutants/list.txt", only); err != nil || !strings.Contains(out.String(), "1 of 1 guards") {
			t.Errorf("%s: %v\n%s", only, err, &out)
		}
	}
	const head = "guard: x\nfile: internal/printable/printable.go\n"
	for name, tt := range map[string]struct{ list, want string }{
		"harmless": {head + "old: // safe for concurrent use.\nnew: // safe.\ntest: ./internal/printable TestHostileText", "the test passes without the guard"},
		"broken":   {head + "old: case unicode.IsControl(r), \nnew: case nothing, \ntest: ./internal/printable TestHostileText", "it does not compile"},
		"gone":     {head + "old: no such text\nnew: x\ntest: ./internal/printable TestHostileText", "no longer matches the code"},
		"twice":    {head + "old: return\nnew: panic\ntest: ./internal/printable TestHostileText", "no longer matches the code"},
		"no test":  {head + "old: // safe for concurrent use.\nnew: // safe.\ntest: ./internal/printable TestNone", "has no test TestNone"},
		"no key":   {"guard x", "not KEY: VALUE"},
		"half":     {"guard: x", "a guard has"},
		"nothing":  {"", "the list is empty"},
	} {
		list := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(list, []byte(tt.list), 0o600); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err := run(&out, list, "")
		if err == nil || !strings.Contains(out.String()+err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q\n%s", name, err, tt.want, &out)
		}
	}
}
