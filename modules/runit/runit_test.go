package runit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/runit"
)

func machine() *host.Fake {
	h := host.NewFake()
	for _, n := range []string{"sshd", "ntp-a", "cron", "late"} {
		h.PutExe("/etc/sv/" + n + "/run")
	}
	h.PutLink("/etc/sv/ntpd", "/etc/sv/ntp-a")
	h.PutLink("/var/service/sshd", "/etc/sv/sshd")
	h.PutLink("/var/service/cron", "/etc/sv/cron")
	h.PutFile("/etc/sv/cron/down", "", 0o644)
	h.PutDir("/var/service/broken", 0o755)
	h.OnCommand("sv *", host.Output{})
	h.OnCommand("sv status */sshd", host.Output{Stdout: []byte("run: /var/service/sshd: (pid 9) 5s\n")})
	h.OnCommand("sv status */cron", host.Output{Stdout: []byte("down: /var/service/cron: 1s, normally up\n")})
	h.OnCommand("sv status */late", host.Output{Status: 1, Stdout: []byte("fail: /var/service/late: unable to open supervise/ok\n")})
	return h
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ fun, args, want, calls, writes string }{
		{"available", "{name: ntpd}", "True", "", ""},
		{"missing", "{name: none}", "True", "", ""},
		{"get_all", "{}", "['cron', 'late', 'ntp-a', 'ntpd', 'sshd']", "", ""},
		{"get_enabled", "{}", "['cron', 'sshd']", "", ""},
		{"get_disabled", "{}", "['late', 'ntp-a', 'ntpd']", "", ""},
		{"enabled", "{name: sshd}", "True", "", ""},
		{"disabled", "{name: none}", "True", "", ""},
		{"status", "{name: sshd}", "True", "sv status /var/service/sshd", ""},
		{"status", "{name: cron}", "False", "sv status /var/service/cron", ""},
		{"status", "{name: none}", "False", "", ""},
		{"status_autostart", "{name: cron}", "False", "", ""},
		{"start", "{name: sshd}", "True", "sv start /var/service/sshd", ""},
		{"stop", "{name: sshd}", "True", "sv stop /var/service/sshd", ""},
		{"reload", "{name: sshd}", "True", "sv reload /var/service/sshd", ""},
		{"full_restart", "{name: sshd}", "True", "sv restart /var/service/sshd", ""},
		{"restart", "{name: ../x}", "error: '../x' is not the name of a service", "", ""},
		{"get_svc_broken_path", "{}", "['/var/service/broken']", "", ""},
		{"get_svc_avail_path", "{}", "['/etc/sv']", "", ""},
		{"get_svc_alias", "{}", "{'ntp-a': ['/etc/sv/ntpd']}", "", ""},
		{"add_svc_avail_path", "{path: /none}", "False", "", ""},
		{
			"show", "{name: sshd}",
			"{'enabled': True, 'disabled': False, 'running': True, 'service_path': '/etc/sv/sshd', 'autostart': True, 'command_path': '/etc/sv/sshd/run', 'available': True}",
			"sv status /var/service/sshd", "",
		},
		{"show", "{name: none}", "{'enabled': False, 'disabled': True, 'running': False, 'service_path': None, 'autostart': False, 'command_path': None, 'available': False}", "", ""},
		{"enable", "{name: ntpd}", "True", "sv status /var/service/ntpd", "AppendFile /etc/sv/ntpd/down; Symlink /var/service/ntpd; Remove /etc/sv/ntpd/down"},
		{"enable", "{name: ntp-a}", "error: This service is aliased, enable its alias instead", "", ""},
		{"enable", "{name: ntpd, start: true}", "True", "sv status /var/service/ntpd", "Symlink /var/service/ntpd"},
		{"enable", "{name: cron}", "True", "", "Remove /etc/sv/cron/down"},
		{"enable", "{name: none}", "False", "", ""},
		{
			"enable", "{name: late}", "error: runsvdir has not seen /var/service/late", strings.Repeat("sv status /var/service/late; ", 11) + "sv status /var/service/late",
			"AppendFile /etc/sv/late/down; Symlink /var/service/late; Remove /var/service/late; Remove /etc/sv/late/down",
		},
		{"disable", "{name: sshd, stop: true}", "True", "sv stop /var/service/sshd", "AppendFile /etc/sv/sshd/down"},
		{"disable", "{name: none}", "False", "", ""},
		{"remove", "{name: sshd}", "True", "sv stop /var/service/sshd", "Remove /var/service/sshd"},
		{"remove", "{name: ntpd}", "False", "", ""},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			h := machine()
			env := calltest.Env(h, value.MapOf("os", "Void", "init", "runit"), fun.Entry{Kind: fun.Exec, Name: "runit", Virtual: "service", Load: runit.Service})
			if diff := cmp.Diff(tt.want, calltest.Call(t, env, "service."+tt.fun, tt.args)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.calls, calltest.Commands(h)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.writes, strings.Join(h.Writes(), "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutDir("/opt/sv", 0o755)
	h.PutExe("/usr/bin/sv")
	env := calltest.Env(h, value.MapOf("os", "Debian"), fun.Entry{Kind: fun.Exec, Name: "runit", Load: runit.Module})
	got := calltest.Call(t, env, "runit.add_svc_avail_path", "{path: /opt/sv}") + calltest.Call(t, env, "runit.get_svc_avail_path", "{}")
	if got != "True['/opt/sv']" {
		t.Error(got)
	}
	if ok, _ := runit.Service().Avail(env); ok {
		t.Error("the provider of service serves though runit is not the init")
	}
}
