//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// debRepository makes a repository of empty packages, NAME VERSION a line, the
// only one of a machine.
const debRepository = `set -e
mkdir -p /srv/own && cd /srv/own
while read -r name version; do
	mkdir -p "$name/DEBIAN"
	printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: test <test@localhost>\nDescription: a package of this test\n' "$name" "$version" > "$name/DEBIAN/control"
	dpkg-deb --root-owner-group -b "$name" "$name.deb" > /dev/null
	{ cat "$name/DEBIAN/control"; printf 'Filename: ./%s.deb\nSize: %s\nSHA256: %s\n\n' "$name" "$(stat -c %s "$name.deb")" "$(sha256sum < "$name.deb" | cut -d ' ' -f 1)"; } >> Packages
done
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d
echo 'deb [trusted=yes] file:/srv/own ./' > /etc/apt/sources.list
apt-get -q update
touch /run/before-the-reboot
`

// The examples of the RFC run as they are written there, over machines that
// install packages and reboot.
func TestMachinesTemplate(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	brine := staticBrine(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/rfc")); err != nil {
		t.Fatal(err)
	}
	f := bootFleet(t, image, dir, 2)
	for _, m := range f.machines {
		r := m.Shell("/", "cat > /root/repository <<'EOF'\n"+debRepository+"EOF\nprintf 'salt 3006\\nsalt-minion 3006\\nkernel-default 4.4.21-90.1\\n' | sh /root/repository")
		if r.Exit != 0 {
			t.Fatal(r.Stdout, r.Stderr)
		}
	}
	run := func(args ...string) map[string]step {
		t.Helper()
		c := f.command(brine, append(args, "--out=json")...)
		var errs strings.Builder
		c.Stderr = &errs
		out, err := c.Output()
		var doc struct{ Data map[string]map[string]step }
		if jsonErr := json.Unmarshal(out, &doc); jsonErr != nil || err != nil {
			t.Fatalf("%v: %v, %v: %s\n%s", args, err, jsonErr, out, &errs)
		}
		for tag, s := range doc.Data["ctl"] {
			if !s.ok() {
				t.Errorf("%s: %s", tag, s.Comment)
			}
		}
		return doc.Data["ctl"]
	}

	// All targets are reached over SSH, so the steps for others have none.
	steps := run("template", "run", "update_salt", "--target", "target1=box*")
	none := 0
	for _, s := range steps {
		if s.Comment == "no targets" {
			none++
		}
	}
	if len(steps) != 4 || none != 3 {
		t.Errorf("%d steps, %d of them without targets, want 4 and 3", len(steps), none)
	}
	for i, m := range f.machines {
		if r := m.Shell("/", "dpkg-query -W -f '${Package} ${Version};' salt salt-minion"); r.Stdout != "salt 3006;salt-minion 3006;" {
			t.Errorf("box%d: %s%s", i+1, r.Stdout, r.Stderr)
		}
	}

	steps = run("orchestrate", "orch.chain", `pillar={"targets": {"entry_1": ["box1", "box2"], "entry_2": ["box1", "box2"], "entry_3": ["box1"]}}`)
	if len(steps) != 4 {
		t.Errorf("%d steps of the chain, want 4", len(steps))
	}
	for i, m := range f.machines {
		r := m.Shell("/", "dpkg-query -W -f '${Version} ' kernel-default; cat /srv/www/index.html 2>/dev/null; ls /run/before-the-reboot 2>/dev/null; true")
		if want := []string{"4.4.21-90.1 booted False\n", "4.4.21-90.1 "}[i]; r.Stdout != want {
			t.Errorf("box%d: %q, want %q (%s)", i+1, r.Stdout, want, r.Stderr)
		}
	}
}
