package e2e

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
)

// goStandIn is what .ci/module calls of Go, without its builds: the test reads the
// imports instead.
const goStandIn = `#!/bin/sh
case "$1 $2" in
"list -m") sed -n 's/^module //p' go.mod ;;
"mod edit") sed -i "s|^module .*|module $4|" go.mod ;;
esac
`

// TestModulePath gives a copy of the source another module path by .ci/module: no
// import, linter rule or constant keeps the old one.
func TestModulePath(t *testing.T) {
	t.Parallel()
	sshtest.Require(t, "git")
	const path = "code.example.org/a/brine"
	dir, bin := t.TempDir(), t.TempDir()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch ext := filepath.Ext(name); {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "dist"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, name), 0o755)
		case ext != ".go" && ext != ".templ" && name != "go.mod" && name != ".golangci.yml" && name != ".ci/module":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go": goStandIn, "gofmt": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, argv := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A"}, {"sh", ".ci/module", path}} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	changed := 0
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			switch p, _ := strconv.Unquote(spec.Path.Value); {
			case strings.HasPrefix(p, "brine/"):
				t.Errorf("%s: import %q keeps the old path", name, p)
			case strings.HasPrefix(p, path+"/"):
				changed++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if changed == 0 {
		t.Error("no import was changed")
	}
	for name, want := range map[string]string{
		"go.mod": "module " + path + "\n", "internal/core/version/version.go": `const Module = "` + path + `"`, ".golangci.yml": "{pkg: " + path + "/",
	} {
		if text := read(t, filepath.Join(dir, name)); !strings.Contains(text, want) || strings.Contains(text, "{pkg: brine/") {
			t.Errorf("%s keeps the old path: there is no %q", name, want)
		}
	}
}
