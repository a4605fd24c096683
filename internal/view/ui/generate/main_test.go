package main

import (
	"bytes"
	"os"
	"testing"
)

// TestGenerated compares the Go files of the templates with what is generated.
func TestGenerated(t *testing.T) {
	t.Parallel()
	files, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no templates")
	}
	for path, want := range files {
		if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
			t.Errorf("%s is not what its template generates: run go generate ./internal/view/ui", path)
		}
	}
}
