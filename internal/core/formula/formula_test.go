package formula

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/core/gitfs"
)

func TestSplitURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, url, ref, name string }{
		{"https://h/x/nginx-formula.git@v1", "https://h/x/nginx-formula.git", "v1", "nginx-formula"},
		{"https://u@h/nginx", "https://u@h/nginx", "", "nginx"},
		{"git@h:x.git", "git@h:x.git", "", "x"},
		{"git@h:x.git@v1.2", "git@h:x.git", "v1.2", "x"},
		{"git@h:a/x@9fceb02", "git@h:a/x", "9fceb02", "x"},
		{"", "", "", "."},
	} {
		url, ref := SplitURL(tt.in)
		if url != tt.url || ref != tt.ref || NameOf(url) != tt.name {
			t.Errorf("%s: %q, %q, %q", tt.in, url, ref, NameOf(url))
		}
	}
}

func TestManifestErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ manifest, lock, want string }{
		{"formulas: [x]", "", "formulas.yaml:1:1: formulas must be a mapping, not a list"},
		{"formulae: {}", "", `unknown key "formulae"; there is formulas`},
		{"- x", "", "must be a mapping with the key formulas"},
		{"formulas: {x: 1}", "", `formula "x" must be a name with the keys`},
		{"formulas: {../x: {url: a, ref: b}}", "", `formula "../x" must be a name`},
		{"formulas: {x: {url: 'https://h/x', reff: v1}}", "", `unknown key "reff" (did you mean "ref"?)`},
		{"formulas: {x: {url: 'https://h/x', ref: 1.10}}", "", "ref must be a string: write it in quotes"},
		{"formulas: {x: {url: 'https://h/x'}}", "", "formula x needs url and ref"},
		{"formulas: {x: {url: 'x', ref: a}}", "", "not a URL"},
		{"formulas: {x: {url: 'https://h/x', ref: a, root: ../..}}", "", "leads out of the tree"},
		{"formulas: {x: {url: 'https://h/x', ref: a}}", "formulas: {x: {url: 'https://h/x', ref: a}}", "formula x needs commit and hash"},
		{"formulas: {x: {url: 'https://h/x', ref: a}}", "", "x is not in formulas.lock"},
		{"{", "", "formulas.yaml"},
	} {
		dir := t.TempDir()
		tree := &Tree{Dir: dir, Store: &gitfs.Store{Dir: t.TempDir(), Now: time.Now}}
		if tree.Has() {
			t.Error("an empty directory has formulas")
		}
		for name, text := range map[string]string{ManifestName: tt.manifest, LockName: tt.lock} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := tree.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %s: %v, want %s", tt.manifest, tt.lock, err, tt.want)
		}
		if _, _, err := tree.Backend().Dirs(t.Context(), "base"); err == nil {
			t.Errorf("%s, %s: a run begins", tt.manifest, tt.lock)
		}
	}
}
