//go:build linux

package e2e

import (
	"strings"
	"testing"
	"time"
)

// The disk of a queue is full, and then that of the spool of a beacon: events wait until there is
// room, in their order, and count once. Nothing is lost, and what waits is told.
func TestMachinesFullDisk(t *testing.T) {
	t.Parallel()
	m := machineWithBrine(t)
	run := func(exit int, line string, wants ...string) {
		t.Helper()
		out := m.Shell("/root", line)
		text := out.Stdout + out.Stderr
		if out.Exit != exit {
			t.Errorf("%s: exit status %d, want %d\n%s", line, out.Exit, exit, text)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", line, want, text)
			}
		}
	}
	wait := func(what, line string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); m.Shell("/root", line).Exit != 0; time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: not within a minute\n%s", what, m.Shell("/root", "cat worker log; ls -l /q").Stdout)
			}
		}
	}
	m.Write(t, "etc/salt/master", `
id: ctl
file_roots: {base: [/srv/salt]}
cachedir: /var/cache/ctl
queue: {store: sqlite3, database: /q/queue.db}
reactor: [{'deploy/*': [salt://react.sls]}]
event_sinks: {audit: {kind: file, path: /root/audit, tags: 'deploy/*', wait: 0}}
`, 0o644)
	m.Write(t, "srv/salt/react.sls", "note:\n  caller.cmd.run:\n    - args:\n      - cmd: echo {{ data.n }} {{ data.text | length }} >>/root/log\n      - python_shell: true\n", 0o644)
	send := "brine run event.send deploy/a \"{\\\"n\\\": $n, \\\"text\\\": \\\"$(head -c 60000 /dev/zero | tr '\\0' x)\\\"}\" --out=quiet"
	const fill = "dd if=/dev/zero of=/q/fill bs=4k 2>/dev/null; test $(df --output=avail /q | tail -1) -eq 0"

	run(0, "mkdir /q && mount -t tmpfs -o size=3m tmpfs /q")
	run(0, "(brine worker --queue q --react --poll 0.1 2>worker & echo $! >pid; wait $!; echo status $? >>worker) </dev/null >/dev/null 2>&1 & until grep -qs 'events are heard' worker && grep -qs 'events go to' worker; do sleep 0.1; done")
	run(0, "n=1; "+send)
	wait("the first reaction", "grep -q '^1 60000$' log && grep -q deploy/a audit")
	run(0, fill)
	run(0, "for n in 2 3 4; do "+send+"; done")
	wait("the worker says that events wait", "grep -q 'events wait, since the queue does not answer: .*full' worker")
	time.Sleep(3 * time.Second) // longer than it takes a queue that answers to be believed
	run(1, "grep -q '^2' log")
	run(0, "rm /q/fill")
	wait("the reactions", "grep -q '^4 60000$' log")
	run(0, "cat log", "1 60000\n2 60000\n3 60000\n4 60000\n")
	wait("the sink", "test $(grep -c deploy/a audit) -eq 4")
	run(1, "grep -e lost -e 'not taken' worker")
	run(0, "brine run queue.list --out=json | grep -c '\"state\": \"done\"'", "4\n")
	run(0, "kill -TERM $(cat pid)")
	wait("the worker stops", "grep -q 'status 0' worker")

	m.Write(t, "etc/salt/minion", "id: box\ncachedir: /q/cache\nbeacons:\n  log:\n    - file: /root/app.log\n    - tags: {bad: {regex: bad}}\n", 0o644)
	run(0, "echo before >app.log && brine beacon run && echo 'a bad thing' >>app.log")
	run(0, fill)
	run(1, "brine beacon run", "its events go nowhere, and come again in the next run", "no space left on device")
	run(0, "rm /q/fill")
	run(0, "brine beacon run", "salt/beacon/box/log/bad")
	run(0, "brine beacon spool", `"raw":"a bad thing"`, `"left":0`)
	run(0, "brine beacon run; brine beacon spool | grep -o bad/ | wc -l", "0\n")
}
