package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/internal/core/version"
	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// installed copies this program to a directory, where it can be upgraded, and returns its
// path.
func installed(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "brine")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// upgrade puts another version in the place of a program, as a package does: what runs goes
// on with the file that it was started from.
func upgrade(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '9'
		}
		return r
	}, version.Number())
	stamp := strings.Replace(version.Stamp(), version.Number(), newer, 1)
	if err := os.WriteFile(path+".new", bytes.ReplaceAll(text, []byte(version.Stamp()), []byte(stamp)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// fifo makes a named pipe, which is open for the rest of the test.
func fifo(t *testing.T, path string) *os.File {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestUpgradedUnderWay has a run go on with the version that it began with, also on hosts
// that have no agent yet, when brine is upgraded while it runs.
func TestUpgradedUnderWay(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(1, "ctl: {connection: local}")
	s.write("salt/orch.sls", `
first:
  salt.function:
    - name: cmd.run
    - tgt: ctl
    - arg: ['touch `+s.path("begun")+`; read go < `+s.path("gate")+`']
second:
  salt.function:
    - name: test.version
    - tgt: web1
    - require: [{salt: first}]
`)
	gate := fifo(t, s.path("gate"))
	s.exe = installed(t, s.dir)
	ended := make(chan result)
	go func() { ended <- s.brine("orchestrate", "orch", "--out=json") }()
	wait(t, "the first step to begin", func() bool { _, err := os.Stat(s.path("begun")); return err == nil })
	upgrade(t, s.exe)
	fmt.Fprintln(gate)
	s.want(<-ended, 0, `"web1"`)
	// The next run has the version that there is now.
	s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
	if names, err := filepath.Glob(filepath.Join(s.sshd.Home, ".cache/brine/agent/brine-*")); err != nil || len(names) != 2 {
		t.Errorf("the agents of two versions are %v, %v", names, err)
	}
}
