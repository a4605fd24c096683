//go:build linux

package e2e

import (
	"strings"
	"testing"

	"brine/internal/testkit/turn"
)

// TestPlanPackages plans and applies packages beside the real apt: what comes along is
// shown, a plan changes nothing, and a plan that would be a downgrade by now is refused.
func TestPlanPackages(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	m := machineWithBrine(t)
	m.Write(t, "/case/conf/minion", "id: minion1\nfile_client: local\nfile_roots: {base: [/srv/salt]}\n", 0o644)
	m.Write(t, "/srv/salt/one.sls", "brine-a:\n  pkg.installed: [{version: '1.0', refresh: False}]\n", 0o644)
	m.Write(t, "/srv/salt/dep.sls", "brine-b:\n  pkg.installed: [{refresh: False}]\n", 0o644)
	m.Write(t, "/srv/salt/clash.sls", "brine-conflict:\n  pkg.installed: [{refresh: False}]\n", 0o644)
	m.Write(t, "/srv/salt/gone.sls", "brine-a:\n  pkg.removed: []\n", 0o644)
	run := func(line string, exit int, want ...string) {
		t.Helper()
		r := m.Shell("/", line)
		if r.Exit != exit {
			t.Errorf("%s: status %d\n%s%s", line, r.Exit, r.Stdout, r.Stderr)
		}
		for _, w := range want {
			if !strings.Contains(r.Stdout+r.Stderr, w) {
				t.Errorf("%s: no %q in\n%s%s", line, w, r.Stdout, r.Stderr)
			}
		}
	}
	const plan = "HOME=/root brine plan -c /case/conf --call state.apply "
	run("apt-get -q update", 0)
	run(plan+"dep", 0, "install brine-b 1.0", "install brine-a 2.0 (comes along)")
	run(plan+"one -o /root/one.plan", 0, "install brine-a 1.0")
	run("dpkg-query -W brine-a", 1)
	run("apt-get -q -y install brine-a=2.0", 0)
	run("HOME=/root brine apply /root/one.plan --yes", 1, "minion1 answers differently: brine-a (pkg.installed) would do something else", "nothing was run")
	run("dpkg-query -W -f '${Version}' brine-a", 0, "2.0")
	run(plan+"one -o /root/one.plan", 0, "downgrade brine-a from 2.0 to 1.0", "1 downgrade")
	run("HOME=/root brine apply /root/one.plan --yes", 0)
	run("dpkg-query -W -f '${Version}' brine-a", 0, "1.0")
	run("apt-get -q -y install brine-b", 0)
	run(plan+"clash", 0, "install brine-conflict", "remove brine-a 1.0 (comes along)", "remove brine-b 1.0 (comes along)")
	run(plan+"gone", 0, "remove brine-a 1.0", "remove brine-b 1.0 (comes along)", "2 packages removed")
	run("dpkg-query -W brine-a brine-b", 0)
}
