package schedule

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/host"
)

// fakeCron is a machine with crontab(1) that notes what is installed.
func fakeCron(t *testing.T, text *string) *Installer {
	h := host.NewFake()
	h.PutExe("/usr/bin/crontab")
	h.HandleCommand("crontab *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if len(c.Argv) == 2 && c.Argv[1] == "-l" {
			if *text == "" {
				return host.Output{Status: 1, Stderr: []byte("no crontab for root\n")}, nil
			}
			return host.Output{Stdout: []byte(*text)}, nil
		}
		b, err := io.ReadAll(c.Stdin)
		*text = string(b)
		return host.Output{}, err
	})
	return &Installer{Host: h, Exe: "/usr/bin/brine", Config: "/etc/salt"}
}

func said(changes []Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, c.Name+" "+c.What)
	}
	return strings.Join(out, ", ")
}

// TestCrontab installs, changes and removes lines beside those of others.
func TestCrontab(t *testing.T) {
	t.Parallel()
	text := "MAILTO=root\n# mine\n1 2 * * * own\n"
	in := fakeCron(t, &text)
	jobs := read(t, `
high: {function: state.highstate, minutes: 5, returner: mysql}
"odd 100% 'x'": {function: cmd.run, args: ["date +%s; echo 'x'"], cron: '0 4 * * *', run_on_start: true}
`).Jobs
	for _, want := range []string{"high installed, odd 100% 'x' installed", ""} {
		changes, err := in.Install(t.Context(), jobs)
		if err != nil || said(changes) != want {
			t.Errorf("install: %q, %v, want %q", said(changes), err, want)
		}
	}
	want := `MAILTO=root
# mine
1 2 * * * own
# brine schedule: high
*/5 * * * * /usr/bin/brine call --local -c /etc/salt --schedule high
# brine schedule: odd 100% 'x'
@reboot /usr/bin/brine call --local -c /etc/salt --schedule 'odd 100\% '\''x'\'''
# brine schedule: odd 100% 'x'
0 4 * * * /usr/bin/brine call --local -c /etc/salt --schedule 'odd 100\% '\''x'\'''
`
	if text != want {
		t.Errorf("the crontab is\n%s\nwant\n%s", text, want)
	}
	installed, err := in.Installed(t.Context())
	if err != nil || in.State(installed, jobs[0]) != "installed" || in.State(installed, jobs[1]) != "installed" {
		t.Errorf("installed: %v, %v", installed, err)
	}
	jobs[0].Args = append(jobs[0].Args, "web") // which the call reads
	if got := in.State(installed, jobs[0]); got != "installed" {
		t.Errorf("a job with other arguments is %q", got)
	}
	jobs[0].Every *= 2
	if got := in.State(installed, jobs[0]); got != "outdated" {
		t.Errorf("a job that changed is %q", got)
	}
	if changes, err := in.Install(t.Context(), jobs[:1]); err != nil || said(changes) != "high updated, odd 100% 'x' removed" {
		t.Errorf("install: %q, %v", said(changes), err)
	}
	if changes, err := in.Remove(t.Context(), []string{"high", "none"}); err != nil || said(changes) != "high removed" {
		t.Errorf("remove: %q, %v", said(changes), err)
	}
	if text != "MAILTO=root\n# mine\n1 2 * * * own\n" {
		t.Errorf("what is left: %q", text)
	}
}

// TestCrontabRefuses names what a crontab cannot have; the other jobs are
// installed.
func TestCrontabRefuses(t *testing.T) {
	t.Parallel()
	text := ""
	in := fakeCron(t, &text)
	s := read(t, `
fine: {function: f.f, hours: 6}
seconds: {function: f.f, seconds: 30}
odd: {function: f.f, minutes: 7}
days: {function: f.f, days: 2}
once: {function: f.f, once: '2027-01-01 00:00'}
year: {function: f.f, when: '2027-01-01 00:00'}
fields: {function: f.f, cron: '* * * * * 5'}
later: {function: f.f, minutes: 1, run_after_skip_range: true}
`)
	if len(s.Faults) > 0 {
		t.Fatal(s.Faults)
	}
	changes, err := in.Install(t.Context(), s.Jobs)
	if said(changes) != "fine installed" {
		t.Errorf("installed: %s", said(changes))
	}
	for _, want := range []string{
		`"seconds": seconds: a crontab has no interval of 30s`, `"odd": minutes: a crontab has no interval of 7m0s`, `"days": hours: a crontab`,
		`"once": once: a crontab has no years`, `"year": when: a crontab has no years`,
		`"fields": cron: a crontab has no seconds`, `"later": run_after_skip_range: this needs a process`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestUnits installs, changes and removes timers.
func TestUnits(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutDir("/run/systemd/system", 0o755)
	h.PutDir("/etc/systemd/system", 0o755)
	h.PutFile("/etc/systemd/system/other.timer", "x", 0o644)
	var calls []string
	h.HandleCommand("systemctl *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		calls = append(calls, strings.Join(c.Argv[1:], " "))
		return host.Output{}, nil
	})
	in := &Installer{Host: h, Exe: "/usr/bin/brine", Config: "/etc/salt"}
	jobs := read(t, `
high: {function: state.highstate, seconds: 60, splay: 10}
'night 100% $HOME "x"': {function: cmd.run, args: [date], cron: '30 2 13 * fri', splay: {start: 5, end: 9}}
boot: {function: test.ping, run_on_start: true, when: ['5pm', 'Monday 3am']}
`).Jobs
	for _, want := range []string{`high installed, night 100% $HOME "x" installed, boot installed`, ""} {
		if changes, err := in.Install(t.Context(), jobs); err != nil || said(changes) != want {
			t.Errorf("install: %q, %v, want %q", said(changes), err, want)
		}
	}
	wantCalls := []string{
		"daemon-reload",
		"enable -- brine-schedule-high.timer NIGHT.timer brine-schedule-boot.timer",
		"restart -- brine-schedule-high.timer NIGHT.timer brine-schedule-boot.timer",
	}
	night := unitName(`night 100% $HOME "x"`)
	for i := range wantCalls {
		wantCalls[i] = strings.ReplaceAll(wantCalls[i], "NIGHT", night)
	}
	if !slices.Equal(calls, wantCalls) {
		t.Errorf("systemctl was called with %q", calls)
	}
	for name, wants := range map[string][]string{
		"brine-schedule-high.service": {"Type=oneshot\n", "ExecStart=/usr/bin/brine call --local -c /etc/salt --schedule high\n"},
		"brine-schedule-high.timer":   {"OnActiveSec=60s\nOnUnitActiveSec=60s\nAccuracySec=1s\nRandomizedDelaySec=10s\n", "WantedBy=timers.target"},
		night + ".service":            {`--schedule "night 100%% $$HOME \"x\"" --splay 5:9` + "\n"},
		night + ".timer":              {"OnCalendar=*-*-13 02:30:00\nOnCalendar=Fri *-*-* 02:30:00\nAccuracySec=1s\nUnit="},
		"brine-schedule-boot.timer":   {"OnActiveSec=1s\nOnCalendar=*-*-* 17:00:00\nOnCalendar=Mon *-*-* 03:00:00\n"},
	} {
		b, err := h.ReadFile("/etc/systemd/system/" + name)
		for _, want := range wants {
			if err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s has no %q: %v\n%s", name, want, err, b)
			}
		}
	}
	calls = nil
	jobs[2].Enabled = false
	jobs[0].Every *= 2
	if changes, err := in.Install(t.Context(), jobs); err != nil || said(changes) != "high updated, boot removed" {
		t.Errorf("install: %q, %v", said(changes), err)
	}
	if changes, err := in.Remove(t.Context(), []string{"high"}); err != nil || said(changes) != "high removed" {
		t.Errorf("remove: %q, %v", said(changes), err)
	}
	if changes, err := in.Install(t.Context(), nil); err != nil || len(changes) != 1 {
		t.Errorf("remove all: %q, %v", said(changes), err)
	}
	names, _ := h.ReadDir("/etc/systemd/system")
	if got := fmt.Sprint(names); got != "[other.timer]" {
		t.Errorf("what is left: %s", got)
	}
}

// TestNothingServes says what to do where there is neither.
func TestNothingServes(t *testing.T) {
	t.Parallel()
	in := &Installer{Host: host.NewFake()}
	if _, err := in.Install(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "'brine schedule run'") {
		t.Errorf("%v", err)
	}
}
