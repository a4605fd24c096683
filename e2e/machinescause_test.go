//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/testkit/turn"
)

// TestServiceCause: where a service does not start, every way to show it has its exit
// status and what it wrote to the journal; the comment stays Salt's.
func TestServiceCause(t *testing.T) {
	turn.Skip(t)
	m := machineWithBrine(t)
	t.Parallel()
	for name, text := range map[string]string{
		"etc/systemd/system/late.service": "[Service]\nExecStart=/bin/sh -c 'echo reading late.conf; echo port 80 is taken: deep-down-secret >&2; sleep 1; exit 3'\n",
		"etc/systemd/system/once.service": "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo disk is on fire >&2; exit 4'\n",
		"etc/systemd/system/pre.service":  "[Service]\nExecStartPre=/bin/sh -c 'echo no config >&2; exit 5'\nExecStart=/bin/sleep 9\n",
		"srv/salt/late.sls":               "late:\n  service.running:\n    - init_delay: 3\nonce: {service.running: []}\npre: {service.running: []}\n",
		"srv/pillar/top.sls":              "base: {'*': [secret]}\n",
		"srv/pillar/secret.sls":           "password: deep-down-secret\n",
		"etc/salt/minion":                 "id: web1\nfile_client: local\n",
	} {
		path := filepath.Join(m.Root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"late (service.running) failed: exit status 3: Service late failed to start: reading late.conf port 80 is taken: XXX-REDACTED-XXX\n",
		"once (service.running) failed: exit status 4: Job for once.service failed because the control process exited with error code: disk is on fire\n",
		"pre (service.running) failed: Job for pre.service failed because the control process exited with error code: no config\n",
	}
	terse := m.Shell("/root", "systemctl daemon-reload; brine call state.apply late --state-output=terse --report /root/r.xml,/root/r.md,/root/r.ndjson")
	if terse.Exit != 1 {
		t.Errorf("exit status %d\n%s%s", terse.Exit, terse.Stdout, terse.Stderr)
	}
	junit, markdown := read(t, filepath.Join(m.Root, "root/r.xml")), read(t, filepath.Join(m.Root, "root/r.md"))
	for _, w := range want {
		if !strings.Contains(terse.Stderr, w) {
			t.Errorf("the lines on stderr have no %q:\n%s", w, terse.Stderr)
		}
	}
	for _, w := range []string{"exit status 3", "port 80 is taken: XXX-REDACTED-XXX", "disk is on fire", "no config"} {
		for name, text := range map[string]string{"JUnit": junit, "Markdown": markdown} {
			if !strings.Contains(text, w) {
				t.Errorf("%s has no %q:\n%s", name, w, text)
			}
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(read(t, filepath.Join(m.Root, "root/r.ndjson"))), "\n") {
		var r struct {
			ID     string `json:"id"`
			Status int    `json:"exit_status"`
			Output string `json:"output"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if status := map[string]int{"late": 3, "once": 4}[r.ID]; r.Status != status || r.Output == "" {
			t.Errorf("NDJSON of %s: %s", r.ID, line)
		}
	}
	whole := m.Shell("/root", "brine call state.apply late --out=json; brine call state.apply late 2>&1")
	if !strings.Contains(whole.Stdout, `"comment": "Service late failed to start\nDelayed return for 3 seconds"`) {
		t.Errorf("Salt's comment differs:\n%s", whole.Stdout)
	}
	for name, text := range map[string]string{"JUnit": junit, "Markdown": markdown, "stderr": terse.Stderr, "JSON": whole.Stdout} {
		if strings.Contains(text, "deep-down") {
			t.Errorf("%s has the secret:\n%s", name, text)
		}
	}
}
