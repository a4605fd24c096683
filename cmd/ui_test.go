package cmd

import (
	"os"
	"testing"

)

// TestUILeavesNothing has brine ui fail before it serves.
func TestUILeavesNothing(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	write(t, dir+"/master", "file_roots: [\n", 0o644)
	if status, _, errs := run(t, map[string]string{"HOME": dir, "PWD": dir}, "ui", "-c", dir); status != 1 {
		t.Errorf("exit status %d: %s", status, errs)
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
