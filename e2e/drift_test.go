//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"brine/internal/testkit/turn"
)

// A drift is a change behind a plan, by which the plan no longer holds.
type drift struct {
	name  string // as docs/plan.md has it
	sls   string // the states; one more is always due
	setup string // what is done on the machine before the plan is made
	by    string // the drift
	says  string // what apply says of it
	ssh   bool   // the plan is one of targets
}

// commit makes a repository with one commit, or adds one to it.
const commit = "mkdir -p /d/repo && cd /d/repo && git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"

// drifts are all kinds of docs/plan.md.
var drifts = []drift{
	{"a package is upgraded by hand", "brine-a: {pkg.installed: [{version: '1.0'}, {refresh: false}]}", "", "apt-get install -y brine-a=2.0", "it (pkg.installed) would do something else", false},
	{"a package is removed", "brine-a: {pkg.installed: [{refresh: false}]}", "apt-get install -y brine-a", "apt-get remove -y brine-a", "it (pkg.installed) is due now", false},
	{"content of a file", "/d/f: {file.managed: [{contents: x}]}", "echo x > /d/f", "echo y > /d/f", "it (file.managed) is due now", false},
	{"mode of a file", "/d/f: {file.managed: [{contents: x}, {mode: '0644'}]}", "echo x > /d/f; chmod 644 /d/f", "chmod 600 /d/f", "it (file.managed) is due now", false},
	{"owner of a file", "/d/f: {file.managed: [{contents: x}, {user: root}]}", "echo x > /d/f", "chown daemon /d/f", "it (file.managed) is due now", false},
	{"a file is removed", "/d/f: {file.managed: [{contents: x}]}", "echo x > /d/f", "rm /d/f", "it (file.managed) is due now", false},
	{"a file that an edit is for", "/d/f: {file.append: [{text: more}]}", "echo x > /d/f", "echo y > /d/f", "it (file.append) would do something else", false},
	{"a directory becomes a link", "/d/dir: {file.directory: []}", "mkdir /d/dir /d/other", "rmdir /d/dir; ln -s other /d/dir", "answers differently", false},
	{"a file becomes a directory", "/d/f: {file.managed: [{contents: x}]}", "echo x > /d/f", "rm /d/f; mkdir /d/f", "answers differently", false},
	{"a link leads elsewhere", "/d/l: {file.symlink: [{target: /d/a}]}", "ln -s /d/a /d/l", "ln -sfn /d/b /d/l", "it (file.symlink) is due now", false},
	{"a service is stopped", "drifty: {service.running: []}", "systemctl start drifty", "systemctl stop drifty", "it (service.running) is due now", false},
	{"a service is disabled", "drifty: {service.enabled: []}", "systemctl enable drifty", "systemctl disable drifty", "it (service.enabled) is due now", false},
	{"a service is masked", "drifty: {service.unmasked: []}", "systemctl unmask drifty", "systemctl mask drifty", "it (service.unmasked) is due now", false},
	{"a user is removed", "drifter: {user.present: [{createhome: false}]}", "useradd -M drifter", "userdel drifter", "it (user.present) is due now", false},
	{"shell of a user", "drifter: {user.present: [{shell: /bin/sh}, {createhome: false}]}", "useradd -M -s /bin/sh drifter", "usermod -s /bin/bash drifter", "it (user.present) is due now", false},
	{"groups of a user", "drifter: {user.present: [{groups: [drifters]}, {createhome: false}]}", "groupadd drifters; useradd -M -G drifters drifter", "gpasswd -d drifter drifters", "it (user.present) is due now", false},
	{"members of a group", "drifters: {group.present: [{members: [daemon]}]}", "groupadd drifters; usermod -aG drifters daemon", "gpasswd -d daemon drifters", "it (group.present) is due now", false},
	{"a group is removed", "drifters: {group.present: []}", "groupadd drifters", "groupdel drifters", "it (group.present) is due now", false},
	{"a key of a user", "AAAAB3NzaC1yc2EAAAADAQABAAAAYQ==: {ssh_auth.present: [{user: root}, {enc: ssh-rsa}]}", "mkdir -p -m 700 /root/.ssh; echo 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAYQ== ' > /root/.ssh/authorized_keys", "rm /root/.ssh/authorized_keys", "(ssh_auth.present) is due now", false},
	{"a cron line", "/bin/true: {cron.present: [{user: root}, {minute: '5'}, {identifier: d}]}", "printf '# Lines below here are managed by Salt, do not edit\\n# SALT_CRON_IDENTIFIER:d\\n5 * * * * /bin/true\\n' | crontab -", "crontab -r", "it (cron.present) is due now", false},
	{"a mount", "/d/mnt: {mount.mounted: [{device: tmpfs}, {fstype: tmpfs}, {persist: false}]}", "mkdir /d/mnt; mount -t tmpfs tmpfs /d/mnt", "umount /d/mnt", "it (mount.mounted) is due now", false},
	{"a line of /etc/fstab", "/dev/drift: {mount.fstab_present: [{fs_file: /d/mnt}, {fs_vfstype: ext4}, {mount: false}]}", "echo '/dev/drift /d/mnt ext4 defaults 0 0' >> /etc/fstab", "sed -i /drift/d /etc/fstab", "it (mount.fstab_present) is due now", false},
	{"a kernel parameter", "kernel.ostype: {sysctl.present: [{value: Linux}, {config: /d/sysctl.conf}]}", "echo 'kernel.ostype = Linux' > /d/sysctl.conf", "rm /d/sysctl.conf", "it (sysctl.present) is due now", false},
	{"a git revision", "/d/repo: {git.latest: [{target: /d/clone}]}", commit + "; git clone -q /d/repo /d/clone", commit, "it (git.latest) is due now", false},
	{"files of an archive", "/d/x: {archive.extracted: [{source: /d/a.tar}]}", "mkdir -p /d/x/top; echo 1 > /d/x/top/one; tar cf /d/a.tar -C /d/x top", "rm -r /d/x/top", "it (archive.extracted) is due now", false},
	{"a source on the target", "/d/f: {file.managed: [{source: /d/src}]}", "echo x > /d/src", "echo y > /d/src", "it (file.managed) would do something else", false},
	{"what a slot calls", "/d/f: {file.managed: [{contents: '__slot__:salt:file.read(/d/text)'}]}", "echo x > /d/text", "echo y > /d/text", "it (file.managed) would do something else", false},
	{"a line of /etc/hosts", "drift.example: {host.present: [{ip: 10.9.8.7}]}", "echo '10.9.8.7 drift.example' >> /etc/hosts", "sed -i /drift.example/d /etc/hosts", "it (host.present) is due now", false},
	{"the answer of a condition", "/d/f: {file.managed: [{contents: x}, {onlyif: test -e /d/flag}]}", "true", "touch /d/flag", "it (file.managed) is due now", false},
	{"a grain", "/d/f: {file.managed: [{contents: '{{ grains.get(\"role\") }}'}]}", "echo 'role: web' > /case/conf/grains", "echo 'role: db' > /case/conf/grains", "would do something else", false},
	{"another kernel after a restart", "/d/f: {file.managed: [{contents: '{{ grains.kernelrelease }}'}]}", "true", "echo 'grains: {kernelrelease: 9.9.9}' >> /case/conf/minion", "would do something else", false},
	{"the pillar", "same: {test.nop: []}", "true", "echo 'app: 2' > /srv/pillar/p.sls", "pillar of", false},
	{"an external pillar", "same: {test.nop: []}", "echo 'ext_pillar: [{cmd_yaml: cat /d/ext}]' >> /case/conf/minion; echo 'more: 1' > /d/ext", "echo 'more: 2' > /d/ext", "pillar of", false},
	{"a file of the tree", "/d/f: {file.managed: [{source: 'salt://src'}]}", "true", "echo other > /srv/salt/src", "file base:src", false},
	{"the states", "same: {test.nop: []}", "true", "echo 'more: {test.nop: []}' >> /srv/salt/drift.sls", "file base:drift.sls", false},
	{"an option that changes what a run does", "same: {test.nop: []}", "true", "echo 'failhard: true' >> /case/conf/minion", "option failhard", false},
	{"a roster entry", "same: {test.nop: []}", "true", "echo 'one: {connection: local, grains: {a: 1}}' > /case/conf/roster", "roster entry one", true},
	{"a target that is new", "same: {test.nop: []}", "true", "echo 'two: {connection: local}' >> /case/conf/roster", "a new target: two", true},
	{"a target that is gone", "same: {test.nop: []}", "echo 'two: {connection: local}' >> /case/conf/roster", "echo 'one: {connection: local}' > /case/conf/roster", "no longer a target: two", true},
}

// TestDriftRefused: whatever of a machine or of a tree changes behind a plan, apply says what
// it is and runs nothing. Without a drift, the same plan is applied. docs/plan.md has all kinds.
func TestDriftRefused(t *testing.T) {
	t.Parallel()
	m := machineWithBrine(t)
	m.Write(t, "/usr/lib/systemd/system/drifty.service", "[Service]\nExecStart=/bin/sleep 1000000\n[Install]\nWantedBy=multi-user.target\n", 0o644)
	doc, err := os.ReadFile("docs/plan.md")
	must(t, err)
	_, table, _ := strings.Cut(string(doc), "| drift | example |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(table, -1) {
		listed = append(listed, row[1])
	}
	var names []string
	for _, d := range drifts {
		names = append(names, d.name)
	}
	if strings.Join(listed, "\n") != strings.Join(names, "\n") {
		t.Errorf("docs/plan.md lists\n%s\nthe test has\n%s", strings.Join(listed, "\n"), strings.Join(names, "\n"))
	}
	shell := func(line string) (out string, exit int) {
		r := m.Shell("/", line)
		return r.Stdout + r.Stderr, r.Exit
	}
	const reset = `crontab -r; umount /d/mnt; userdel drifter; groupdel drifters; systemctl unmask drifty; systemctl unmask drifty; systemctl stop drifty
apt-get remove -y brine-a; rm -rf /d /case/conf/grains /root/.ssh/authorized_keys; sed -i /drift.example/d /etc/hosts; sed -i /drift/d /etc/fstab; mkdir -p /d; true`
	for i, d := range drifts {
		t.Run(d.name, func(t *testing.T) {
			turn.Skip(t)
			shell(reset)
			due := fmt.Sprintf("/d/due%d", i)
			name := strings.TrimSpace(d.sls[:strings.Index(d.sls, ": {")])
			if d.setup != "true" || name[0] == '/' {
				d.says = strings.Replace(d.says, "it (", name+" (", 1)
			}
			m.Write(t, "/case/conf/minion", "id: minion1\nfile_client: local\nfile_roots: {base: [/srv/salt]}\npillar_roots: {base: [/srv/pillar]}\n", 0o644)
			m.Write(t, "/case/conf/master", "id: ctl\nfile_roots: {base: [/srv/salt]}\npillar_roots: {base: [/srv/pillar]}\n", 0o644)
			m.Write(t, "/case/conf/roster", "one: {connection: local}\n", 0o644)
			m.Write(t, "/srv/salt/src", "source\n", 0o644)
			m.Write(t, "/srv/pillar/top.sls", "base: {'*': [p]}\n", 0o644)
			m.Write(t, "/srv/pillar/p.sls", "app: 1\n", 0o644)
			m.Write(t, "/srv/salt/drift.sls", d.sls+"\ndue: {file.managed: [{name: "+due+"}, {contents: x}]}\n", 0o644)
			if out, exit := shell(d.setup); exit != 0 {
				t.Fatalf("setup: status %d\n%s", exit, out)
			}
			what := "--call"
			if d.ssh {
				what = "--ssh '*'"
			}
			if out, exit := shell("brine plan -c /case/conf " + what + " state.apply drift -o /case/p.plan"); exit != 0 {
				t.Fatalf("plan: status %d\n%s", exit, out)
			}
			if out, exit := shell(d.by); exit != 0 {
				t.Fatalf("drift: status %d\n%s", exit, out)
			}
			out, exit := shell("brine apply /case/p.plan --yes")
			if exit != 1 || !strings.Contains(out, "the plan no longer holds: nothing was run") || !strings.Contains(out, d.says) {
				t.Errorf("apply: status %d, want a refusal that says %q\n%s", exit, d.says, out)
			}
			if _, err := os.Lstat(filepath.Join(m.Root, due)); err == nil {
				t.Error("a state ran")
			}
		})
	}
	// Without a drift, a plan is applied.
	shell(reset)
	m.Write(t, "/srv/salt/drift.sls", "due: {file.managed: [{name: /d/due}, {contents: x}]}\n", 0o644)
	for _, line := range []string{"brine plan -c /case/conf --call state.apply drift -o /case/p.plan", "brine apply /case/p.plan --yes", "test -e /d/due"} {
		if out, exit := shell(line); exit != 0 {
			t.Errorf("%s: status %d\n%s", line, exit, out)
		}
	}
}
