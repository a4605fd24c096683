package schedule

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// secretJobs are jobs with each kind of argument that may be secret; every secret
// contains "hunter2".
const secretJobs = `
name: {function: f.f, minutes: 5, kwargs: {password: hunter2-a, api_token: hunter2-b}}
position: {function: mysql.user_create, minutes: 5, args: [ana, localhost, hunter2-c]}
env: {function: cmd.run, minutes: 5, args: [date], kwargs: {env: {KEY: hunter2-d}, stdin: hunter2-e}}
envs: {function: cmd.run, minutes: 5, args: [date], job_kwargs: {env: [{KEY: hunter2-f}]}}
pillar: {function: state.apply, minutes: 5, args: [web], kwargs: {pillar: {db: {password: hunter2-g}}}}
url: {function: git.clone, minutes: 5, job_args: [/srv/x, 'https://ana:hunter2-h@example.com/x']}
lines: {function: f.f, minutes: 5, args: ["-----BEGIN KEY-----\nhunter2-i\n"]}
returner: {function: f.f, minutes: 5, returner: mysql, return_config: hunter2-j, return_kwargs: {pass: hunter2-k}}
metadata: {function: f.f, minutes: 5, metadata: {token: hunter2-l}}
splayed: {function: f.f, minutes: 5, splay: {start: 5, end: 9}, kwargs: {password: hunter2-m}}
start: {function: f.f, run_on_start: true, kwargs: {password: hunter2-n}}
`

// TestHostileReaders: neither units nor a crontab nor a command line have any argument
// of a job, and the call of a job has all of them.
func TestHostileReaders(t *testing.T) {
	t.Parallel()
	s := read(t, secretJobs)
	jobs := s.Jobs
	if len(s.Faults) > 0 || len(jobs) != strings.Count(secretJobs, "function:") {
		t.Fatalf("%d jobs are read: %v", len(jobs), s.Faults)
	}
	free := func(what, text string) {
		t.Helper()
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s has a secret:\n%s", what, text)
		}
	}
	h := host.NewFake()
	h.PutDir("/run/systemd/system", 0o755)
	h.PutDir("/etc/systemd/system", 0o755)
	h.HandleCommand("systemctl *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		free("systemctl", strings.Join(c.Argv, " "))
		return host.Output{}, nil
	})
	lines := ""
	for kind, in := range map[string]*Installer{Systemd: {Host: h, Exe: "/usr/bin/brine", Config: "/etc/salt"}, Crontab: fakeCron(t, &lines)} {
		changes, err := in.Install(t.Context(), jobs)
		if err != nil || len(changes) != len(jobs) {
			t.Errorf("%s: installed %s, %v", kind, said(changes), err)
		}
		for _, j := range jobs {
			text, err := in.Show(j)
			if err != nil || !strings.Contains(text, "--schedule "+j.Name) {
				t.Errorf("%s: %v\n%s", j.Name, err, text)
			}
			free(kind, text)
		}
	}
	free("the crontab", lines)
	names, err := h.ReadDir("/etc/systemd/system")
	if err != nil || len(names) != 2*len(jobs) {
		t.Fatalf("units: %q, %v", names, err)
	}
	for _, n := range names {
		p := filepath.Join("/etc/systemd/system", n)
		text, err := h.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		free(p, string(text))
		if st, err := h.Stat(p); err != nil || st.Mode.Perm() != fs.FileMode(0o644) {
			t.Errorf("%s has the mode %v, %v", p, st.Mode, err)
		}
	}
	for _, j := range jobs {
		free("the command line", strings.Join(j.Command("/etc/salt", true), " "))
		args := j.Call()
		if !value.Equal(value.NewList(args.Pos...), value.NewList(j.Args...)) || !value.Equal(args.Kw, j.Kwargs) {
			t.Errorf("%s is called with %v, %v", j.Name, args.Pos, args.Kw)
		}
		for _, v := range args.Kw.All() {
			if m, ok := v.(*value.Map); ok {
				m.Set("more", "x")
			}
		}
		if strings.Contains(fmt.Sprint(value.Repr(j.Kwargs)), "more") {
			t.Errorf("a call changes the job %s", j.Name)
		}
	}
}
