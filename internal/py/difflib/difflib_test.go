package difflib

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestString(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, a, b, want string }{
		{"equal", "a\n", "a\n", ""},
		{"both empty", "", "", ""},
		{"from nothing", "", "a\nb\n", "--- \n+++ \n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"to nothing", "a\n", "", "--- \n+++ \n@@ -1 +0,0 @@\n-a\n"},
		{"no newline at the end", "x\n", "x\ny", "--- \n+++ \n@@ -1 +1,2 @@\n x\n+y"},
		{
			"two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n2\n3\n4\n5\n6\n7\n8\n0\n",
			"--- \n+++ \n@@ -1,4 +1,4 @@\n-1\n+0\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+0\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, String(SplitLines(tt.a), SplitLines(tt.b), "", "")); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestPython compares with diffs that Python's difflib made of random files,
// some of them long enough for autojunk.
func TestPython(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/python.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ A, B, D string }
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if d := cmp.Diff(c.D, String(SplitLines(c.A), SplitLines(c.B), "", "")); d != "" {
			t.Errorf("case %d: %s", i, d)
		}
	}
}

func TestUnifiedNames(t *testing.T) {
	t.Parallel()
	got := strings.Join(Unified([]string{"a"}, []string{"b"}, "/x", "/y", "\n"), "|")
	if want := "--- /x\n|+++ /y\n|@@ -1 +1 @@\n|-a|+b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
