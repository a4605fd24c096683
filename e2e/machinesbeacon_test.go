//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/queue"
	"brine/internal/py/value"
	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// A disk fills up on one of two machines: a beacon that a timer of systemd starts tells of
// it, a worker collects the event over SSH and starts an orchestration, which cleans up
// there. A path unit tells of a file that changes.
func TestMachinesBeacon(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	brine := staticBrine(t)
	dir := t.TempDir()
	f := bootFleet(t, image, dir, 2)
	for path, text := range map[string]string{
		"salt/react.sls":   "clean:\n  runner.state.orchestrate:\n    - args:\n      - mods: clean\n      - pillar: {id: {{ data.id }}, mount: {{ data.mount }}}\n",
		"salt/clean.sls":   "clean up:\n  salt.function:\n    - name: cmd.run\n    - tgt: {{ pillar.id }}\n    - arg: ['rm -f {{ pillar.mount }}/big; echo {{ pillar.mount }} >>/root/cleaned']\n",
		"salt/changed.sls": "note:\n  caller.cmd.run:\n    - args:\n      - cmd: echo {{ data.id }} {{ data.path }} {{ data.change }} >>" + dir + "/changed\n      - python_shell: true\n",
		"master": "id: ctl\nfile_roots: {base: [" + dir + "/salt]}\ncachedir: " + dir + "/cache\nqueue: {store: sqlite3, database: " + dir + "/queue.db}\n" +
			"reactor:\n  - 'salt/beacon/*/diskusage/*': [salt://react.sls]\n  - 'salt/beacon/*/inotify/*': [salt://changed.sls]\nreactor_coalesce:\n  - 'salt/beacon/*/diskusage/*': [id, mount]\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(i int, line string, wants ...string) {
		t.Helper()
		out := f.machines[i].Shell("/root", line)
		for _, want := range append([]string{""}, wants...) {
			if out.Exit != 0 || !strings.Contains(out.Stdout+out.Stderr, want) {
				t.Errorf("%s: %d, no %q in\n%s%s", line, out.Exit, want, out.Stdout, out.Stderr)
			}
		}
	}
	for i, m := range f.machines {
		m.Install(t, brineInside, brine)
		m.Write(t, "etc/salt/minion", "id: a-name-of-its-own\nbeacons:\n  diskusage:\n    - /data: 80%\n  inotify:\n    - files: {/etc/watched: {mask: [modify]}}\n", 0o644)
		m.Write(t, "etc/watched", "one\n", 0o644)
		run(i, "mkdir /data && mount -t tmpfs -o size=8m tmpfs /data && dd if=/dev/zero of=/data/big bs=1M count=1 status=none")
		run(i, "brine beacon install --every 2", "brine-beacon.timer: installed", "brine-beacon-files.path: installed")
	}
	run(0, "systemd-analyze verify /etc/systemd/system/brine-beacon*")
	worker := f.command(brine, "worker", "--queue", "q", "--react", "--collect", "box*", "--every", "1", "--poll", "0.1")
	var said bytes.Buffer
	worker.Stderr = &said
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = worker.Process.Signal(os.Interrupt)
		_ = worker.Wait()
		if t.Failed() {
			t.Logf("the worker: %s", &said)
		}
	})
	until := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !done(); time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: not within a minute\n%s", what, f.machines[0].Shell("/root", "journalctl -u 'brine-beacon*' -n 30 --no-pager; cat /var/cache/salt/minion/beacons/* ").Stdout)
			}
		}
	}
	until("the beacons look", func() bool { return f.machines[0].Shell("/", "brine beacon list | grep -c looked").Stdout == "2\n" })
	run(0, "dd if=/dev/zero of=/data/big bs=1M count=7 status=none")
	until("the disk is cleaned up", func() bool { return f.machines[0].Shell("/", "test ! -e /data/big").Exit == 0 })
	run(1, "test -s /data/big && test ! -e /root/cleaned")
	// Each look that found the disk full has one reaction, at most, and that cleaned up once.
	reactions := 0
	until("the reactions are done", func() bool {
		out, err := f.command(brine, "run", "queue.list", "--out=json").Output()
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.ParseJSON(string(out))
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			t.Fatalf("%v: %s", err, out)
		}
		reactions = 0
		for _, v := range m.All() {
			e := v.(*value.Map)
			switch state := e.Str("state"); {
			case !strings.HasPrefix(e.Str("event"), "salt/beacon/box1/diskusage/"):
				t.Errorf("an entry of the queue: %s", value.Repr(e))
			case state == queue.Queued || state == queue.Running:
				return false
			case state != queue.Done:
				t.Errorf("a reaction is %s: %s", state, value.Repr(e))
			}
			reactions++
		}
		return true
	})
	if reactions == 0 {
		t.Error("the queue has no reaction")
	}
	if out := f.machines[0].Shell("/", "grep -cx /data /root/cleaned"); out.Stdout != fmt.Sprintln(reactions) {
		t.Errorf("%d reactions are done, and cleaned up %s times", reactions, out.Stdout)
	}
	run(0, "echo two >/etc/watched")
	until("the change is told", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "changed"))
		return strings.Contains(string(b), "box1 /etc/watched IN_MODIFY")
	})
	run(0, "brine beacon uninstall", "brine-beacon.timer: removed", "brine-beacon-files.path: removed")
	run(0, "ls /etc/systemd/system/ | grep -c brine-beacon || true", "0\n")
	run(0, "brine beacon uninstall", "no unit of beacons is installed")
}
