//go:build linux

package e2e

import (
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/turn"
)

// The schedule of a highstate, on a machine with systemd: its timer is installed,
// fires, hands the return to a returner, and goes when its job goes.
func TestMachinesSchedule(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	m := machineWithBrine(t)
	m.Write(t, "etc/salt/minion", `
returner.rawfile_json.filename: /var/log/returns
schedule:
  highstate: {function: state.highstate, seconds: 1, returner: rawfile_json}
  minute: {function: state.highstate, minutes: 1, splay: 5}
  night: {function: cmd.run, args: ['echo 100% "$((6*7))"'], when: [Monday 5:00pm, '3:00'], run_on_start: true}
  cron: {function: test.ping, cron: '*/5 0 13 * fri'}
`, 0o644)
	m.Write(t, "srv/salt/top.sls", "base: {'*': [web]}\n", 0o644)
	m.Write(t, "srv/salt/web.sls", "here: {test.nop: []}\n", 0o644)
	m.Write(t, "srv/salt/jobs.sls", "hourly: {schedule.present: [{function: test.ping}, {hours: 1}]}\n", 0o644)
	run := func(exit int, line string, wants ...string) string {
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
		return text
	}
	run(0, "brine schedule install", "highstate: installed", "minute: installed", "night: installed", "cron: installed")
	run(0, "brine schedule install", "the 4 job(s) of the schedule are installed already")
	run(0, "systemd-analyze verify /etc/systemd/system/brine-schedule-*")
	run(0, "systemctl list-timers --all", "brine-schedule-minute.timer", "brine-schedule-cron.timer", "brine-schedule-night.timer")
	run(0, "brine schedule list", "installed")
	wait := func(what, line string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
			if out := m.Shell("/root", line); out.Exit == 0 {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: not within a minute\n%s", what, m.Shell("/root", "journalctl -n 30 --no-pager").Stdout)
			}
		}
	}
	wait("two highstates", "test $(grep -c state.highstate /var/log/returns) -ge 2")
	wait("the run on start", "journalctl -u brine-schedule-night.service --no-pager | grep -q '100% 42'")
	run(0, "brine call state.apply jobs", "Adding new job hourly to schedule")
	run(0, "systemctl is-active brine-schedule-hourly.timer", "active")
	// Over SSH it is the target's own configuration and its own brine.
	const ctl = "/srv/ctl"
	m.Write(t, ctl+"/master", "file_roots: {base: [/srv/salt]}\ncachedir: "+ctl+"/cache\n", 0o644)
	m.Write(t, ctl+"/roster", "here: {host: 127.0.0.1, port: "+casePort+", user: root, priv: "+ctl+"/user}\n", 0o644)
	m.Write(t, ctl+"/sshd_config", "Port "+casePort+"\nListenAddress 127.0.0.1\nHostKey "+ctl+"/host\nAuthorizedKeysFile "+ctl+"/user.pub\nUsePAM yes\nPidFile none\nPermitRootLogin yes\n", 0o644)
	m.Write(t, "srv/salt/schedules.sls", "ssh highstate:\n  schedule.present:\n    - function: state.highstate\n    - minutes: 1\n    - splay: 5\n    - returner: rawfile_json\n", 0o644)
	run(0, "cd "+ctl+" && ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user && mkdir -p /run/sshd && /usr/sbin/sshd -f "+ctl+"/sshd_config -E sshd.log")
	wait("sshd", "ss -ltn | grep -q :"+casePort)
	ssh := "HOME=" + ctl + " brine ssh -c " + ctl + " --host-keys=off --no-progress '*' "
	run(0, ssh+"state.apply schedules", "Adding new job ssh highstate to schedule")
	run(0, ssh+"state.apply schedules", "Succeeded: 1")
	run(0, "grep -A6 'ssh highstate' /etc/salt/minion.d/_schedule.conf", "minutes: 1")
	run(0, "systemctl list-timers --all", "brine-schedule-ssh_highstate")
	run(0, "grep -h -e ExecStart -e OnUnit -e Delay /etc/systemd/system/brine-schedule-ssh_highstate*", "/usr/local/bin/brine call --local -c /etc/salt --schedule \"ssh highstate\"", "OnUnitActiveSec=60s", "RandomizedDelaySec=5s")
	run(0, ssh+"schedule.postpone_job 'ssh highstate' 2999-11-26T12:00:00 2999-11-26T13:00:00", "Postponed Job ssh highstate in schedule.")
	run(0, "cat /etc/systemd/system/brine-schedule-ssh_highstate*.timer", "OnCalendar=2999-11-26 13:00:00")
	run(0, "systemd-analyze verify /etc/systemd/system/brine-schedule-*")
	run(0, ssh+"schedule.run_job 'ssh highstate'", "Scheduling Job ssh highstate on minion.")
	run(0, ssh+"schedule.delete 'ssh highstate'", "Deleted Job ssh highstate from schedule.")
	run(0, "brine call schedule.delete highstate", "Deleted Job highstate from schedule.")
	if text := run(0, "systemctl list-timers --all"); strings.Contains(text, "highstate.timer") {
		t.Errorf("the timer of highstate is left:\n%s", text)
	}
	run(0, "brine schedule remove", "minute: removed", "hourly: removed")
	run(0, "ls /etc/systemd/system/brine-* 2>/dev/null | wc -l", "0\n")
}
