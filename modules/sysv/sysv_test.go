package sysv_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/sysv"
)

func debian(insserv bool) *host.Fake {
	h := host.NewFake()
	h.PutExe("/etc/init.d/ssh")
	h.PutExe("/etc/init.d/apache2")
	h.PutExe("/etc/init.d/cron")
	h.PutFile("/etc/init.d/README", "", 0o644)
	h.PutLink("/etc/rc2.d/S01cron", "../init.d/cron")
	h.PutLink("/etc/rc2.d/S20apache2", "../init.d/apache2")
	h.PutLink("/etc/rc2.d/K01ssh", "../init.d/ssh")
	h.PutLink("/etc/rcS.d/S05procps", "../init.d/procps")
	if insserv {
		h.PutExe("/sbin/insserv")
	}
	h.OnCommand("runlevel", host.Output{Stdout: []byte("unknown\n")})
	h.OnCommand("service *", host.Output{})
	h.OnCommand("service ssh status", host.Output{Status: 3})
	h.OnCommand("update-rc.d *", host.Output{})
	h.OnCommand("insserv *", host.Output{})
	h.OnCommand("insserv bad", host.Output{Status: 1})
	return h
}

func TestDebian(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ fun, args, want, calls string }{
		{"available", "{name: ssh}", "True", "runlevel"},
		{"missing", "{name: ssh}", "False", "runlevel"},
		{"get_all", "{}", "['apache2', 'cron', 'procps', 'ssh']", "runlevel"},
		{"get_enabled", "{}", "['apache2', 'cron', 'procps']", "runlevel"},
		{"get_disabled", "{}", "['ssh']", "runlevel"},
		{"enabled", "{name: apache2}", "True", "runlevel"},
		{"enabled", "{name: ssh}", "False", "runlevel"},
		{"disabled", "{name: ssh}", "True", "runlevel"},
		{"disabled", "{name: none}", "False", "runlevel"},
		{"start", "{name: ssh}", "True", "service ssh start"},
		{"stop", "{name: ssh}", "True", "service ssh stop"},
		{"restart", "{name: ssh}", "True", "service ssh restart"},
		{"reload", "{name: ssh}", "True", "service ssh reload"},
		{"force_reload", "{name: ssh}", "True", "service ssh force-reload"},
		{"start", "{name: ../ssh}", "error: '../ssh' is not the name of a service", ""},
		{"status", "{name: ssh}", "False", "service ssh status"},
		{"status", "{name: '*s*'}", "{'procps': True, 'ssh': False}", "runlevel; service procps status; service ssh status"},
		{"enable", "{name: ssh}", "True", "insserv ssh; update-rc.d ssh enable"},
		{"enable", "{name: bad}", "False", "insserv bad"},
		{"disable", "{name: ssh}", "True", "update-rc.d ssh disable"},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			h := debian(true)
			env := calltest.Env(h, value.MapOf("os", "Devuan"), fun.Entry{Kind: fun.Exec, Name: "debian_service", Virtual: "service", Load: sysv.Debian})
			if diff := cmp.Diff(tt.want, calltest.Call(t, env, "service."+tt.fun, tt.args)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.calls, calltest.Commands(h)); diff != "" {
				t.Error(diff)
			}
		})
	}
	h := debian(false)
	env := calltest.Env(h, value.MapOf("os", "Debian"), fun.Entry{Kind: fun.Exec, Name: "debian_service", Virtual: "service", Load: sysv.Debian})
	if got := calltest.Call(t, env, "service.enable", "{name: ssh}") + " " + calltest.Commands(h); got != "True update-rc.d ssh defaults; update-rc.d ssh enable" {
		t.Error(got)
	}
}

// What chkconfig --list prints on CentOS 6 with xinetd.
const levels = `auditd         	0:off	1:off	2:on	3:on	4:on	5:on	6:off
sshd           	0:off	1:off	2:on	3:on	4:on	5:on	6:off
smartd         	0:off	1:off	2:off	3:off	4:off	5:off	6:off
gone           	0:off	1:off	2:on	3:on	4:on	5:on	6:off

xinetd based services:
	rsync:         	on
	tftp:          	off
`

func redhat() *host.Fake {
	h := host.NewFake()
	for _, n := range []string{"auditd", "sshd", "smartd", "links"} {
		h.PutExe("/etc/init.d/" + n)
	}
	h.PutLink("/etc/rc.d/rc3.d/S90links", "../init.d/links")
	h.PutExe("/sbin/initctl")
	h.PutFile("/etc/init/tty.conf", "start on runlevel 3\n", 0o644)
	h.PutFile("/etc/init/held.conf", "start on runlevel 3\n", 0o644)
	h.PutFile("/etc/init/held.override", "manual\n", 0o644)
	h.OnCommand("runlevel", host.Output{Stdout: []byte("N 3\n")})
	h.OnCommand("/sbin/service *", host.Output{})
	h.OnCommand("/sbin/service smartd status", host.Output{Status: 3})
	h.OnCommand("/sbin/chkconfig *", host.Output{})
	h.OnCommand("/sbin/chkconfig --add bad", host.Output{Status: 1})
	h.OnCommand("/sbin/chkconfig --list", host.Output{Stdout: []byte(levels)})
	h.OnCommand("start *", host.Output{})
	h.OnCommand("status tty", host.Output{Stdout: []byte("tty start/running, process 9\n")})
	h.OnCommand("status held", host.Output{Stdout: []byte("held stop/waiting\n")})
	return h
}

func TestRedHat(t *testing.T) {
	t.Parallel()
	const list = "/sbin/chkconfig --list"
	for _, tt := range []struct{ fun, args, want, calls string }{
		{"available", "{name: sshd}", "True", ""},
		{"available", "{name: rsync}", "True", list},
		{"available", "{name: sshd, limit: upstart}", "False", ""},
		{"available", "{name: tty, limit: sysvinit}", "False", ""},
		{"missing", "{name: none}", "True", list},
		{"missing", "{name: tty}", "False", ""},
		{"get_all", "{}", "['auditd', 'held', 'smartd', 'sshd', 'tty']", list},
		{"get_all", "{limit: upstart}", "['held', 'tty']", ""},
		{"get_enabled", "{}", "['auditd', 'sshd', 'tty']", list + "; runlevel"},
		{"get_enabled", "{limit: sysvinit}", "['auditd', 'sshd']", list + "; runlevel"},
		{"get_disabled", "{}", "['held', 'smartd']", list + "; runlevel"},
		{"enabled", "{name: sshd}", "True", list + "; runlevel"},
		{"enabled", "{name: rsync}", "True", list + "; runlevel"},
		{"enabled", "{name: links}", "True", list + "; runlevel"},
		{"enabled", "{name: tty}", "True", ""},
		{"disabled", "{name: held}", "True", ""},
		{"disabled", "{name: smartd}", "True", list + "; runlevel"},
		{"start", "{name: sshd}", "True", "/sbin/service sshd start"},
		{"start", "{name: tty}", "True", "start tty"},
		{"stop", "{name: sshd}", "True", "/sbin/service sshd stop"},
		{"restart", "{name: sshd}", "True", "/sbin/service sshd restart"},
		{"reload", "{name: sshd}", "True", "/sbin/service sshd reload"},
		{"status", "{name: smartd}", "False", "/sbin/service smartd status"},
		{"status", "{name: tty}", "True", "status tty"},
		{"status", "{name: '*d'}", "{'auditd': True, 'held': False, 'smartd': False, 'sshd': True}", list + "; /sbin/service auditd status; status held; /sbin/service smartd status; /sbin/service sshd status"},
		{"enable", "{name: smartd}", "True", list + "; /sbin/chkconfig smartd on"},
		{"enable", "{name: links}", "True", list + "; /sbin/chkconfig --add links; /sbin/chkconfig links on"},
		{"enable", "{name: bad}", "False", list + "; /sbin/chkconfig --add bad"},
		{"enable", "{name: held}", "True", ""},
		{"disable", "{name: tty}", "True", ""},
		{"disable", "{name: sshd}", "True", list + "; /sbin/chkconfig sshd off"},
		{"delete", "{name: sshd}", "True", list + "; /sbin/chkconfig --del sshd"},
		{"delete", "{name: none}", "False", list},
		{"delete", "{name: tty}", "True", ""},
		{"enable", "{name: -x}", "error: '-x' is not the name of a service", ""},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			h := redhat()
			env := calltest.Env(h, value.MapOf("os", "CentOS", "osrelease", "6.10"), fun.Entry{Kind: fun.Exec, Name: "rh_service", Virtual: "service", Load: sysv.RedHat})
			if diff := cmp.Diff(tt.want, calltest.Call(t, env, "service."+tt.fun, tt.args)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.calls, calltest.Commands(h)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAvailable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		os, release    string
		debian, redhat bool
	}{
		{"Debian", "7", true, false},
		{"CentOS", "6.10", false, true},
		{"CentOS", "7.2", false, false},
		{"Fedora", "14", false, true},
		{"Fedora", "40", false, false},
		{"SUSE", "11.4", false, true},
		{"SUSE", "12", false, false},
		{"Amazon", "2018.03", false, true},
		{"Arch", "", false, false},
	} {
		env := calltest.Env(host.NewFake(), value.MapOf("os", tt.os, "osrelease", tt.release))
		if ok, why := sysv.Debian().Avail(env); ok != tt.debian || ok != (why == "") {
			t.Errorf("Debian on %s %s: %v %q", tt.os, tt.release, ok, why)
		}
		if ok, why := sysv.RedHat().Avail(env); ok != tt.redhat || ok != (why == "") {
			t.Errorf("RedHat on %s %s: %v %q", tt.os, tt.release, ok, why)
		}
	}
}

func FuzzLevels(f *testing.F) {
	f.Add(levels)
	f.Fuzz(func(_ *testing.T, text string) { sysv.Parse(text) })
}
