package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/internal/testkit/turn"
)

// snapshot are commands whose output says what a machine is: its files, accounts,
// packages and units, mounts and kernel parameters.
var snapshot = []string{
	`find /etc /home /opt /srv /root /usr/local /var/spool/cron /var/lib/app -xdev ! -type d ` +
		`! -path '/etc/*-' ! -path /root/run.json ! -path '/root/.cache/*' ! -path '/etc/.pwd.lock' ! -path '/etc/ld.so.cache' ` +
		`\( -type l -printf '%p %y %U:%G %l\n' -o -printf '%p %y %m %U:%G %s %TY-%Tm-%Td %TH:%TM:%TS\n' \) | sort`,
	`find /etc /home /opt /srv /root /usr/local /var/lib/app -xdev -type d ! -path '/root/.cache*' -printf '%p %m %U:%G\n' | sort`,
	`cat /etc/passwd /etc/shadow /etc/group /etc/gshadow | sort`,
	`dpkg-query -W -f '${Package} ${Version} ${Status}\n' | grep 'ok installed'`,
	`find /usr/lib/systemd/system /run/systemd/system -printf '%p %l\n' | sort`, // list-unit-files takes half a second, and the rest is below /etc
	`systemctl list-units --no-legend --plain --type=service,timer | awk '{print $1, $3}' | grep -v '^user\|^session\|^apt-\|^dpkg-\|^systemd-\|^man-db\|^e2scrub'`,
	`getfacl -R -p -n /srv 2>/dev/null; getfattr -R -h -d /srv --absolute-names 2>/dev/null`,
	`find /srv /opt -xdev -type d -printf '%p %TY-%Tm-%Td %TH:%TM:%TS\n' | sort; find /srv -links +1 -type f -printf '%p %n\n' | sort`,
	`iptables-save | grep -v '^#' | sed 's/\[.*//'; nft -s list tables inet | while read -r x fam name; do nft -s list table "$fam" "$name"; done`,
	`findmnt -rn -o TARGET,FSTYPE | grep -v '^/run/user'`,
}

// TestUndoMachine: thirteen kinds of runs on a real machine are undone. What the machine is
// afterwards is what it was before, or the undo has named what it is not.
func TestUndoMachine(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	m := machineWithBrine(t)
	m.Write(t, "/case/conf/minion", "id: minion1\nfile_client: local\nfile_roots: {base: [/case/salt]}\nundo: True\ncachedir: /case/cache\n", 0o644)
	m.Write(t, "/etc/systemd/system/app.service", "[Service]\nExecStart=/bin/sleep 100000\n[Install]\nWantedBy=multi-user.target\n", 0o644)
	m.Write(t, "/etc/systemd/system/there.service", "[Service]\nExecStart=/bin/sleep 100000\n[Install]\nWantedBy=multi-user.target\n", 0o644)
	m.Write(t, "/srv/app/conf", "old\n", 0o640)
	m.Write(t, "/srv/app/data/one", "1\n", 0o600)
	m.Write(t, "/srv/app/data/below/two", "2\n", 0o644)
	m.Write(t, "/root/.ssh/authorized_keys", "", 0o600)
	m.Write(t, "/var/lib/app/x", "x\n", 0o644)
	shell := func(line string, exit int) string {
		t.Helper()
		r := m.Shell("/", line)
		if r.Exit != exit {
			t.Errorf("%s: status %d\n%s%s", line, r.Exit, r.Stdout, r.Stderr)
		}
		return r.Stdout
	}
	shell(`ln -s one /srv/app/data/link && ln /srv/app/conf /srv/app/hard && ln /srv/app/data/below/two /srv/app/data/two2 && iptables -A INPUT -p icmp -j ACCEPT && nft add table inet there && echo x > /srv/app/acl && echo x > /srv/app/acl2 && setfacl -m u:daemon:r /srv/app/acl /srv/app/data/one && setfacl -d -m u:daemon:rx /srv/app/data && setfattr -n user.note -v here /srv/app/acl /srv/app/data/below/two && chown 33:33 /srv/app/data/one && useradd -m -s /bin/sh there && apt-get -q update && apt-get -q -y install brine-b && systemctl daemon-reload && systemctl enable --now there`, 0)
	var all strings.Builder // one shell for all: to enter a machine takes longest
	for _, line := range snapshot {
		fmt.Fprintf(&all, "echo '== %.12s'\n{ %s\n} || exit 9\n", strings.ReplaceAll(line, "'", ""), line)
	}
	look := func() (out []string) {
		t.Helper()
		of := ""
		for l := range strings.Lines(shell(all.String(), 0)) {
			if name, ok := strings.CutPrefix(l, "== "); ok {
				of = strings.TrimSpace(name)
				continue
			}
			out = append(out, of+": "+strings.TrimSpace(l))
		}
		return out
	}
	jid := regexp.MustCompile(`"[0-9]{20}"`)
	for _, x := range []struct {
		name, sls string
		// cannot are parts of lines of the snapshot that may differ, each with what the
		// undo says of it.
		cannot map[string]string
	}{
		{name: "files", sls: `
/srv/app/conf:
  file.managed: [{contents: new}, {mode: '0600'}]
/srv/app/new/below/file:
  file.managed: [{contents: made}, {makedirs: True}]
/srv/app/data:
  file.absent: []
/srv/app/link:
  file.symlink: [{target: conf}]
`},
		{name: "moved", sls: `
/srv/app/moved:
  file.rename: [{source: /srv/app/data}]
/srv/app/copy:
  file.copy: [{source: /srv/app/conf}]
append:
  file.append: [{name: /srv/app/conf}, {text: more}]
`},
		{name: "modes", sls: `
/srv/app:
  file.directory: [{user: there}, {group: there}, {file_mode: '0604'}, {dir_mode: '0705'}, {recurse: [user, group, mode]}]
`},
		{name: "attributes", sls: `
/srv/app/acl:
  file.managed: [{contents: new}]
/srv/app/acl2:
  acl.present: [{acl_type: user}, {acl_name: daemon}, {perms: rw}]
/srv/app/data:
  file.absent: []
`},
		{name: "accounts", sls: `
team:
  group.present: [{gid: 2345}]
app:
  user.present: [{uid: 2346}, {gid: 2345}, {shell: /bin/sh}, {password: '$6$salt$hash'}, {require: [{group: team}]}]
there:
  user.present: [{shell: /bin/bash}, {groups: [team]}, {fullname: There}, {require: [{group: team}]}]
`},
		{name: "account gone", sls: `
there:
  user.absent: [{purge: True}, {force: True}]
`},
		{name: "services", sls: `
app:
  service.running: [{enable: True}]
there:
  service.dead: [{enable: False}]
`},
		{name: "watch", sls: `
/srv/app/conf:
  file.managed: [{contents: watched}]
there:
  service.running: [{watch: [{file: /srv/app/conf}]}]
`},
		{name: "package", sls: `
brine-conf:
  pkg.installed: [{pkgs: [brine-a: '1.0']}, {refresh: False}]
`},
		{name: "packages gone", sls: `
brine-b:
  pkg.removed: []
`},
		{name: "cron", sls: `
echo hello:
  cron.present: [{user: there}, {minute: 5}, {identifier: hello}]
`},
		{name: "hosts and ini", sls: `
other.example.com:
  host.present: [{ip: 192.0.2.7}]
/srv/app/x.ini:
  ini.options_present: [{sections: {main: {key: v}}}]
`}, // a container may set no kernel parameter: see TestFacts in internal/core/undo
		{name: "packet filters", sls: `
chain: {iptables.chain_present: [{name: WEB}]}
rule: {iptables.append: [{chain: INPUT}, {proto: tcp}, {dport: 80}, {jump: WEB}, {save: /srv/app/rules.v4}]}
policy: {iptables.set_policy: [{chain: FORWARD}, {policy: DROP}]}
gone: {iptables.delete: [{chain: INPUT}, {proto: icmp}, {jump: ACCEPT}]}
table: {nftables.table_present: [{name: web}, {family: inet}]}
there: {nftables.chain_present: [{name: in}, {table: there}, {family: inet}, {table_type: filter}, {hook: input}, {priority: 0}]}
`},
		{name: "mount", sls: `
/srv/mnt:
  mount.mounted: [{device: tmpfs}, {fstype: tmpfs}, {mkmnt: True}, {persist: True}]
`},
		{name: "key", sls: `
key:
  ssh_auth.present: [{name: AAAAC3NzaC1lZDI1NTE5AAAAIHqVRIbnjnN1SCyWbPeTdWqIKLLTIW2+IfTD2LXwXOxL}, {enc: ssh-ed25519}, {user: there}]
`},
		{name: "alternatives", sls: `
alt:
  alternatives.install: [{name: undotool}, {link: /usr/local/bin/undotool}, {path: /bin/true}, {priority: 10}]
`},
		{name: "archive", sls: `
tar:
  cmd.run: [{name: 'tar czf /case/a.tar.gz -C /srv app'}, {creates: /case/a.tar.gz}]
/opt/app:
  archive.extracted: [{source: /case/a.tar.gz}, {skip_verify: True}, {enforce_toplevel: False}]
`, cannot: map[string]string{"": "Cannot be undone: it ran a command"}},
		{name: "git", sls: `
repo:
  cmd.run: [{name: 'git init -q /case/repo && cd /case/repo && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x'}, {creates: /case/repo}]
/opt/clone:
  git.cloned: [{name: /case/repo}, {target: /opt/clone}, {require: [{cmd: repo}]}]
`, cannot: map[string]string{"": "Cannot be undone: it ran a command"}},
		{name: "command", sls: `
'echo by a command > /srv/app/bycommand':
  cmd.run: []
`, cannot: map[string]string{"/srv/app/bycommand": "Cannot be undone: it ran a command", "/srv/app ": "Cannot be undone: it ran a command"}},
	} {
		m.Write(t, "/case/salt/x.sls", strings.TrimPrefix(x.sls, "\n"), 0o644)
		before := look()
		const call = "HOME=/root brine call -c /case/conf --log-level=warning --metadata --out=json state.apply x"
		r := m.Shell("/", call)
		if r.Exit != 0 {
			t.Errorf("%s: %s%s", x.name, r.Stdout, r.Stderr)
		}
		id := strings.Trim(jid.FindString(r.Stdout), `"`)
		if id == "" {
			t.Fatalf("%s: no jid in %s", x.name, r.Stdout)
		}
		left := look()
		const undo = "HOME=/root brine call -c /case/conf --out=json undo.run "
		want := 0
		if len(x.cannot) > 0 {
			want = 1
		}
		planned := m.Shell("/", undo+id+" test=True")
		if planned.Exit != want {
			t.Errorf("%s: the undo in test mode has status %d\n%s%s", x.name, planned.Exit, planned.Stdout, planned.Stderr)
		}
		if now := look(); !slices.Equal(now, left) {
			t.Errorf("%s: the undo in test mode changed %s", x.name, unlike(left, now))
		}
		done := m.Shell("/", undo+id)
		if done.Exit != want {
			t.Errorf("%s: the undo has status %d\n%s%s", x.name, done.Exit, done.Stdout, done.Stderr)
		}
		for part, says := range x.cannot {
			if !strings.Contains(done.Stdout, says) {
				t.Errorf("%s: the undo does not say %q of %s:\n%s", x.name, says, part, done.Stdout)
			}
		}
		rest := unlike(before, look())
		rest = slices.DeleteFunc(rest, func(line string) bool {
			for part := range x.cannot {
				if part != "" && strings.Contains(line, part) {
					return true
				}
			}
			return false
		})
		if len(rest) > 0 {
			t.Errorf("%s: the machine is not as before:\n%s\nthe run had changed\n%s\nundo:\n%s%s", x.name, strings.Join(rest, "\n"), strings.Join(unlike(before, left), "\n"), done.Stdout, done.Stderr)
		}
		if len(unlike(before, left)) == 0 {
			t.Errorf("%s: the run changed nothing that the snapshot sees", x.name)
		}
		shell("rm -rf /case/cache/undo /case/repo /case/a.tar.gz /srv/app/bycommand", 0)
	}
}

// unlike returns the lines that only one of two snapshots has.
func unlike(a, b []string) (out []string) {
	in := func(lines []string) map[string]bool {
		m := map[string]bool{}
		for _, l := range lines {
			m[l] = true
		}
		return m
	}
	ina, inb := in(a), in(b)
	for _, l := range a {
		if !inb[l] {
			out = append(out, fmt.Sprint("- ", l))
		}
	}
	for _, l := range b {
		if !ina[l] {
			out = append(out, fmt.Sprint("+ ", l))
		}
	}
	return out
}
