//go:build linux

package e2e

import (
	"slices"
	"strings"
	"testing"

	"brine/internal/testkit/turn"
)

// webServer are the states of a plain web server, for a host that has nothing of it.
const webServer = `
group: {group.present: [{name: web}, {gid: 3100}]}
user: {user.present: [{name: web}, {uid: 3100}, {gid: 3100}, {home: /srv/www}, {shell: /usr/sbin/nologin}]}
package: {pkg.installed: [{pkgs: [brine-svc, brine-conf]}, {refresh: False}]}
directory: {file.directory: [{name: /etc/web/sites-enabled}, {makedirs: True}, {require: [{pkg: package}]}]}
config: {file.managed: [{name: /etc/web/web.conf}, {source: "salt://web.conf"}, {template: jinja}, {require: [{file: directory}]}]}
site: {file.managed: [{name: /etc/web/sites-available/one}, {contents: one}, {makedirs: True}]}
enabled: {file.symlink: [{name: /etc/web/sites-enabled/one}, {target: /etc/web/sites-available/one}]}
default: {file.absent: [{name: /etc/web/sites-enabled/default}]}
root: {file.directory: [{name: /srv/www/html}, {user: web}, {group: web}, {require: [{user: user}]}]}
index: {file.managed: [{name: /srv/www/html/index.html}, {contents: hello}, {user: web}, {group: web}, {require: [{file: root}]}]}
pages: {file.recurse: [{name: /srv/www/html/pages}, {source: "salt://pages"}, {user: web}, {require: [{file: root}]}]}
logs: {file.directory: [{name: /var/log/web}, {user: web}, {mode: '0750'}]}
rotate: {file.managed: [{name: /etc/logrotate.d/web}, {contents: rotate}, {makedirs: True}]}
key: {ssh_auth.present: [{name: AAAAC3NzaC1lZDI1NTE5AAAAIHqVRIbnjnN1SCyWbPeTdWqIKLLTIW2+IfTD2LXwXOxL}, {enc: ssh-ed25519}, {user: web}]}
job: {cron.present: [{name: /usr/bin/true}, {user: web}, {minute: 5}, {identifier: web}]}
name: {host.present: [{name: web.example.com}, {ip: 192.0.2.7}]}
default file: {file.managed: [{name: /etc/default/web}, {contents: A=1}]}
more: {file.append: [{name: /etc/default/web}, {text: B=2}, {require: [{file: default file}]}]}
ini: {ini.options_present: [{name: /etc/web/limits.ini}, {sections: {main: {workers: 4}}}]}
certificates: {archive.extracted: [{name: /etc/web/certs}, {source: "salt://certs.tar"}, {enforce_toplevel: False}]}
certificate: {file.symlink: [{name: /etc/web/current.pem}, {target: /etc/web/certs/one.pem}, {require: [{archive: certificates}]}]}
check: {cmd.run: [{name: test -s /etc/web/web.conf}, {onchanges: [{file: config}]}]}
prepare: {cmd.run: [{name: touch /srv/www/prepared}, {unless: test -e /srv/www/prepared}, {require: [{user: user}]}]}
service: {service.running: [{name: brine-svc}, {enable: True}, {require: [{pkg: package}]}, {watch: [{file: config}]}]}
`

// TestPlanWebServer plans a plain web server for a fresh host and runs it: of its 24 states,
// the plan does not know what three at most do, and these depend on commands. The others do
// what it says.
func TestPlanWebServer(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	m := machineWithBrine(t)
	m.Write(t, "/case/conf/master", "id: ctl\nfile_roots: {base: [/srv/salt]}\ncachedir: /case/cache\n", 0o644)
	m.Write(t, "/case/conf/roster", "one: {connection: local}\n", 0o644)
	m.Write(t, "/srv/salt/web.sls", webServer, 0o644)
	m.Write(t, "/srv/salt/web.conf", "listen {{ grains.id }}\n", 0o644)
	m.Write(t, "/srv/salt/pages/a/b.html", "b\n", 0o644)
	if r := m.Shell("/", "apt-get -q update; echo x > /tmp/one.pem; tar cf /srv/salt/certs.tar -C /tmp one.pem"); r.Exit != 0 {
		t.Fatal(r.Stdout, r.Stderr)
	}
	said := map[string]string{}
	for line := range strings.Lines(webServer) {
		if id, _, ok := strings.Cut(line, ": {"); ok {
			said[id] = "same"
		}
	}
	if len(said) != 24 {
		t.Fatalf("%d states", len(said))
	}
	reasons := plannedBy(t, m.Shell("/", "HOME=/root brine plan -c /case/conf --ssh one state.apply web --out=json").Stdout, said)
	if len(reasons) > 3 {
		t.Errorf("%d of the states are not known: %q", len(reasons), reasons)
	}
	for id, why := range reasons {
		if !strings.Contains(why, "command") && !strings.Contains(why, "condition") {
			t.Errorf("%s does not depend on a command: %s", id, why)
		}
	}
	r := m.Shell("/", "HOME=/root brine ssh -c /case/conf one state.apply web --out=json --no-progress")
	did := changedBy(t, r.Stdout)
	for id, got := range said {
		if changed, ran := did[id]; !ran || got == "change" && !changed || got == "same" && changed {
			t.Errorf("%s was said to %s: it ran %t and changed something %t", id, got, ran, changed)
		}
	}
	t.Logf("%d states, %d not known: %q", len(said), len(reasons), reasons)
	if t.Failed() {
		t.Log(r.Stdout, r.Stderr)
	}
	if !slices.Contains(strings.Fields(m.Shell("/", "systemctl is-active brine-svc").Stdout), "active") {
		t.Error("the service does not run")
	}
}
