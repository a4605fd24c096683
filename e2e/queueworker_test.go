//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/queue"
	"brine/internal/testkit/proxytest"
	"brine/internal/testkit/servertest"
)

// testQueueOutage starts a worker while its database is away. It says so once, and runs
// what is queued when the database is there. What the database answers ends a worker.
func testQueueOutage(t *testing.T, name string, srv *servertest.Server) {
	net := proxytest.Start(t, fmt.Sprintf("127.0.0.1:%d", srv.Port), proxytest.Options{})
	net.Refuse(true)
	one, two := sharers(t, cacheIn(name, net.Port()))
	one.write(filepath.Join(one.dir, "tree", "away.sls"), fmt.Sprintf("step1:\n  cmd.run: [{name: 'echo step1 >>%s/log'}]\n", one.dir))
	c, said := one.command("worker", "--queue", "away", "--lease", "10", "--poll", "0.1", "--once"), &safeBuffer{}
	c.Stderr = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	one.wait("the worker's trouble", func() bool { return strings.Contains(said.String(), "the queue does not answer, it is tried again: ") }, said)
	tries := func() int { _, _, begun := net.Conns(); return begun }
	before := tries()
	one.wait("more tries", func() bool { return net.Refused() > 1 }, said)
	net.Refuse(false)
	two.write(filepath.Join(two.own, "roster"), "{}\n")
	jid := jidOf.FindString(two.ends(0, "orchestrate", "away", "--queue", "away"))
	if err := c.Wait(); err != nil {
		t.Errorf("the worker ends with %v", err)
	}
	if text := said.String(); strings.Count(text, "does not answer") != 1 || !strings.Contains(text, "the queue answers again") || !strings.Contains(text, jid+": away is done") {
		t.Errorf("the worker said\n%s", text)
	}
	if tries() == before {
		t.Error("the worker did not use the network of the test")
	}
	wrong := name + ".db: nosuch\n"
	if name != "mysql" {
		wrong = "returner." + wrong
	}
	b, err := os.ReadFile(filepath.Join(two.own, "master"))
	if err != nil {
		t.Fatal(err)
	}
	two.write(filepath.Join(two.own, "master"), string(b)+wrong)
	two.says(1, []string{"nosuch"}, "worker", "--queue", "away")
}

// testConnections looks at the connections of a run, whose returns, history and heartbeats
// are in one database: it is one, and one more while a slow machine has others wait for it for
// seconds. One for each of them would be three. PostgreSQL without TLS is dialled twice for each.
func testConnections(t *testing.T, name string, srv *servertest.Server) {
	net := proxytest.Start(t, fmt.Sprintf("127.0.0.1:%d", srv.Port), proxytest.Options{})
	one, _ := sharers(t, cacheIn(name, net.Port()))
	run, said := one.begun("step3", "orchestrate", "orch")
	one.wait("one connection", func() bool { now, _, _ := net.Conns(); return now == 1 }, said)
	one.write(filepath.Join(one.dir, "gate"), "")
	if err := run.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	dials := 2
	if name != "mysql" {
		dials *= 2
	}
	if _, most, begun := net.Conns(); begun > dials {
		t.Errorf("a run had %d connections to its database at once, %d in all", most, begun)
	}
	for _, table := range []string{"history.list", "jobs.list_jobs"} {
		one.says(0, []string{"orch"}, "run", table)
	}
}

// With --drain-empty a worker waits for the entry of another one that died, until its
// lease has ended. It does not wait for one that lives.
func TestQueueDrainEmptyWaits(t *testing.T) {
	t.Parallel()
	d := newQueueTree(t, "drain", "sqlite3", 0, "one:\n  cmd.run: [{name: 'echo one-{{ pillar.n }} >>{{ opts.config_dir }}/log'}]\n")
	d.put(t, 2)
	take := func(worker string, lease time.Duration) *queue.Entry {
		e, err := d.q.Take(t.Context(), queue.Claim{Queue: d.name, Worker: worker, Lease: lease, MaxCrashes: 9, NewJID: func() string { return d.ids.Next(time.Now()) }}, func(*queue.Entry) {})
		if err != nil || e == nil {
			t.Fatalf("Take = %v, %v", e, err)
		}
		return e
	}
	take("dead/1/x", 3*time.Second)
	alive := take("alive/1/x", time.Minute)
	stop := make(chan struct{})
	renewed := make(chan error)
	go func() {
		defer close(renewed)
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
			if _, err := d.q.Renew(t.Context(), alive, time.Minute); err != nil {
				renewed <- err
				return
			}
		}
	}()
	w := d.worker(t, "--drain-empty")
	<-w.ended
	close(stop)
	if err := <-renewed; err != nil {
		t.Error(err)
	}
	if log := d.log(t); log["one-0"] != 1 || log["one-1"] != 0 {
		t.Errorf("the steps ran %v, want that of the entry of the dead worker\n%s", log, w.says())
	}
	if n := d.count(t, queue.Running); n != 1 {
		t.Errorf("%d entries are running, want that of the worker that lives\n%s", n, w.says())
	}
}

// unitOfDocs returns the unit for systemd of docs/queue.md.
func unitOfDocs(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("docs", "queue.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, there := strings.Cut(string(b), "```ini\n# /etc/systemd/system/brine-worker@.service\n")
	unit, _, ends := strings.Cut(rest, "```")
	if !there || !ends {
		t.Fatal("docs/queue.md has no unit for workers")
	}
	return unit
}

// The unit of the docs is one that systemd takes, starts at boot, and starts a worker
// again however often it ends: an hour in which it ends at once is no reason to give up.
func TestQueueUnit(t *testing.T) {
	t.Parallel()
	unit := unitOfDocs(t)
	sections := map[string]map[string]string{}
	section := ""
	for line := range strings.Lines(unit) {
		line = strings.TrimSpace(line)
		if name, is := strings.CutPrefix(line, "["); is {
			section = strings.TrimSuffix(name, "]")
			sections[section] = map[string]string{}
		} else if k, v, is := strings.Cut(line, "="); is {
			sections[section][k] = v
		}
	}
	for _, want := range [][3]string{
		{"Unit", "StartLimitIntervalSec", "0"}, {"Service", "Restart", "always"}, {"Service", "KillMode", "mixed"}, {"Install", "WantedBy", "multi-user.target"},
	} {
		if got := sections[want[0]][want[1]]; got != want[2] {
			t.Errorf("[%s] %s=%s, want %s", want[0], want[1], got, want[2])
		}
	}
	if sections["Service"]["RestartSec"] == "" {
		t.Error("without RestartSec a worker that ends at once is started ten times a second")
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: the unit is not given to systemd")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "brine-worker@1.service")
	if err := os.WriteFile(path, []byte(strings.Replace(unit, "/usr/bin/brine", "/bin/true", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(analyze, "verify", path)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Run(); err != nil || strings.Contains(said.String(), path) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, said.String())
	}
}
