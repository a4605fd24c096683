package at_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	atmod "brine/modules/at"
	"brine/states/at"
)

// machine has an at(1) that keeps jobs in memory.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 1000, Home: "/home/ann", Shell: "/bin/sh"})
	h.PutDir("/home/ann", 0o755)
	h.PutExe("/usr/bin/at")
	type job struct{ line, script string }
	jobs, next := map[int]job{}, 1
	h.HandleCommand("atq", func(context.Context, host.Cmd) (host.Output, error) {
		var b strings.Builder
		for i := next; i > 0; i-- {
			if j, ok := jobs[i]; ok {
				fmt.Fprintf(&b, "%d\t%s\n", i, j.line)
			}
		}
		return host.Output{Stdout: []byte(b.String())}, nil
	})
	h.HandleCommand("*at *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		switch args := c.Argv[1:]; args[0] {
		case "-c":
			n, _ := strconv.Atoi(args[1])
			return host.Output{Stdout: []byte(jobs[n].script)}, nil
		case "-d":
			for _, a := range args[1:] {
				n, err := strconv.Atoi(a)
				if _, ok := jobs[n]; !ok || err != nil {
					return host.Output{Status: 1, Stdout: []byte("Cannot find jobid " + a + "\n")}, nil
				}
				delete(jobs, n)
			}
			return host.Output{}, nil
		case "nonsense":
			return host.Output{Status: 1, Stdout: []byte("syntax error. Last token seen: n\nGarbled time\n")}, nil
		case "denied":
			return host.Output{Status: 1, Stdout: []byte("You do not have permission to use at.\n")}, nil
		}
		user := "root"
		if c.User != nil {
			user = c.User.Name
		}
		script, err := io.ReadAll(c.Stdin)
		jobs[next] = job{"Wed Dec 31 23:59:00 2098 a " + user, "#!/bin/sh\ncd /root\n" + string(script) + "\n"}
		next++
		return host.Output{Stdout: fmt.Appendf(nil, "warning: commands will be executed using /bin/sh\njob %d at Wed Dec 31 23:59:00 2098\n", next-1)}, err
	})
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "at", Load: atmod.Module}, fun.Entry{Kind: fun.State, Name: "at", Load: at.States})
}

func TestJobs(t *testing.T) {
	t.Parallel()
	rig(machine()).Steps(t, []calltest.Step{
		{"call at.atq []", "{'jobs': []}"},
		{"call at.at [noon]", "{'jobs': []}"},
		{"test at.present {name: echo hi, timespec: '23:59 2098-12-31', tag: rec}", "None: job echo hi added and will run on 23:59 2098-12-31 {}"},
		{"state at.present {name: echo hi, timespec: '23:59 2098-12-31', tag: rec}", "True: job echo hi added and will run on 23:59 2098-12-31 {'job': 1, 'date': '2098-12-31', 'time': '23:59:00', 'queue': 'a', 'user': 'root', 'tag': 'rec'}"},
		{"state at.present {name: u, job: echo u, timespec: noon, tag: uniq, unique_tag: true, user: ann}", "True: job echo u added and will run as ann on noon {'job': 2, 'date': '2098-12-31', 'time': '23:59:00', 'queue': 'a', 'user': 'ann', 'tag': 'uniq'}"},
		{"state at.present {name: echo u, timespec: noon, tag: uniq, unique_tag: true}", "True: atleast one job with tag uniq exists. {}"},
		{"test at.present {name: echo u, timespec: noon, tag: uniq, unique_tag: true}", "True: atleast one job with tag uniq exists. {}"},
		{"state at.present {name: echo u, timespec: noon, unique_tag: true}", "False: no tag provided and unique_tag is set to True {}"},
		{"state at.present {name: echo u, timespec: noon, user: bob}", "False: user bob does not exists {}"},
		{"state at.present {name: echo x, timespec: nonsense}", "False: invalid timespec {}"},
		{"state at.present {name: echo x, timespec: -f /etc/shadow}", "False: invalid timespec {}"},
		{"state at.present {name: echo x, timespec: denied}", "False: You do not have permission to use at. {}"},
		{"state at.watch {name: echo w, timespec: noon}", "True:  {}"},
		{"watch at.watch {name: echo w, timespec: noon}", "True: job echo w added and will run on noon {'job': 3, 'date': '2098-12-31', 'time': '23:59:00', 'queue': 'a', 'user': 'root', 'tag': ''}"},
		{"watch at.present {name: echo w, timespec: noon}", "False:  {}"},
		{"call at.atc [1]", "'#!/bin/sh\\ncd /root\\n### SALT: rec\\necho hi'"},
		{"call at.atc [77]", `{'error': "invalid job id '77'"}`},
		{"call at.atc [x]", `{'error': "invalid job id 'x'"}`},
		{"call at.atq [uniq]", "{'jobs': [{'job': 2, 'date': '2098-12-31', 'time': '23:59:00', 'queue': 'a', 'user': 'ann', 'tag': 'uniq'}]}"},
		{"call at.jobcheck {runas: ann, hour: 23, minute: 59, day: 31, month: 12, year: 98}", "{'jobs': [{'job': 2, 'date': '2098-12-31', 'time': '23:59:00', 'queue': 'a', 'user': 'ann', 'tag': 'uniq'}]}"},
		{"call at.jobcheck {runas: ann, hour: 22}", "{'jobs': [], 'note': 'No match jobs or time format error'}"},
		{"call at.jobcheck {runas: ann, hour: 23, minute: 59, day: 31, month: 12, year: 2098}", "{'jobs': [{'job': 2, 'date': '2098-12-31', 'time': '23:59:00', 'queue': 'a', 'user': 'ann', 'tag': 'uniq'}]}"},
		{"call at.jobcheck {}", "{'error': 'You have given a condition'}"},
		{"call at.jobcheck {day: monday}", "error: invalid literal for int() with base 10: 'monday'"},
		{"call at.atrm []", "{'jobs': {'removed': [], 'tag': None}}"},
		{"call at.atrm [99]", "{'jobs': {'removed': [], 'tag': None}}"},
		{"test at.absent {name: x, jobid: 99}", "True: job with id 99 not present {}"},
		{"state at.absent {name: x, jobid: 99}", "True: job with id 99 not present {}"},
		{"test at.absent {name: x, jobid: 3}", "None: removed ? job(s) {}"},
		{"state at.absent {name: x, jobid: 3}", "True: job with id 3 was removed {'removed': ['3']}"},
		{"state at.absent {name: x, limit: 3}", "False: limit parameter not supported x {}"},
		{"state at.absent {name: x, tag: none}", "True: removed 0 job(s) {}"},
		{"state at.absent {name: x, tag: rec}", "True: removed 1 job(s) {'removed': ['1']}"},
		{"call at.atrm [all, uniq]", "{'jobs': {'removed': ['2'], 'tag': 'uniq'}}"},
		{"state at.present {name: a, timespec: noon}", "True: job a added and will run on noon {'job': 4, 'date': '2098-12-31', 'time': '23:59:00', 'queue': 'a', 'user': 'root', 'tag': ''}"},
		{"state at.present {name: b, timespec: noon}", "True: job b added and will run on noon {'job': 5, 'date': '2098-12-31', 'time': '23:59:00', 'queue': 'a', 'user': 'root', 'tag': ''}"},
		{"state at.absent {name: x}", "True: removed 2 job(s) {'removed': ['5', '4']}"},
		{"test at.absent {name: x}", "True: removed 0 job(s) {}"},
	})
}

func FuzzQueue(f *testing.F) {
	f.Add("3\tSun Nov 22 23:59:00 2026 a root\n4\t2026-11-22 23:59 b ann\n\t\nx", "### SALT: a_b c\n### SALT: ")
	f.Fuzz(func(t *testing.T, queue, script string) {
		h := host.NewFake()
		h.PutExe("/usr/bin/at")
		h.OnCommand("at -c *", host.Output{Stdout: []byte(script)})
		h.OnCommand("atq", host.Output{Stdout: []byte(queue)})
		r := rig(h)
		r.Fn(t, "at.atq", "[x]")
		r.Fn(t, "at.jobcheck", "{hour: 3, day: 4}")
	})
}
