package pongo2

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestCopy: the files are those of pongo2 v6.0.0, but for the patches that README.md lists.
// testdata/v6.0.0.sum has the SHA-256 of each file in the module ("-": it is not there) and
// the one here ("same": it is unchanged).
func TestCopy(t *testing.T) {
	t.Parallel()
	sums, err := os.ReadFile("testdata/v6.0.0.sum")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	unchanged := 0
	for line := range strings.Lines(string(sums)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			t.Fatalf("%q has not three words", line)
		}
		name, want := f[0], f[2]
		listed = append(listed, name)
		if want == "same" {
			want = f[1]
			unchanged++
		} else if !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("%s differs from the module, and README.md does not list its patch", name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%v: the module has it", err)
			continue
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not as testdata/v6.0.0.sum has it: list the patch in README.md, and the new sum there", name)
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := f.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !slices.Contains(listed, name) {
			t.Errorf("%s is not in testdata/v6.0.0.sum", name)
		}
	}
	if unchanged < 25 {
		t.Errorf("%d files are unchanged", unchanged)
	}
}
