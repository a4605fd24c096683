package e2e

import (
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/version"
)

// TestPathsOfScripts: what the scripts, the Makefile and the workflows name of this
// tree is there. A script that writes into a directory that has moved fails where
// nobody looks before a release.
func TestPathsOfScripts(t *testing.T) {
	t.Parallel()
	scripts, err := exec.Command("git", "ls-files", ".ci", ".github", "bench", "Makefile", ".gitignore", ".golangci.yml", ".pre-commit-hooks.yaml").Output()
	if err != nil {
		t.Skipf("not a clone: %v", err)
	}
	tops := []string{"bench", "cmd", "docs", "e2e", "examples", "internal", "modules", "outputter", "runner", "sshexec", "states"}
	made := strings.Fields(read(t, ".gitignore"))
	exists := func(name string) bool { _, err := os.Stat(name); return err == nil }
	named := 0
	for script := range strings.FieldsSeq(string(scripts)) {
		if path.Ext(script) == ".go" {
			continue // the compiler and the tests of generators look there
		}
		for token := range strings.FieldsFuncSeq(read(t, script), func(r rune) bool {
			return !strings.ContainsRune("_.@$/-", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			name := strings.TrimPrefix(token, "$PWD")
			name = strings.TrimPrefix(strings.TrimPrefix(name, "."), "/")
			name = strings.TrimPrefix(name, version.Module+"/")
			name = strings.TrimRight(name, "./")
			if ext := path.Ext(name); len(ext) > 1 && ext[1] >= 'A' && ext[1] <= 'Z' {
				name = strings.TrimSuffix(name, ext) // a name in a package
			}
			top, _, inside := strings.Cut(name, "/")
			if !inside || !slices.Contains(tops, top) || strings.ContainsAny(name, "$@") {
				continue
			}
			named++
			ignored := slices.ContainsFunc(made, func(m string) bool { return strings.Trim(m, "/") == name })
			if !exists(name) && (!ignored || !exists(path.Dir(name))) {
				t.Errorf("%s names %s, which is not there", script, token)
			}
		}
	}
	if named < 50 {
		t.Errorf("%d paths are named: does this test still read the scripts?", named)
	}
}
