//go:build linux

package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
)

// TestStream: what programs print comes from real targets while they run, without secrets,
// all of it, and only where somebody listens.
func TestStream(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2)
	s.write("salt/build.sls", `build:
  cmd.run:
    - name: |
        echo begun; echo "word $WORD" >&2; exit 3
    - env: [{WORD: hunter-2222}]
hidden:
  cmd.run:
    - name: echo not-for-eyes
    - hide_output: true
`)
	s.write("salt/orch.sls", "all:\n  salt.state: [{tgt: 'web*'}, {sls: build}]\n")
	r := s.brine("orchestrate", "orch", "--out=stream", "--no-color")
	s.want(r, 1)
	stream, _, _ := strings.Cut(r.stdout, "_master:\n")
	for i := 1; i <= 2; i++ {
		for _, want := range []string{"> build (cmd.run)", "| begun", "! word XXX-REDACTED-XXX", "= exit status 3"} {
			if want = fmt.Sprintf("web%d %s\n", i, want); !strings.Contains(stream, want) {
				t.Errorf("no %q in %s", want, stream)
			}
		}
	}
	if strings.Contains(stream, "not-for-eyes") || strings.Contains(stream, "hunter") {
		t.Errorf("something hidden is shown: %s", stream)
	}
	if text := r.stdout[len(stream):]; !strings.Contains(text, "Failed:    1") {
		t.Errorf("the report is not behind the output: %s", r.stdout)
	}

	// All lines come, in their order, also where they are many.
	const lines = 200_000
	r = s.brine("ssh", "web1", "cmd.run", fmt.Sprintf("seq %d", lines), "hide_output=false", "--out=stream", "--out=quiet")
	s.want(r, 0)
	got := regexp.MustCompile(`(?m)^web1 \| (\d+)$`).FindAllStringSubmatch(r.stdout+r.stderr, -1)
	if len(got) != lines {
		t.Fatalf("%d lines of %d: %.300s", len(got), lines, r.stdout+r.stderr)
	}
	for i, m := range got {
		if m[1] != fmt.Sprint(i+1) {
			t.Fatalf("line %d is %s", i+1, m[1])
		}
	}
}
