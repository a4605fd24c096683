package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd"
	"brine/cmd/internal/topics"
)

// TestPages: each command has a page, and that of brine has the topics.
func TestPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range cmd.Commands().Commands() {
		file := filepath.Join(dir, "man", "brine-"+c.Name()+".1")
		if _, err := os.Stat(file); err != nil && c.IsAvailableCommand() && c.Name() != "help" {
			t.Error(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "man", "brine.1"))
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, topic := range topics.All() {
		n := strings.Index(string(page), "\n.SH "+topic.Section+"\n")
		if n <= at {
			t.Errorf("brine(1) does not have %s, or not in its place", topic.Section)
		}
		at = n
		for _, part := range topic.Parts {
			for _, row := range part.Rows {
				if name := "\\fB" + strings.ReplaceAll(row.Name, "-", "\\-"); !strings.Contains(string(page), name) {
					t.Errorf("brine(1) does not have %s", row.Name)
				}
			}
		}
	}
	if last := strings.Index(string(page), "\n.SH SEE ALSO\n"); last < at {
		t.Error("SEE ALSO is not the last section of brine(1)")
	}
}
