package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tests returns the names of the tests: check has one or several, separated by |, or
// one with a part of it that has to fail behind a slash.
func (m *mutant) tests() []string {
	top, _, _ := strings.Cut(m.check, "/")
	return strings.Split(top, "|")
}

// listed returns the list, at the root of the repository.
func listed(t *testing.T) []*mutant {
	t.Helper()
	t.Chdir("../..")
	text, err := os.ReadFile("bench/mutants/list.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A tests knows the test functions of packages, by their directories.
type tests map[string][]string

var testRE = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// of returns the names of the test functions of a package.
func (k tests) of(t *testing.T, dir string) []string {
	t.Helper()
	names, known := k[dir]
	if known {
		return names
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testRE.FindAllStringSubmatch(string(b), -1) {
			names = append(names, m[1])
		}
	}
	k[dir] = names
	return names
}

// TestList: each entry of the list matches the code, also those that are not tried
// here, and the code has the tests that it names.
func TestList(t *testing.T) {
	all := listed(t)
	if len(all) < 150 {
		t.Errorf("%d guards", len(all))
	}
	known := tests{}
	guards := map[string]bool{}
	for _, m := range all {
		if _, err := m.changed(); err != nil {
			t.Errorf("line %d: %v", m.line, err)
		}
		for _, e := range m.edits {
			script := strings.HasPrefix(e.file, "internal/") && filepath.Ext(e.file) == ".sh" // part of the program
			if !script && filepath.Ext(e.file) != ".go" || strings.HasSuffix(e.file, "_test.go") {
				t.Errorf("line %d: %s is not code", m.line, e.file)
			}
		}
		for _, name := range m.tests() {
			if !slices.Contains(known.of(t, m.pkg), name) {
				t.Errorf("line %d: %s has no test %s", m.line, m.pkg, name)
			}
		}
		if m.guard != "" && guards[m.guard] {
			t.Errorf("line %d: there are two guards %q", m.line, m.guard)
		}
		guards[m.guard] = true
	}
}

// TestEachAttack: each test with Hostile in its name, and each one that docs/security.md
// names, notices a guard of the list, or is listed with the reason why there is none.
func TestEachAttack(t *testing.T) {
	named := map[string]bool{} // "./package Test"
	for _, m := range listed(t) {
		for _, name := range m.tests() {
			named[m.pkg+" "+name] = true
		}
	}
	known := tests{}
	hostile := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		}
		for _, name := range known.of(t, path) {
			if !strings.Contains(name, "Hostile") {
				continue
			}
			if hostile++; !named["./"+path+" "+name] {
				t.Errorf("no guard of bench/mutants/list.txt is noticed by %s of %s: add one, or say why there is none", name, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, n := range namedIn(string(text)) {
		rows++
		if !slices.Contains(known.of(t, n.dir), n.test) {
			t.Errorf("docs/security.md:%d: %s has no test %s", n.line, n.dir, n.test)
		} else if !named["./"+n.dir+" "+n.test] {
			t.Errorf("docs/security.md:%d: no guard of bench/mutants/list.txt is noticed by %s of %s", n.line, n.test, n.dir)
		}
	}
	if hostile < 50 || rows < 50 {
		t.Errorf("%d tests have Hostile in their names, and docs/security.md names %d", hostile, rows)
	}
}

// A naming is a test that a page names.
type naming struct {
	line      int
	dir, test string
}

// namedIn returns the tests that a page names, in tables and in its text: behind their
// package, which is in backticks.
func namedIn(page string) (out []naming) {
	dir := ""
	for i, line := range strings.Split(page, "\n") {
		for _, m := range regexp.MustCompile("`([^`]*)`|\\b(Test\\w+)").FindAllStringSubmatch(line, -1) {
			if m[2] == "" {
				dir = m[1]
				continue
			}
			out = append(out, naming{i + 1, dir, m[2]})
		}
	}
	return out
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
	const head = "guard: x\nfile: internal/core/printable/printable.go\n"
	for name, tt := range map[string]struct{ list, want string }{
		"harmless":     {head + "old: // safe for concurrent use.\nnew: // safe.\ntest: ./internal/core/printable TestHostileText", "the test passes without the guard"},
		"broken":       {head + "old: case unicode.IsControl(r), \nnew: case nothing, \ntest: ./internal/core/printable TestHostileText", "it does not compile"},
		"gone":         {head + "old: no such text\nnew: x\ntest: ./internal/core/printable TestHostileText", "no longer matches the code"},
		"twice":        {head + "old: return\nnew: panic\ntest: ./internal/core/printable TestHostileText", "no longer matches the code"},
		"no test":      {head + "old: // safe for concurrent use.\nnew: // safe.\ntest: ./internal/core/printable TestNone", "has no test TestNone"},
		"no key":       {"guard x", "not KEY: VALUE"},
		"half":         {"guard: x", "a guard has"},
		"nothing":      {"", "the list is empty"},
		"no change":    {head + "old: x\nnew: x\ntest: ./internal/core/printable TestHostileText", "a guard has"},
		"new first":    {"guard: x\nnew: x", "new before old"},
		"attack":       {"attack: ./internal/core/printable TestHostileText", "a guard has"},
		"another part": {head + "old: case unicode.IsControl(r), \nnew: case \ntest: ./internal/core/printable TestHostileText/none", "another part of the test fails"},
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
