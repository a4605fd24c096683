package memtree

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"brine/internal/py/value"
)

// Recorded returns the SLS files of a recording, whose folder dir is. One that
// has none gives an empty tree.
func Recorded(tb testing.TB, dir string) Tree {
	tb.Helper()
	tree := Tree{}
	root := filepath.Join(dir, "tree", "salt")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		tree[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	return tree
}

// Answer returns what salt-call answered in a recording: what is at "local" of
// its file of that name.
func Answer(tb testing.TB, dir, file string) any {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		tb.Fatal(err)
	}
	var doc struct{ Local any }
	if err := json.Unmarshal(text, &doc); err != nil {
		tb.Fatal(err)
	}
	return doc.Local
}

// JSON returns v in the form of an Answer.
func JSON(tb testing.TB, v value.Value) any {
	tb.Helper()
	var out any
	if err := json.Unmarshal(value.EncodeJSON(v), &out); err != nil {
		tb.Fatal(err)
	}
	return out
}
