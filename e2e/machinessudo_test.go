//go:build linux

package e2e

import (
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/machine"
)

// sudoHost makes an account that logs in by a key, and may become root by sudo.
const sudoHost = `set -e
useradd -m -s /bin/bash deploy
echo 'deploy ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/deploy
mkdir -p /root/.ssh /home/deploy/.ssh
ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
cp /root/.ssh/id_ed25519.pub /home/deploy/.ssh/authorized_keys
chown -R deploy:deploy /home/deploy/.ssh
ls /etc/ssh/ssh_host_ed25519_key.pub >/dev/null 2>&1 || ssh-keygen -A >/dev/null
systemctl restart ssh
echo "127.0.0.1 $(cat /etc/ssh/ssh_host_ed25519_key.pub)" >/root/.ssh/known_hosts
`

// TestTrialGivenSudo: a given host is reached with a real sshd, as an account that becomes root
// by sudo; what is wrong with the account is said.
func TestTrialGivenSudo(t *testing.T) {
	image := machine.Image(t)
	t.Parallel()
	m := machine.Boot(t, image)
	m.Install(t, "/usr/local/bin/brine", staticBrine(t))
	if r := m.Shell("/", sudoHost); r.Exit != 0 {
		t.Fatalf("set up the host: %s%s", r.Stdout, r.Stderr)
	}
	m.Write(t, "/srv/tree/app.sls", "/etc/app.conf:\n  file.managed:\n    - contents: x\n    - mode: '0600'\n", 0o644)
	m.Write(t, "/srv/tree/tests/a.yml", "systems: [debian-12]\ndriver: ssh\nhosts: {debian-12: {target: given, may_be_changed: true, reset: false}}\n"+
		"cases: {a: {sls: app, expect: {files: {/etc/app.conf: {mode: '0600', user: root}}, script: 'test \"$(id -u)\" = 0'}}}\n", 0o644)
	run := func(status int, roster string, want ...string) {
		t.Helper()
		m.Write(t, "/srv/tree/roster", roster, 0o644)
		r := m.Run(2*time.Minute, "/srv/tree", "brine", "test")
		if r.Exit != status {
			t.Errorf("%s: status %d, want %d\n%s%s", roster, r.Exit, status, r.Stdout, r.Stderr)
		}
		for _, w := range want {
			if !strings.Contains(r.Stdout+r.Stderr, w) {
				t.Errorf("%s: no %q in\n%s%s", roster, w, r.Stdout, r.Stderr)
			}
		}
		if r := m.Shell("/", "ls -A /.brine-test; pgrep -fl '[g]iven.sh'"); strings.TrimSpace(r.Stdout) != "" {
			t.Errorf("%s: a test is left on the host: %s", roster, r.Stdout)
		}
	}
	sudo := "given: {host: 127.0.0.1, user: deploy, sudo: True}\n"
	run(0, sudo, "machine: ssh: given, not fresh", "1 test: 1 passed, 0 failed; 1 test not on a fresh machine")
	run(1, "given: {host: 127.0.0.1, user: deploy}\n", "the account is not root: set user: root or sudo: True in the roster")
	if r := m.Shell("/", "echo 'deploy ALL=(ALL) ALL' >/etc/sudoers.d/deploy"); r.Exit != 0 {
		t.Fatal(r.Stderr)
	}
	run(1, sudo, "sudo", "password")
	run(1, "given: {host: 127.0.0.1, user: nobody-of-this-name}\n", "nobody-of-this-name")
}
