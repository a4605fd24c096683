//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/turn"
)

// A badInput is something that is wrong on a machine or in a tree.
type badInput struct {
	name   string
	before string // run in the machine first
	sls    string
	failed []string // IDs of the states that fail; the others succeed
	says   []string // of the report and stderr together
	after  string   // has to succeed: what is true then, and what puts things right again
}

var badInputs = []badInput{
	{
		name:   "a version that is not there",
		sls:    "brine-a: {pkg.installed: [{version: 1.5}]}",
		failed: []string{"brine-a"}, says: []string{"Version '1.5' for 'brine-a' was not found", "hint: the nearest version of brine-a is", "1.1"},
		after: "! dpkg -s brine-a",
	},
	{
		name:   "a repository that is not there",
		sls:    "r: {pkgrepo.managed: [{name: 'deb file:/nowhere ./'}, {file: /etc/apt/sources.list.d/bad.list}]}",
		failed: []string{"r"}, says: []string{"does not have a Release file"},
		after: "test ! -e /etc/apt/sources.list.d/bad.list",
	},
	{
		name:   "lists that are nonsense",
		before: "echo 'deb [trusted=yes] file:/srv/broken ./' >/etc/apt/sources.list.d/broken.list; mkdir -p /srv/broken; echo 'no field' >/srv/broken/Packages",
		sls:    "brine-a: {pkg.installed: [{refresh: true}]}",
		failed: []string{"brine-a"}, says: []string{"Unable to parse package file"},
		after: "rm /etc/apt/sources.list.d/broken.list && apt-get -qq update && ! dpkg -s brine-a",
	},
	{
		name:   "a mirror that does not answer",
		before: "echo 'deb [trusted=yes] http://127.0.0.1:9/debian ./' >/etc/apt/sources.list.d/far.list",
		sls:    "brine-all: {pkg.latest: [{refresh: true}]}",
		says:   []string{"apt-get update: Failed to fetch http://127.0.0.1:9/debian", "Could not connect to 127.0.0.1:9"},
		after:  "rm /etc/apt/sources.list.d/far.list && apt-get -qq update && dpkg -s brine-all",
	},
	{
		name: "a lock that another program has", // until apt-get has had the time to try it, on a slow machine too
		before: `mkfifo held; python3 -c "
import fcntl, os, time
f = open('/var/lib/dpkg/lock-frontend', 'w')
fcntl.lockf(f, fcntl.LOCK_EX)
open('held', 'w').close()
while os.system('pgrep -f \'[a]pt-get.* install\'') != 0:
    time.sleep(0.1)
time.sleep(8)" >/dev/null 2>&1 & cat held`,
		sls:  "brine-hold: {pkg.installed: []}",
		says: []string{"Could not get lock /var/lib/dpkg/lock-frontend. It is held by process", "(python3); waiting for up to"}, after: "dpkg -s brine-hold",
	},
	{
		name:   "a script of a package that fails",
		sls:    "brine-fail: {pkg.installed: []}",
		failed: []string{"brine-fail"}, says: []string{"1.0 (half-configured)", "hint: ", "dpkg: error processing package brine-fail (--configure): installed brine-fail package post-installation script"},
		after: "dpkg --purge --force-all brine-fail",
	},
	{
		name:   "a full disk under dpkg",
		before: "mkdir -p /var/lib/dpkg/updates; mount -t tmpfs -o size=4k tmpfs /var/lib/dpkg/updates",
		sls:    "brine-b: {pkg.installed: []}",
		failed: []string{"brine-b"}, says: []string{"dpkg returned an error code", "hint: dpkg: unrecoverable fatal error", "No space left on device"},
		after: "umount /var/lib/dpkg/updates && ! dpkg -s brine-b && apt-get -y install brine-b",
	},
	{
		name:   "a full disk under a file and a crontab",
		before: "mkdir full; mount -t tmpfs -o size=64k tmpfs full; echo old >full/f; echo '1 2 3 4 5 /bin/old' | crontab -; mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs /var/spool/cron/crontabs",
		sls: `
/srv/bad/full/f: {file.managed: [{contents: "{{ 'x' * 200000 }}"}]}
appended: {file.append: [{name: /srv/bad/full/f}, {text: "{{ 'x' * 200000 }}"}]}
/bin/new: {cron.present: []}
`,
		failed: []string{"/srv/bad/full/f", "appended", "/bin/new"}, says: []string{"No space left on device: '/srv/bad/full/f'", "mkstemp: No space left on device"},
		after: "umount /var/spool/cron/crontabs && test $(cat full/f) = old && test $(ls -A full) = f && umount full && test \"$(crontab -l)\" = '1 2 3 4 5 /bin/old'",
	},
	{
		name: "units that fail, are masked, static or nonsense",
		before: `cd /etc/systemd/system
printf '[Service]\nType=oneshot\nExecStart=/bin/sh -c "echo the disk is on fire >&2; exit 3"\n[Install]\nWantedBy=multi-user.target\n' >burns.service
printf '[Service]\nExecStart=/bin/sleep infinity\n' >static.service
printf '[Service]\nType=exec\nExecStart=not-absolute\n' >nonsense.service
systemctl daemon-reload; systemctl stop atd; systemctl mask atd`,
		sls: `
burns: {service.running: [{enable: true}]}
static: {service.running: [{enable: true}]}
nonsense: {service.running: []}
atd: {service.running: []}
nothere: {service.running: []}
`,
		failed: []string{"burns", "nonsense", "atd", "nothere"},
		says: []string{
			"the disk is on fire", "static is a static unit: it has no [Install] section", "nonsense.service: ", "masked",
			"The named service nothere is not available",
		},
		after: "systemctl is-active static && systemctl unmask atd && rm /etc/systemd/system/burns.service",
	},
	{
		name:   "an fstab with nonsense",
		before: `printf 'garbage\n/dev/sda1 / ext4\n# c\n\377\376 bad bytes\ntmpfs\t/a\ttmpfs\tdefaults 0 0\n' >/etc/fstab; cp /etc/fstab fstab`,
		sls: `
/mnt/u: {mount.mounted: [{device: tmpfs}, {fstype: tmpfs}, {mkmnt: true}]}
/mnt/v: {mount.mounted: [{device: /dev/nothere}, {fstype: ext4}, {mkmnt: true}]}
`,
		failed: []string{"/mnt/v"}, says: []string{"special device /dev/nothere does not exist"},
		after: "mountpoint /mnt/u && head -n 5 /etc/fstab | cmp - fstab && test $(wc -l </etc/fstab) = 6 && umount /mnt/u",
	},
	{
		name:   "a crontab that another program wrote",
		before: `printf 'MAILTO=x\n*/5 * * * * other # job\n@reboot /bin/b\n# a comment\n\t 7 7 * * *  /bin/spaced\n' >/var/spool/cron/crontabs/root; cp /var/spool/cron/crontabs/root ct`,
		sls: `
/bin/bad: {cron.present: [{minute: 99}]}
/bin/none: {cron.present: [{user: nosuchuser}]}
/bin/odd: {cron.present: [{special: '@sometimes'}]}
/bin/new: {cron.present: [{minute: 3}]}
`,
		failed: []string{"/bin/bad", "/bin/none", "/bin/odd"}, says: []string{"bad minute", "user `nosuchuser' unknown"},
		after: "crontab -l | grep -vE '^# Lines below here are managed|/bin/new' | cmp - ct && crontab -l | grep -q '^3 . . . . /bin/new$' && crontab -r",
	},
	{
		name:   "keys that are none",
		before: "echo VERYSECRETKEYDATA$(seq -s x 300) >key",
		sls: `
a: {ssh_auth.present: [{name: 'ssh-rsa not*base64'}, {user: root}]}
b: {ssh_auth.present: [{name: AAAA}, {enc: nosuch}, {user: root}]}
c: {ssh_known_hosts.present: [{name: example.org}, {key: '!!!'}, {enc: ssh-rsa}, {user: root}]}
d: {x509.certificate_managed: [{name: /root/x.crt}, {signing_private_key: /srv/bad/key}, {CN: x}]}
e: {pkgrepo.managed: [{name: 'deb file:/srv/repo/two stable main'}, {file: /etc/apt/sources.list.d/k.list}, {key_url: 'file:///srv/bad/key'}]}
`,
		failed: []string{"a", "b", "c", "d", "e"}, says: []string{"Invalid public ssh key", "Incorrect encryption key type 'nosuch'", "PEM text not valid"},
		after: "test ! -e /root/.ssh/authorized_keys && test ! -e /root/.ssh/known_hosts && test ! -e /root/x.crt && test ! -e /etc/apt/sources.list.d/k.list",
	},
}

// Each of these gets a clear error with the system's own message, and leaves
// nothing half-written.
func TestMachinesBadInput(t *testing.T) {
	t.Parallel()
	m := machineWithBrine(t)
	const dir = "/srv/bad"
	if err := os.Mkdir(filepath.Join(m.Root, dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, bad := range badInputs {
		t.Run(bad.name, func(t *testing.T) {
			turn.Skip(t)
			if r := m.Shell(dir, bad.before); r.Exit != 0 {
				t.Fatalf("%s: %s%s", bad.before, r.Stdout, r.Stderr)
			}
			m.Write(t, dir+"/x.sls", bad.sls, 0o644)
			r := m.Run(2*time.Minute, dir, "/usr/local/bin/brine", "call", "--file-root", dir, "--out=json", "state.apply", "x")
			var doc struct{ Local map[string]step }
			if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil {
				t.Fatalf("%v: exit status %d\n%s%s", err, r.Exit, r.Stdout, r.Stderr)
			}
			if want := len(bad.failed) > 0; (r.Exit != 0) != want {
				t.Errorf("exit status %d", r.Exit)
			}
			said := r.Stderr
			for tag, s := range doc.Local {
				said += "\n" + tag + ": " + s.Comment
				if id := strings.Split(tag, "_|-")[1]; s.ok() == slices.Contains(bad.failed, id) {
					t.Errorf("%s: result %t: %s", id, s.ok(), s.Comment)
				}
			}
			for _, want := range bad.says {
				if !strings.Contains(said+r.Stdout, want) {
					t.Errorf("no %q in\n%s", want, said)
				}
			}
			if r := m.Shell(dir, bad.after); r.Exit != 0 {
				t.Errorf("%s: exit status %d: %s%s", bad.after, r.Exit, r.Stdout, r.Stderr)
			}
		})
	}
}
