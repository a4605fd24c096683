//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// An orchestration installs a package on three machines, reboots them, waits
// until they are back and goes on: with systemd, sshd and packages as they are.
func TestMachinesReboot(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	brine := staticBrine(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/seeds/realreboot")); err != nil {
		t.Fatal(err)
	}
	f := bootFleet(t, image, dir, 3)
	c := f.command(brine, "orchestrate", "upgrade", `pillar={"targets": ["box1", "box2", "box3"]}`, "--out=json")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var doc struct{ Data map[string]map[string]step }
	if jsonErr := json.Unmarshal(out.Bytes(), &doc); jsonErr != nil || err != nil {
		t.Fatalf("%v, %v: %s\n%s", err, jsonErr, &out, &errs)
	}
	if len(doc.Data["ctl"]) != 4 {
		t.Errorf("%d steps: %s", len(doc.Data["ctl"]), &out)
	}
	for tag, s := range doc.Data["ctl"] {
		if !s.ok() {
			t.Errorf("%s: %s", tag, s.Comment)
		}
		if strings.Contains(tag, "|-back_|-") && strings.Contains(s.Comment, "No reboot") {
			t.Errorf("%s: %s", tag, s.Comment)
		}
	}
	for i, m := range f.machines {
		r := m.Shell("/", "cat /root/after-the-reboot; systemctl is-active brine-svc; ls /run/before-the-reboot")
		if r.Stdout != "1.0\nactive\n" {
			t.Errorf("box%d: %s%s", i+1, r.Stdout, r.Stderr)
		}
	}
}

// A machineFleet is several machines, box1 and so on, and the configuration of a
// controller that reaches them over SSH.
type machineFleet struct {
	dir      string // configuration
	machines []*machine.Machine
	network  *machine.Network
}

// bootFleet boots n machines. The tree of the controller is dir/salt.
func bootFleet(t *testing.T, image, dir string, n int) *machineFleet {
	t.Helper()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := &machineFleet{dir: dir, machines: make([]*machine.Machine, n)}
	for i := range f.machines {
		f.machines[i] = machine.Boot(t, image)
	}
	key := f.machines[0].Shell("/root", "ssh-keygen -q -t ed25519 -N '' -f key && cat key")
	public := f.machines[0].Shell("/root", "cat key.pub")
	if key.Exit != 0 || public.Exit != 0 {
		t.Fatal(key.Stderr, public.Stderr)
	}
	write(filepath.Join(dir, "key"), key.Stdout)
	write(filepath.Join(dir, "master"), fmt.Sprintf("id: ctl\nfile_roots: {base: [%[1]s/salt]}\ncachedir: %[1]s/cache\n", dir))
	f.network = machine.Connect(t, f.machines...)
	var roster, known strings.Builder
	for i, m := range f.machines {
		write(filepath.Join(m.Root, "root/.ssh/authorized_keys"), public.Stdout)
		fmt.Fprintf(&roster, "box%d: {host: %s, priv: %s/key}\n", i+1, f.network.Addrs[i], dir)
		host := m.Shell("/", "cat /etc/ssh/ssh_host_ed25519_key.pub")
		fmt.Fprintf(&known, "%s %s", f.network.Addrs[i], host.Stdout)
	}
	write(filepath.Join(dir, "roster"), roster.String())
	write(filepath.Join(dir, "home/.ssh/known_hosts"), known.String())
	return f
}

// command is brine on the controller of the fleet.
func (f *machineFleet) command(brine string, args ...string) *exec.Cmd {
	c := f.network.Command(append(append([]string{brine}, args...), "-c", f.dir)...)
	c.Env = append(os.Environ(), "HOME="+f.dir+"/home", "XDG_CACHE_HOME="+f.dir+"/xdg", "XDG_RUNTIME_DIR="+f.dir+"/cache", "SSH_AUTH_SOCK=")
	return c
}
