//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// The controller of a case over SSH, in its machine.
const (
	caseCtl  = caseDir + "/ctl"
	casePort = "2222"
)

// sshWay is a brine on a controller that logs in as an account of the machine.
// The controller is in the machine, too, and the paths of the recordings are the
// same for both. postgres is the ordinary account of the image that has a shell:
// a new one would be seen by the cases of users.
func sshWay(user string) *machineWay {
	return &machineWay{
		enter: func(t *testing.T, c *machineCase, m *machine.Machine) { c.enterSSH(t, m, user) },
		program: []string{
			"env", "HOME=" + caseCtl, "XDG_RUNTIME_DIR=" + caseCtl,
			"/usr/local/bin/brine", "ssh", "-c", caseCtl, "--host-keys=off", "--no-progress", "minion1",
		},
		key: "minion1",
	}
}

// enterSSH starts an sshd of its own in the machine, so that cases may do what
// they like to the machine's, and writes the controller's configuration.
func (c *machineCase) enterSSH(t *testing.T, m *machine.Machine, user string) {
	t.Helper()
	sudo := ""
	if user != "root" {
		sudo = "sudo: true"
	}
	minion, err := os.ReadFile(filepath.Join(c.dir, "tree/etc/minion"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	opts := "cachedir: " + caseDir + "/cache\nroot_dir: " + caseDir + "/root\nenable_gpu_grains: false\nenable_fqdns_grains: false\n" + filled.Replace(string(minion))
	for name, text := range map[string]string{
		"sshd_config": "Port " + casePort + "\nListenAddress 127.0.0.1\nHostKey " + caseCtl + "/host\nAuthorizedKeysFile " + caseCtl + "/user.pub\n" +
			"PasswordAuthentication no\nUsePAM yes\nPidFile none\nPermitRootLogin yes\nSubsystem sftp internal-sftp\n",
		"master": "file_roots: {base: [" + caseTree + "/salt]}\npillar_roots: {base: [" + caseTree + "/pillar]}\ncachedir: " + caseCtl + "/cache\ntimeout: 60\n",
		"roster": "minion1:\n  host: 127.0.0.1\n  port: " + casePort + "\n  user: " + user + "\n  priv: " + caseCtl + "/user\n  thin_dir: " + caseDir + "/agent\n  " + sudo +
			"\n  minion_opts:\n    " + strings.ReplaceAll(strings.TrimSpace(opts), "\n", "\n    ") + "\n",
		"sudoers": user + " ALL=(ALL) NOPASSWD: ALL\n",
	} {
		path := filepath.Join(m.Root, caseCtl, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user",
		"test " + user + " = root || install -m 440 sudoers /etc/sudoers.d/case",
		"mkdir -p /run/sshd && /usr/sbin/sshd -f " + caseCtl + "/sshd_config -E " + caseCtl + "/sshd.log",
		"bash -c 'for i in {1..300}; do : 2>/dev/null </dev/tcp/127.0.0.1/" + casePort + " && exit; sleep 0.1; done; exit 1'",
	} {
		if r := m.Shell(caseCtl, line); r.Exit != 0 {
			t.Fatalf("%s: exit status %d: %s%s", line, r.Exit, r.Stdout, r.Stderr)
		}
	}
}

// sshSample has the cases that are replayed over SSH where no others were asked
// for: one of each way to log in and to change a machine.
var sshSample = []string{
	"m-cron-present", "m-pkg-installed-basic", "m-service-watch", "m-user-basic", // by sudo
	"m-host-states", "m-pkgrepo-line", "m-ssh-auth", // as root
}

// sudoAreas are those of which cases log in as an ordinary account.
var sudoAreas = []string{"cron", "pkg", "service", "user"}

// TestMachinesSSH replays recordings over SSH: a sample, or those that match the
// glob BRINE_MACHINE_CASES. What differs there and not in TestMachines is named in
// testdata/machines-ssh-open.txt.
func TestMachinesSSH(t *testing.T) {
	image := machine.Image(t)
	t.Parallel()
	brine := staticBrine(t)
	open := readOpenSteps(t, machineOpen, machineSSHOpen)
	t.Run("case", func(t *testing.T) {
		for _, dir := range chosenCases(t, sshSample) {
			t.Run(filepath.Base(dir), func(t *testing.T) {
				turn.Skip(t)
				t.Parallel()
				c := readMachineCase(t, dir)
				user := "root"
				if slices.Contains(sudoAreas, c.area) {
					user = "postgres"
				}
				c.replay(t, machine.Boot(t, image), sshWay(user), brine, open)
			})
		}
	})
}
