package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/absent"
	"brine/internal/core/saltnames"
)

// TestUpToDate: what is generated in docs is what the rows and data files make.
func TestUpToDate(t *testing.T) {
	t.Parallel()
	const docs, hint = "../../docs", "run go generate ./cmd/reference"
	files, err := generate(docs)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, name))
		switch {
		case err != nil:
			t.Errorf("%v: %s", err, hint)
		case string(got) != want:
			t.Errorf("docs/%s is not up to date: %s", name, hint)
		}
	}
	err = filepath.WalkDir(filepath.Join(docs, "reference"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(docs, path)
		if _, ok := files[filepath.ToSlash(name)]; err == nil && !ok {
			t.Errorf("docs/%s is generated no longer: %s", name, hint)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWrite writes the files into an empty directory twice; a file that is
// generated no longer goes.
func TestWrite(t *testing.T) {
	t.Parallel()
	docs := t.TempDir()
	states := "# Salt\n\n<!-- begin state functions: made -->\nold\n<!-- end state functions -->\nthe end\n"
	functions := "<!-- begin execution functions -->\n<!-- end execution functions -->\nthe end\n"
	if err := os.Mkdir(filepath.Join(docs, "compatibility"), 0o755); err != nil {
		t.Fatal(err)
	}
	rules := "<!-- begin rules -->\n<!-- end rules -->\n"
	var kinds strings.Builder
	for _, kind := range absent.Kinds() {
		fmt.Fprintf(&kinds, "<!-- begin %[1]s -->\n<!-- end %[1]s -->\n", kind)
	}
	for name, text := range map[string]string{
		"compatibility/states.md": states, "compatibility/functions.md": functions,
		"compatibility/runners.md": "<!-- begin runner functions -->\n<!-- end runner functions -->\n<!-- begin wheel functions -->\n<!-- end wheel functions -->\n",
		"compatibility/modules.md": kinds.String(), "lint.md": rules, "configuration.md": "<!-- begin options -->\n<!-- end options -->\n",
	} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(docs, "reference/states/old.md")
	for range 2 {
		if err := os.MkdirAll(filepath.Dir(old), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(old, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := write(docs); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("a page that is generated no longer is still there")
	}
	if _, err := os.Stat(filepath.Join(docs, "reference/modules/pkg.md")); err != nil {
		t.Error(err)
	}
	text := ""
	for _, name := range []string{"states", "functions"} {
		page, err := os.ReadFile(filepath.Join(docs, "compatibility", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		text += string(page)
	}
	for _, want := range []string{
		"# Salt\n\n<!-- begin state functions: made -->\nSalt 3006 has", "[`file.managed`](../reference/states/file.md#managed)", "<!-- end state functions -->\nthe end\n",
		"(../reference/modules/ssh.md)", "<!-- end execution functions -->\nthe end\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the pages lack %q", want)
		}
	}
	if strings.Contains(text, "](reference/") {
		t.Error("a link leads into the directory of the page")
	}
	if strings.Contains(text, "old\n") {
		t.Error("the old table is still there")
	}
}

func TestInsert(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", "<!-- begin x -->\n", "<!-- end x -->"} {
		if got, err := insert(page, "x", "text\n"); err == nil {
			t.Errorf("insert(%q) = %q, want an error", page, got)
		}
	}
}

// TestEveryName: the tables name each module and function of Salt that is recorded, with
// what brine makes of it.
func TestEveryName(t *testing.T) {
	t.Parallel()
	text := func(page string) string {
		b, err := os.ReadFile(filepath.Join("../../docs/compatibility", page))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	part := func(page, name string) string {
		_, rest, _ := strings.Cut(text(page), "<!-- begin "+name)
		body, _, ok := strings.Cut(rest, "<!-- end "+name+" -->")
		if !ok {
			t.Fatalf("%s has no part %q", page, name)
		}
		return body
	}
	for _, kind := range absent.Kinds() {
		body := part("modules.md", kind)
		if len(absent.Names(kind)) == 0 {
			t.Errorf("no names of %s are recorded", kind)
		}
		for _, name := range absent.Names(kind) {
			_, row, ok := strings.Cut(body, "| `"+name+"` | ")
			row, _, _ = strings.Cut(row, "\n")
			status, note, _ := strings.Cut(strings.TrimSuffix(row, " |"), " | ")
			if !ok || status != "works" && (status != "differs" && status != "not there" || note == "") {
				t.Errorf("%s %s: the row is %q", kind, name, row)
			}
		}
	}
	for kind, in := range map[string][2]string{
		"state": {"states.md", "state functions"}, "execution": {"functions.md", "execution functions"},
		"runner": {"runners.md", "runner functions"}, "wheel": {"runners.md", "wheel functions"},
	} {
		body := part(in[0], in[1])
		for _, mod := range saltnames.ModulesOf(kind) {
			if !strings.Contains(body, "[`"+mod+".") && !strings.Contains(body, "`"+mod+".") && !strings.Contains(body, "["+mod+"](") &&
				!strings.Contains(body, "| "+mod+" |") && !strings.Contains(strings.ReplaceAll(body, "\n", " "), " "+mod+" (") {
				t.Errorf("%s %s: no row", kind, mod)
			}
		}
	}
}
