package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFlaky: what passes only when it is run again is named in the last lines, and
// in the file for the end of the whole run; what fails for good is not flaky.
func TestFlaky(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool, file := filepath.Join(dir, "gotestsum"), filepath.Join(dir, "flaky")
	for _, tt := range []struct{ report, want string }{
		{"", ""},
		{"brine/x.TestBad: 3 runs, 3 failures", ""},
		{
			"brine/x.TestBad: 3 runs, 3 failures\nbrine/x.TestA/sub: 2 runs, 1 failures\nbrine/y.TestB: 3 runs, 2 failures",
			"FLAKY: passed only when run again:\n  brine/x.TestA/sub (failed 1 of 2 times)\n  brine/y.TestB (failed 2 of 3 times)\n",
		},
	} {
		script := "#!/bin/sh\n[ $1 = --version ] && exit 0\nwhile [ $1 != --rerun-fails-report ]; do shift; done\ncat >$2 <<'END'\n" + tt.report + "\nEND\necho DONE\nexit 3\n"
		if err := os.WriteFile(tool, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(file)
		c := exec.Command("sh", ".ci/gotest", "./x")
		c.Env = append(os.Environ(), "GOTESTSUM="+tool, "FLAKY_FILE="+file)
		out, err := c.CombinedOutput()
		if c.ProcessState.ExitCode() != 3 {
			t.Errorf("%v: the status is not that of the tests: %s", err, out)
		}
		want := "DONE\n"
		if tt.want != "" {
			want += "\n" + tt.want
		}
		kept, _ := os.ReadFile(file)
		if string(out) != want || string(kept) != tt.want {
			t.Errorf("printed %q, want %q; the file has %q", out, want, kept)
		}
		if strings.Contains(string(out), "TestBad (") {
			t.Errorf("what failed for good is called flaky: %s", out)
		}
	}
}
