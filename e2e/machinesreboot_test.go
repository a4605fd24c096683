//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/testkit/machine"
)

// An orchestration installs a package on three machines, reboots them, waits
// until they are back and goes on: with systemd, sshd and packages as they are.
func TestMachinesReboot(t *testing.T) {
	image := machine.Image(t)
	brine := staticBrine(t)
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/seeds/realreboot")); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	machines := make([]*machine.Machine, 3)
	for i := range machines {
		machines[i] = machine.Boot(t, image)
	}
	key := machines[0].Shell("/root", "ssh-keygen -q -t ed25519 -N '' -f key && cat key")
	public := machines[0].Shell("/root", "cat key.pub")
	if key.Exit != 0 || public.Exit != 0 {
		t.Fatal(key.Stderr, public.Stderr)
	}
	write(filepath.Join(dir, "key"), key.Stdout)
	write(filepath.Join(dir, "master"), fmt.Sprintf("id: ctl\nfile_roots: {base: [%[1]s/salt]}\ncachedir: %[1]s/cache\n", dir))
	network := machine.Connect(t, machines...)
	var roster, known strings.Builder
	for i, m := range machines {
		write(filepath.Join(m.Root, "root/.ssh/authorized_keys"), public.Stdout)
		fmt.Fprintf(&roster, "box%d: {host: %s, priv: %s/key}\n", i+1, network.Addrs[i], dir)
		host := m.Shell("/", "cat /etc/ssh/ssh_host_ed25519_key.pub")
		fmt.Fprintf(&known, "%s %s", network.Addrs[i], host.Stdout)
	}
	write(filepath.Join(dir, "roster"), roster.String())
	write(filepath.Join(dir, "home/.ssh/known_hosts"), known.String())

	c := network.Command(brine, "orchestrate", "-c", dir, "upgrade", `pillar={"targets": ["box1", "box2", "box3"]}`, "--out=json")
	c.Env = append(os.Environ(), "HOME="+dir+"/home", "XDG_CACHE_HOME="+dir+"/xdg", "XDG_RUNTIME_DIR="+dir+"/cache", "SSH_AUTH_SOCK=")
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
	for i, m := range machines {
		r := m.Shell("/", "cat /root/after-the-reboot; systemctl is-active brine-svc; ls /run/before-the-reboot")
		if r.Stdout != "1.0\nactive\n" {
			t.Errorf("box%d: %s%s", i+1, r.Stdout, r.Stderr)
		}
	}
}
