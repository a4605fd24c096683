package status_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	statusmod "brine/modules/status"
	"brine/states/status"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/proc/loadavg", "0.50 1.00 2.00 1/100 7\n", 0o444)
	h.PutFile("/proc/meminfo", "MemTotal: 5 kB\n", 0o444)
	h.OnCommand("/bin/sh -c *", host.Output{Stdout: []byte("UID PID CMD\nroot 77 sshd -D\n")})
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "status", Load: statusmod.Module}, fun.Entry{Kind: fun.State, Name: "status", Load: status.States})
	r.Steps(t, []calltest.Step{
		{"state status.loadavg {name: 1-min, maximum: 1, minimum: 0.1}", "True: Load avg in acceptable range {}"},
		{"state status.loadavg {name: 15-min, maximum: 1.5}", "False: Load avg above maximum of 1.5 at 2.0 {}"},
		{"test status.loadavg {name: 5-min, minimum: 3}", "False: Load avg is below minimum of 3 at 1.0 {}"},
		{"state status.loadavg {name: 5-min, minimum: 3, maximum: 2}", "False: Min must be less than max {}"},
		{"state status.loadavg {name: 7-min}", "False: Requested load average 7-min not available  {}"},
		{"state status.process {name: sshd -D}", "True: Process signature \"sshd -D\" was found  {}"},
		{"state status.process {name: none}", "False: Process signature \"none\" not found  {}"},
		{"call status.custom []", "{}"},
	})
	r.Env.Opts.Set("status.loadavg.custom", value.Strings("1-min", "9-min"))
	r.Env.Opts.Set("status.none.custom", value.Strings("x"))
	r.Env.Opts.Set("status.meminfo.custom", value.Strings("MemTotal"))
	r.Steps(t, []calltest.Step{{"call status.custom []", "{'1-min': 0.5, '9-min': 'UNKNOWN', 'MemTotal': {'value': '5', 'unit': 'kB'}}"}})
}
