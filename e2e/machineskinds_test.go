//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"brine/internal/testkit/turn"
)

// A kind is an orchestration of one kind: the states of its steps, and those of which the
// plan does not know what they do.
type kind struct {
	name    string
	setup   string
	steps   []string
	unknown []string // with a word of the reason: "id: word"
}

// kinds are the thirteen kinds of orchestrations that are planned, applied and compared.
var kinds = []kind{
	{name: "packages", setup: "apt-get -q update", steps: []string{`
b: {pkg.installed: [{name: brine-b}, {refresh: False}]}
a: {pkg.installed: [{name: brine-a}, {refresh: False}]}
conf: {file.managed: [{name: /srv/k/pkg.conf}, {contents: x}, {require: [{pkg: b}]}]}
none: {pkg.removed: [{name: brine-conflict}]}
`}, unknown: []string{"a: b changes brine-a"}},
	{name: "services with watch", setup: "systemctl daemon-reload; systemctl start kind2", steps: []string{`
conf: {file.managed: [{name: /srv/k/service.conf}, {contents: x}]}
kind: {service.running: [{enable: True}, {watch: [{file: conf}]}]}
kind2: {service.running: [{watch: [{file: conf}]}]}
again: {service.running: [{name: kind}]}
dead: {service.dead: [{name: none-such}]}
`}, unknown: []string{"again: kind changes kind", "dead: there is no such service now"}},
	{name: "users", steps: []string{`
team: {group.present: [{gid: 3456}]}
ann: {user.present: [{uid: 3457}, {gid: 3456}, {shell: /bin/sh}]}
bob: {user.present: [{groups: [team]}, {shell: /bin/sh}]}
again: {user.present: [{name: bob}, {groups: [team]}, {shell: /bin/sh}]}
key: {ssh_auth.present: [{name: AAAAC3NzaC1lZDI1NTE5AAAAIHqVRIbnjnN1SCyWbPeTdWqIKLLTIW2+IfTD2LXwXOxL}, {enc: ssh-ed25519}, {user: bob}]}
rc: {file.managed: [{name: /home/bob/rc}, {contents: x}, {user: bob}, {group: bob}]}
job: {cron.present: [{name: /bin/true}, {user: bob}, {minute: 3}]}
`}},
	{name: "templates", steps: []string{`
first: {file.managed: [{name: /srv/k/first}, {contents: x}]}
tmpl: {file.managed: [{name: /srv/k/tmpl}, {source: "salt://tmpl"}, {template: jinja}]}
again: {file.managed: [{name: /srv/k/tmpl}, {contents: "True"}]}
`}},
	{name: "commands with conditions", steps: []string{`
make: {file.managed: [{name: /srv/k/made}, {contents: x}]}
creates: {cmd.run: [{name: touch /srv/k/c1}, {creates: /srv/k/made}]}
onlyif: {cmd.run: [{name: touch /srv/k/c2}, {onlyif: test -e /srv/k/made}]}
unless: {cmd.run: [{name: touch /srv/k/c3}, {unless: test -e /srv/k/made}]}
late: {cmd.run: [{name: touch /srv/k/c4}, {creates: /srv/k/c2}]}
`}, unknown: []string{"onlyif: its condition onlyif", "unless: its condition unless", "late: its condition creates"}},
	{name: "mounts", steps: []string{`
mnt: {mount.mounted: [{name: /srv/k/mnt}, {device: tmpfs}, {fstype: tmpfs}, {mkmnt: True}]}
in: {file.managed: [{name: /srv/k/mnt/file}, {contents: x}, {require: [{mount: mnt}]}]}
line: {mount.fstab_present: [{name: tmpfs}, {fs_file: /srv/k/mnt2}, {fs_vfstype: tmpfs}, {mount: False}]}
again: {mount.fstab_present: [{name: tmpfs}, {fs_file: /srv/k/mnt2}, {fs_vfstype: tmpfs}, {mount: False}]}
away: {mount.fstab_absent: [{name: tmpfs}, {fs_file: /srv/k/mnt2}]}
unmount: {mount.unmounted: [{name: /srv/k/mnt}]}
`}, unknown: []string{"in: /srv/k/mnt is not known before mnt", "unmount: /srv/k/mnt is not known before mnt"}},
	{name: "cron", steps: []string{`
job: {cron.present: [{name: /bin/a}, {minute: 5}, {identifier: a}]}
again: {cron.present: [{name: /bin/a}, {minute: 5}, {identifier: a}]}
later: {cron.present: [{name: /bin/a}, {minute: 6}, {identifier: a}]}
env: {cron.env_present: [{name: MAILTO}, {value: root}]}
away: {cron.absent: [{name: /bin/a}, {identifier: a}]}
gone: {cron.absent: [{name: /bin/a}, {identifier: a}]}
`}},
	{name: "git", setup: "rm -rf /srv/repo; git init -q /srv/repo && cd /srv/repo && echo 1 > one && git add one && git -c user.name=a -c user.email=a@b commit -q -m x", steps: []string{`
clone: {git.latest: [{name: /srv/repo}, {target: /srv/k/clone}]}
dir: {file.directory: [{name: /srv/k/clone}]}
in: {file.managed: [{name: /srv/k/clone/one}, {contents: "1"}]}
other: {git.cloned: [{name: /srv/repo}, {target: /srv/k/clone2}]}
`}, unknown: []string{"in: /srv/k/clone is not known before clone"}},
	{name: "archives", setup: "mkdir -p /srv/src/top; echo 1 > /srv/src/top/one; tar cf /srv/salt/a.tar -C /srv/src top", steps: []string{`
pack: {archive.extracted: [{name: /srv/k/x}, {source: "salt://a.tar"}]}
one: {file.managed: [{name: /srv/k/x/top/one}, {contents: "1"}]}
other: {file.managed: [{name: /srv/k/x/top/two}, {contents: "2"}]}
creates: {cmd.run: [{name: touch /srv/k/ran}, {creates: /srv/k/x/top/one}]}
again: {archive.extracted: [{name: /srv/k/x}, {source: "salt://a.tar"}]}
`}},
	{name: "prereq", setup: "echo old > /srv/k/app", steps: []string{`
stop: {cmd.run: [{name: touch /srv/k/stopped}, {prereq: [{file: app}]}]}
app: {file.managed: [{name: /srv/k/app}, {contents: new}]}
idle: {cmd.run: [{name: touch /srv/k/idle}, {prereq: [{file: same}]}]}
same: {file.managed: [{name: /srv/k/app}, {contents: new}]}
`}},
	{name: "listen", steps: []string{`
conf: {file.managed: [{name: /srv/k/listen.conf}, {contents: x}]}
kind2: {service.running: [{listen: [{file: conf}]}]}
wait: {cmd.wait: [{name: touch /srv/k/heard}, {listen: [{file: conf}]}]}
`}},
	{name: "slots", steps: []string{`
file: {file.managed: [{name: /srv/k/slot1}, {contents: x}]}
slot: {file.managed: [{name: /srv/k/slot2}, {contents: "__slot__:salt:file.file_exists(/srv/k/slot1)"}]}
said: {file.managed: [{name: /srv/k/slot3}, {contents: "__slot__:salt:cmd.run(cat /srv/k/slot1)"}]}
`}, unknown: []string{"said: the slot of its argument contents"}},
	{name: "two steps", steps: []string{`
dir: {file.directory: [{name: /srv/k/steps}]}
`, `
file: {file.managed: [{name: /srv/k/steps/file}, {contents: x}]}
beside: {file.managed: [{name: /srv/k/steps2}, {contents: x}]}
`}},
}

// filters are further ones, about rules for packets: what one state sets, those after it find.
var filters = []kind{
	{name: "iptables", setup: "iptables -F; iptables -A INPUT -p icmp -j ACCEPT; ip6tables -F", steps: []string{`
chain: {iptables.chain_present: [{name: WEB}]}
rule: {iptables.append: [{chain: WEB}, {proto: tcp}, {dport: 80}, {jump: ACCEPT}]}
again: {iptables.append: [{chain: WEB}, {proto: tcp}, {dport: 80}, {jump: ACCEPT}]}
there: {iptables.append: [{chain: INPUT}, {proto: icmp}, {jump: ACCEPT}]}
first: {iptables.insert: [{chain: INPUT}, {position: 1}, {jump: WEB}, {save: /srv/k/rules.v4}]}
saved: {iptables.append: [{chain: INPUT}, {jump: WEB}, {save: /srv/k/rules.v4}]}
policy: {iptables.set_policy: [{chain: FORWARD}, {policy: DROP}]}
policy2: {iptables.set_policy: [{chain: FORWARD}, {policy: DROP}]}
delete: {iptables.delete: [{chain: INPUT}, {proto: icmp}, {jump: ACCEPT}]}
deleted: {iptables.delete: [{chain: INPUT}, {proto: icmp}, {jump: ACCEPT}]}
flush: {iptables.flush: [{chain: WEB}]}
back: {iptables.append: [{chain: WEB}, {proto: tcp}, {dport: 80}, {jump: ACCEPT}]}
six: {iptables.append: [{chain: INPUT}, {family: ipv6}, {jump: ACCEPT}]}
`}},
	{name: "a rule that fails", setup: "iptables -F", steps: []string{`
nosuch: {iptables.append: [{chain: NOSUCH}, {jump: ACCEPT}]}
`}, unknown: []string{"nosuch: it may fail"}},
	{name: "nftables", setup: "nft add table inet k", steps: []string{`
table: {nftables.table_present: [{name: web}, {family: inet}]}
chain: {nftables.chain_present: [{name: in}, {table: web}, {family: inet}, {table_type: filter}, {hook: input}, {priority: 0}]}
rule: {nftables.append: [{chain: in}, {table: web}, {family: inet}, {proto: tcp}, {dport: 80}, {jump: accept}]}
again: {nftables.append: [{chain: in}, {table: web}, {family: inet}, {proto: tcp}, {dport: 80}, {jump: accept}]}
policy: {nftables.set_policy: [{chain: in}, {table: web}, {family: inet}, {policy: accept}]}
delete: {nftables.delete: [{chain: in}, {table: web}, {family: inet}, {proto: tcp}, {dport: 80}, {jump: accept}]}
deleted: {nftables.delete: [{chain: in}, {table: web}, {family: inet}, {proto: tcp}, {dport: 80}, {jump: accept}]}
there: {nftables.table_present: [{name: k}, {family: inet}]}
gone: {nftables.table_absent: [{name: k}, {family: inet}]}
gone2: {nftables.table_absent: [{name: k}, {family: inet}]}
none: {nftables.chain_absent: [{name: in}, {table: k}, {family: inet}]}
`}},
}

// TestPlanKinds plans and runs thirteen kinds of orchestrations, and rules for packets, on a machine, and compares
// state by state: none that is said to change nothing does, all that are sure to change
// something do, and those that are not known are these, for these reasons.
func TestPlanKinds(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	m := machineWithBrine(t)
	m.Write(t, "/case/conf/master", "id: ctl\nfile_roots: {base: [/srv/salt]}\ncachedir: /case/cache\n", 0o644)
	m.Write(t, "/case/conf/roster", "one: {connection: local}\n", 0o644)
	m.Write(t, "/srv/salt/tmpl", "{{ salt['file.file_exists']('/srv/k/first') }}\n", 0o644)
	for _, unit := range []string{"kind", "kind2"} {
		m.Write(t, "/etc/systemd/system/"+unit+".service", "[Service]\nExecStart=/bin/sleep 100000\n[Install]\nWantedBy=multi-user.target\n", 0o644)
	}
	for _, k := range append(slices.Clone(kinds), filters...) {
		if r := m.Shell("/", "mkdir -p /srv/k /srv/salt; "+k.setup); r.Exit != 0 {
			t.Fatalf("%s: %s%s", k.name, r.Stdout, r.Stderr)
		}
		said := map[string]string{}
		orch := ""
		for i, sls := range k.steps {
			step := fmt.Sprintf("step%d", i+1)
			m.Write(t, "/srv/salt/"+step+".sls", sls, 0o644)
			orch += step + ": {salt.state: [{tgt: one}, {sls: " + step + "}]}\n"
			for line := range strings.Lines(sls) {
				if id, _, ok := strings.Cut(line, ":"); ok {
					said[id] = "same"
				}
			}
		}
		m.Write(t, "/srv/salt/orch.sls", orch, 0o644)
		reasons := plannedBy(t, m.Shell("/", "HOME=/root brine plan -c /case/conf orch --out=json").Stdout, said)
		counts := map[string]int{}
		r := m.Shell("/", "HOME=/root brine orchestrate -c /case/conf orch --out=json --no-progress")
		did := changedBy(t, r.Stdout)
		for id, got := range said {
			changed, ran := did[id]
			counts[got]++
			switch {
			case !ran:
				t.Errorf("%s: %s did not run: %s%s", k.name, id, r.Stdout, r.Stderr)
			case got == "change" && !changed:
				t.Errorf("%s: %s was said to change something, and did not", k.name, id)
			case got == "same" && changed:
				t.Errorf("%s: %s was said to change nothing, and did", k.name, id)
			}
		}
		var missed []string
		for _, want := range k.unknown {
			id, word, _ := strings.Cut(want, ": ")
			if why, ok := reasons[id]; !ok || !strings.Contains(why, word) {
				missed = append(missed, want)
			}
			delete(reasons, id)
		}
		if len(missed) > 0 || len(reasons) > 0 {
			t.Errorf("%s: not unknown: %q, unknown as well: %q", k.name, missed, reasons)
		}
		t.Logf("%s: %d states: %v", k.name, len(said), counts)
	}
}

// plannedBy sets what a plan says of states, by ID, and returns why it does not know some.
func plannedBy(t *testing.T, text string, said map[string]string) map[string]string {
	t.Helper()
	var doc struct {
		Steps []struct {
			Groups []struct {
				States []struct{ ID, Effect, Unknown, Comment string }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	reasons := map[string]string{}
	for _, step := range doc.Steps {
		for _, g := range step.Groups {
			for _, st := range g.States {
				said[st.ID] = st.Effect
				if st.Effect != "change" && st.Effect != "same" {
					reasons[st.ID] = st.Effect + " " + st.Unknown + " " + st.Comment
				}
			}
		}
	}
	return reasons
}

// changedBy returns which states a run has, by ID, and whether they changed something.
func changedBy(t *testing.T, text string) map[string]bool {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		if id, ok := m["__id__"].(string); ok {
			changes, _ := m["changes"].(map[string]any)
			out[id] = out[id] || len(changes) > 0
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			walk(m[k])
		}
	}
	walk(doc)
	return out
}
