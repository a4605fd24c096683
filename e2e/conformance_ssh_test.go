package e2e

import (
	"os"
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
)

// TestConformanceSSH runs the recordings of orchestrations once more, with
// targets behind a real sshd instead of local ones: data and text are the same.
// Those that differ with local targets stand in conformance-open.txt and are
// left out here.
func TestConformanceSSH(t *testing.T) {
	t.Parallel()
	sshd := sshtest.Start(t, sshtest.Options{Env: []string{"BRINE_TEST_RUN=1"}})
	open := readOpen(t)
	dirs, err := os.ReadDir(corpusDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("case", func(t *testing.T) {
		for _, d := range dirs {
			if !d.IsDir() || !strings.HasPrefix(d.Name(), "orch-") && !strings.HasPrefix(d.Name(), "salt-") || open[d.Name()] != "" {
				continue
			}
			rec := readRecording(t, d.Name())
			t.Run(rec.name, func(t *testing.T) {
				t.Parallel()
				if why := rec.lacks(); why != "" {
					t.Skip(why)
				}
				if faults := rec.run(t, sshd); len(faults) > 0 {
					t.Error(strings.Join(faults, "\n"))
				}
			})
		}
	})
	if !strings.Contains(sshd.Log(), "Accepted publickey") {
		t.Error("nobody logged in: the targets were local")
	}
}
